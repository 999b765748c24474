using Microsoft.Extensions.Logging;

namespace Cairn.Dashboard;

/// <summary>Options of the dashboard of a store file.</summary>
public sealed record StoreDashboardOptions
{
    /// <summary>The port on 127.0.0.1, 0 to 65,535. Default 0, which selects a free port.</summary>
    public int Port { get; init; }

    /// <summary>True if users cannot delete entries. Default false.</summary>
    public bool IsReadOnly { get; init; }

    /// <summary>Receives an error when a page fails. It must not block. Default null, which logs nothing.</summary>
    public ILogger? Logger { get; init; }

    /// <summary>Source of time. Default <see cref="TimeProvider.System"/>.</summary>
    public TimeProvider TimeProvider { get; init; } = TimeProvider.System;
}
