using System.Net;
using Cairn.Server.Connections;
using Cairn.Server.Listening;
using Cairn.Server.Memcached;
using Cairn.Server.Resp;

namespace Cairn.Server.Tests.Testing;

/// <summary>An engine that serves a store of its own through both protocols, on a port each.</summary>
internal sealed class StoreServer : IAsyncDisposable
{
    private readonly StoreDirectory _directory = new();
    private readonly CairnStore _store;
    private readonly MemcachedSessions _memcached;

    private StoreServer()
    {
        _store = CairnStore.Open(new StoreOptions { Path = _directory.FilePath, CapacityBytes = 64 << 20, FlushOnClose = false });
        _memcached = new MemcachedSessions(_store, new MemcachedOptions());
    }

    public ServerEngine Engine { get; private set; } = null!; // Set by StartAsync.

    public static async Task<StoreServer> StartAsync(LoopUnderTest loop, Func<EngineOptions, EngineOptions>? configure = null)
    {
        var server = new StoreServer();
        var options = new EngineOptions
        {
            Listeners =
            [
                Listener(WireProtocol.Memcached, server._memcached),
                Listener(WireProtocol.Resp, new RespSessionFactory(new RespServer(server._store))),
            ],
            Workers = 1,
        };
        server.Engine = await ServerEngine.StartAsync((configure?.Invoke(options) ?? options).With(loop));
        return server;
    }

    public IPEndPoint EndPoint(WireProtocol protocol) =>
        Engine.Listeners.Single(listener => listener.Name == protocol.ToString()).EndPoint!;

    public TestClient Connect(WireProtocol protocol, int? receiveBufferBytes = null) =>
        TestClient.Connect(EndPoint(protocol), receiveBufferBytes);

    public async ValueTask DisposeAsync()
    {
        await Engine.DisposeAsync();
        _memcached.Dispose();
        _store.Dispose();
        _directory.Dispose();
    }

    private static ListenerOptions Listener(WireProtocol protocol, SessionFactory sessions) => new()
    {
        Name = protocol.ToString(),
        Address = ListenAddress.Tcp("127.0.0.1", 0),
        Sessions = sessions,
    };
}

/// <summary>What a client speaks.</summary>
public enum WireProtocol
{
    Memcached,
    Resp,
}
