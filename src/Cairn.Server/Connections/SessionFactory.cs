namespace Cairn.Server.Connections;

/// <summary>Makes the sessions of a listener.</summary>
internal abstract class SessionFactory
{
    /// <summary>What a client is told when there are too many connections, before it is closed; empty for nothing.</summary>
    public virtual ReadOnlyMemory<byte> TooManyConnections => default;

    /// <summary>What the sessions understand.</summary>
    public virtual SpokenProtocols Spoken => SpokenProtocols.Unknown;

    /// <summary>Makes the session of a new connection, on the connection's worker.</summary>
    public abstract Session Create(ClientConnection connection);
}
