using System.Net;
using Cairn.Server.Connections;
using Cairn.Server.Listening;
using Cairn.Server.Memcached;
using Cairn.Server.Pinning;
using Cairn.Server.Resp;
using Cairn.Server.Resp.Commands;

namespace Cairn.Server.Tests.Testing;

/// <summary>An engine that serves its own store through both protocols, on one port each.</summary>
internal sealed class StoreServer : IAsyncDisposable
{
    private readonly StoreDirectory _directory = new();
    private readonly CairnStore _store;
    private readonly MemcachedOptions _memcachedOptions;
    private readonly MemcachedSessions _memcached;

    private readonly RespServer _resp;

    private StoreServer(long capacityBytes, bool removesExpired, MemcachedOptions memcached, string[] pinned)
    {
        _store = CairnStore.Open(new StoreOptions { Path = _directory.FilePath, CapacityBytes = capacityBytes, FlushOnClose = false, RemovesExpired = removesExpired });
        _resp = new RespServer(_store, RespCommands.Table, pinned: PinnedKeys.Open(_store, pinned, limitBytes: 0));
        _memcachedOptions = memcached with { Events = _resp.Events, Pinned = _resp.Pinned };
        _memcached = new MemcachedSessions(_store, _memcachedOptions);
    }

    public CairnStore Store => _store;

    public RespServer Resp => _resp;

    public ServerEngine Engine { get; private set; } = null!; // Set by StartAsync.

    /// <param name="loop">The event loop; <see langword="null"/> for the default.</param>
    /// <param name="configure">Changes the options of the engine.</param>
    /// <param name="configureResp">Changes the RESP sessions.</param>
    /// <param name="capacityBytes">The capacity of the store in bytes.</param>
    /// <param name="removesExpired">Whether the store removes expired entries in the background.</param>
    /// <param name="memcached">The options of memcached's protocols.</param>
    /// <param name="pinned">The prefixes of pinned keys.</param>
    public static async Task<StoreServer> StartAsync(
        LoopUnderTest? loop = null,
        Func<ServerEngineOptions, ServerEngineOptions>? configure = null,
        Action<RespServer>? configureResp = null,
        long capacityBytes = 64 << 20,
        bool removesExpired = true,
        MemcachedOptions? memcached = null,
        string[]? pinned = null)
    {
        var server = new StoreServer(capacityBytes, removesExpired, memcached ?? new MemcachedOptions(), pinned ?? []);
        configureResp?.Invoke(server._resp);
        var options = new ServerEngineOptions
        {
            Listeners =
            [
                Listener(WireProtocol.Memcached, server._memcached),
                Listener(WireProtocol.Resp, new RespSessionFactory(server._resp)),
            ],
            Workers = 1,
        };
        options = configure?.Invoke(options) ?? options;
        server.Engine = await ServerEngine.StartAsync(loop is { } chosen ? options.With(chosen) : options);
        server._memcachedOptions.Server.Engine = server.Engine;
        return server;
    }

    public IPEndPoint EndPoint(WireProtocol protocol) =>
        Engine.Listeners.Single(listener => listener.Name == (protocol == WireProtocol.Resp ? "Resp" : "Memcached")).EndPoint!;

    public TestClient Connect(WireProtocol protocol, int? receiveBufferBytes = null) =>
        TestClient.Connect(EndPoint(protocol), receiveBufferBytes);

    public async ValueTask DisposeAsync()
    {
        await Engine.DisposeAsync();
        Engine.AssertNothingHeld();
        _resp.Dispose();
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

/// <summary>The protocol of a client.</summary>
public enum WireProtocol
{
    Memcached,

    /// <summary>Memcached's binary protocol, on the port of the text protocol.</summary>
    Binary,
    Resp,
}
