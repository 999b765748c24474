using System.Net;
using Cairn.Server.Connections;
using Cairn.Server.Listening;
using Cairn.Server.Resp;

namespace Cairn.Server.Tests.Resp;

/// <summary>A store that is served over sockets.</summary>
internal sealed class RespSocketServer : IAsyncDisposable
{
    private readonly StoreDirectory _directory = new();
    private readonly CairnStore _store;
    private readonly RespServer _server;
    private ServerEngine? _engine;

    private RespSocketServer(long capacityBytes)
    {
        _store = CairnStore.Open(new StoreOptions { Path = _directory.FilePath, CapacityBytes = capacityBytes, FlushOnClose = false });
        _server = new RespServer(_store);
    }

    public IPEndPoint EndPoint => _engine!.Listeners[0].EndPoint!;

    public static async Task<RespSocketServer> StartAsync(
        Action<RespServer>? configure = null, long capacityBytes = 64 << 20)
    {
        var server = new RespSocketServer(capacityBytes);
        configure?.Invoke(server._server);
        server._engine = await ServerEngine.StartAsync(new EngineOptions
        {
            Listeners =
            [
                new ListenerOptions
                {
                    Name = "resp",
                    Address = ListenAddress.Tcp("127.0.0.1", 0),
                    Sessions = new RespSessionFactory(server._server),
                },
            ],
            Workers = 1,
        });
        return server;
    }

    public async ValueTask DisposeAsync()
    {
        if (_engine is not null)
        {
            await _engine.DisposeAsync();
        }

        _server.Dispose();
        _store.Dispose();
        _directory.Dispose();
    }
}
