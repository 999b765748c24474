namespace Cairn.Server.Connections;

/// <summary>Creates the sessions of a listener.</summary>
internal abstract class SessionFactory
{
    /// <summary>Gets the reply to a client that is refused because there are too many connections; empty for none.</summary>
    public virtual ReadOnlyMemory<byte> TooManyConnections => default;

    /// <summary>Gets the protocols that the sessions speak.</summary>
    public virtual SpokenProtocols Spoken => SpokenProtocols.Unknown;

    /// <summary>Creates the session of a new connection. Called on the connection's worker.</summary>
    public abstract Session Create(ClientConnection connection);
}
