using Cairn.Server.Listening;

namespace Cairn.Server.Io;

/// <summary>The events that a loop reports to its worker, on the worker's thread, during <see cref="IoLoop.Collect"/> and
/// <see cref="IoChannel.Send"/>.</summary>
internal unsafe interface IIoWorker
{
    /// <summary>Called after the loop has waited, before it reports events.</summary>
    void OnAwake();

    /// <summary>Bytes arrived. They are valid until the turn ends.</summary>
    void OnReceived(IIoConnection connection, byte* bytes, int count);

    /// <summary>The client has ended its side of the connection.</summary>
    void OnInputEnded(IIoConnection connection);

    /// <summary>The connection is broken.</summary>
    void OnReset(IIoConnection connection);

    /// <summary>Waiting output was sent, partly or completely.</summary>
    void OnSent(IIoConnection connection);

    /// <summary>The kernel has released the connection's memory.</summary>
    void OnChannelClosed(IIoConnection connection);

    /// <summary>The loop accepted a client.</summary>
    void OnAccepted(Listener listener, AcceptedSocket socket);

    /// <summary>The loop cannot accept clients for a while, because descriptors or memory ran out.</summary>
    void OnAcceptFailed(Listener listener, string reason);
}
