namespace Cairn.Dashboard;

/// <summary>How the dashboard of a store file is shown.</summary>
public sealed record StoreDashboardOptions
{
    /// <summary>The port on 127.0.0.1, 0 to 65,535. Default 0: one that is free.</summary>
    public int Port { get; init; }

    /// <summary>Whether nothing can be deleted. Default false.</summary>
    public bool IsReadOnly { get; init; }

    /// <summary>Told what went wrong while a page was shown; must not block. Default: nobody.</summary>
    public Action<string>? LogError { get; init; }

    /// <summary>Source of time. Default <see cref="TimeProvider.System"/>.</summary>
    public TimeProvider Clock { get; init; } = TimeProvider.System;
}
