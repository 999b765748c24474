namespace Cairn.Redis;

/// <summary>How the connection to a server is.</summary>
public sealed record RedisServerHealth
{
    /// <summary>Its host and port.</summary>
    public required string Server { get; init; }

    /// <summary>True if there is a connection.</summary>
    public required bool IsConnected { get; init; }

    /// <summary>Calls that wait for a reply.</summary>
    public required int PendingCalls { get; init; }

    /// <summary>How often a connection was made.</summary>
    public required int Connections { get; init; }

    /// <summary>The version of the protocol, 2 or 3; 0 before the first connection.</summary>
    public required int ProtocolVersion { get; init; }

    /// <summary>Why there is no connection; null if there is one, or none was needed yet.</summary>
    public string? LastFailure { get; init; }
}
