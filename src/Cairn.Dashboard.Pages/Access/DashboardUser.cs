namespace Cairn.Dashboard.Pages.Access;

/// <summary>A user of a dashboard with the user's rights.</summary>
internal sealed record DashboardUser
{
    /// <summary>The name of the login; null for a user who did not need one.</summary>
    public string? Name { get; init; }

    /// <summary>The prefix of all keys that the user may see.</summary>
    public byte[] KeyPrefix { get; init; } = [];

    /// <summary>True if the user may change entries.</summary>
    public bool MayChange { get; init; }

    /// <summary>True if the user may see the activity of others: connections, slow requests, the most frequent keys.</summary>
    public bool SeesOthers { get; init; }

    /// <summary>Returns whether the user may see this key.</summary>
    public bool MaySee(ReadOnlySpan<byte> key) => key.StartsWith(KeyPrefix);
}
