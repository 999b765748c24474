namespace Cairn.Dashboard.Pages.Access;

/// <summary>Somebody who looks at a dashboard, and what they may see and do.</summary>
internal sealed record DashboardUser
{
    /// <summary>As they logged in; null for somebody who did not have to.</summary>
    public string? Name { get; init; }

    /// <summary>What all keys begin with that they may see.</summary>
    public byte[] KeyPrefix { get; init; } = [];

    /// <summary>Whether they may change something.</summary>
    public bool MayChange { get; init; }

    /// <summary>Whether they may see what others do: connections, slow requests, the keys asked for most.</summary>
    public bool SeesOthers { get; init; }

    /// <summary>Whether they may see this key.</summary>
    public bool MaySee(ReadOnlySpan<byte> key) => key.StartsWith(KeyPrefix);
}
