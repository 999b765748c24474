using System.Net.Sockets;
using Cairn.Server.Listening;

namespace Cairn.Server.Io.Sockets;

/// <summary>Accepts the clients of a listener, one after the other.</summary>
internal sealed class SocketsAcceptor : IDisposable
{
    private readonly SocketAsyncEventArgs _accept = new(true);

    public SocketsAcceptor(SocketsLoop loop, Listener listener)
    {
        Listener = listener;
        _accept.Completed += (_, _) => loop.Add(SocketsLoop.EventKind.Accepted, channel: null, this);
    }

    public Listener Listener { get; }

    /// <summary>Starts to accept.</summary>
    /// <returns>Whether a client was waiting. If not, the acceptor reports the next client to the loop.</returns>
    public bool TryStart()
    {
        try
        {
            return !Listener.Socket.AcceptAsync(_accept);
        }
        catch (ObjectDisposedException)
        {
            return false; // The server is stopping.
        }
    }

    public SocketError Take(out Socket? socket)
    {
        socket = _accept.AcceptSocket;
        _accept.AcceptSocket = null;
        return _accept.SocketError;
    }

    public void Dispose() => _accept.Dispose();
}
