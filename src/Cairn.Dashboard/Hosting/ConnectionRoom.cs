using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http;

namespace Cairn.Dashboard.Hosting;

/// <summary>
/// The connections of a web server. If there is no room for another one, the connection whose last request began first is closed. So clients that send
/// nothing, or send slowly, cannot keep out a health check. Every request of the dashboard is short.
/// </summary>
internal sealed class ConnectionRoom(int maxConnections)
{
    private readonly Lock _lock = new();
    private readonly LinkedList<ConnectionContext> _byUse = new();

    /// <summary>Serves a connection, and closes another one if there is no room.</summary>
    public async Task ServeAsync(ConnectionContext connection, ConnectionDelegate next)
    {
        var node = new LinkedListNode<ConnectionContext>(connection);
        connection.Features.Set(node);
        Admit(node)?.Abort(new ConnectionAbortedException("Another client needed the connection."));
        try
        {
            await next(connection).ConfigureAwait(false);
        }
        finally
        {
            lock (_lock)
            {
                node.List?.Remove(node);
            }
        }
    }

    /// <summary>Notes that a connection has begun a request.</summary>
    public void Use(HttpContext context)
    {
        lock (_lock)
        {
            if (context.Features.Get<LinkedListNode<ConnectionContext>>() is { List: not null } node)
            {
                _byUse.Remove(node);
                _byUse.AddLast(node);
            }
        }
    }

    private ConnectionContext? Admit(LinkedListNode<ConnectionContext> node)
    {
        lock (_lock)
        {
            ConnectionContext? leaving = _byUse.Count < maxConnections ? null : _byUse.First!.Value;
            if (leaving is not null)
            {
                _byUse.RemoveFirst();
            }

            _byUse.AddLast(node);
            return leaving;
        }
    }
}
