namespace Cairn.Redis;

/// <summary>The state of a client's connections.</summary>
public sealed record RedisHealth
{
    /// <summary>Gets whether there is a connection to every required server.</summary>
    public bool IsConnected => Servers.Count > 0 && Servers.All(server => server.IsConnected);

    /// <summary>Gets the server, or the masters of a Cluster.</summary>
    public required IReadOnlyList<RedisServerHealth> Servers { get; init; }
}
