namespace Cairn.Redis;

/// <summary>The state of the connection to one server.</summary>
public sealed record RedisServerHealth
{
    /// <summary>Gets the server's host and port.</summary>
    public required string Server { get; init; }

    /// <summary>Gets whether there is a connection.</summary>
    public required bool IsConnected { get; init; }

    /// <summary>Gets the number of calls that wait for a reply.</summary>
    public required int PendingCalls { get; init; }

    /// <summary>Gets the number of connections that were established to this server.</summary>
    public required int Connections { get; init; }

    /// <summary>Gets the version of the protocol, 2 or 3; 0 before the first connection.</summary>
    public required int ProtocolVersion { get; init; }

    /// <summary>Gets the reason why there is no connection; null if there is one, or if none has been needed yet.</summary>
    public string? LastFailure { get; init; }
}
