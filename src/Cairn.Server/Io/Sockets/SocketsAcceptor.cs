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
    /// <returns>Whether somebody was waiting; if not, the loop is told when somebody comes.</returns>
    public bool TryStart()
    {
        try
        {
            return !Listener.Socket.AcceptAsync(_accept);
        }
        catch (ObjectDisposedException)
        {
            return false; // It stops.
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
