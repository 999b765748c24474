using System.Net;
using System.Net.Sockets;
using System.Threading.Channels;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.Dashboard.Hosting;

/// <summary>A transport of the web server for clients that other code has accepted.</summary>
internal sealed class HandedSockets : IConnectionListenerFactory, IConnectionListenerFactorySelector, IConnectionListener
{
    private readonly Channel<Socket> _sockets = Channel.CreateUnbounded<Socket>(new UnboundedChannelOptions { SingleReader = true });
    private readonly SocketConnectionContextFactory _contexts = new(new SocketConnectionFactoryOptions(), NullLogger.Instance);

    /// <summary>Gets the endpoint to listen on.</summary>
    public static EndPoint Place { get; } = new HandedEndPoint();

    EndPoint IConnectionListener.EndPoint => Place;

    /// <summary>Passes a client to the web server.</summary>
    public void Add(Socket socket)
    {
        if (!_sockets.Writer.TryWrite(socket))
        {
            socket.Dispose();
        }
    }

    /// <summary>Ends the listener and closes the clients that wait.</summary>
    public void End()
    {
        _sockets.Writer.TryComplete();
        while (_sockets.Reader.TryRead(out Socket? socket))
        {
            socket.Dispose();
        }
    }

    public bool CanBind(EndPoint endpoint) => endpoint is HandedEndPoint;

    public ValueTask<IConnectionListener> BindAsync(EndPoint endpoint, CancellationToken cancellationToken = default) => new(this);

    public async ValueTask<ConnectionContext?> AcceptAsync(CancellationToken cancellationToken = default)
    {
        while (await _sockets.Reader.WaitToReadAsync(cancellationToken).ConfigureAwait(false))
        {
            if (_sockets.Reader.TryRead(out Socket? socket))
            {
                return _contexts.Create(socket);
            }
        }

        return null;
    }

    public ValueTask UnbindAsync(CancellationToken cancellationToken = default)
    {
        End();
        return default;
    }

    public ValueTask DisposeAsync()
    {
        End();
        _contexts.Dispose();
        return default;
    }

    private sealed class HandedEndPoint : EndPoint
    {
        public override AddressFamily AddressFamily => AddressFamily.Unspecified;

        public override string ToString() => "connections handed over";
    }
}
