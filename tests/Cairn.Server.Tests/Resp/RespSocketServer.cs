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
    private ServerEngine? _engine;

    private RespSocketServer() =>
        _store = CairnStore.Open(new StoreOptions { Path = _directory.FilePath, CapacityBytes = 64 << 20, FlushOnClose = false });

    public IPEndPoint EndPoint => _engine!.Listeners[0].EndPoint!;

    public static async Task<RespSocketServer> StartAsync()
    {
        var server = new RespSocketServer();
        server._engine = await ServerEngine.StartAsync(new EngineOptions
        {
            Listeners =
            [
                new ListenerOptions
                {
                    Name = "resp",
                    Address = ListenAddress.Tcp("127.0.0.1", 0),
                    Sessions = new RespSessionFactory(new RespServer(server._store)),
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

        _store.Dispose();
        _directory.Dispose();
    }
}
