namespace Cairn.Redis;

/// <summary>How a client and its servers are.</summary>
public sealed record RedisHealth
{
    /// <summary>True if there is a connection to every server that is needed.</summary>
    public bool IsConnected => Servers.Count > 0 && Servers.All(server => server.IsConnected);

    /// <summary>The server; of a Cluster, its masters.</summary>
    public required IReadOnlyList<RedisServerHealth> Servers { get; init; }
}
