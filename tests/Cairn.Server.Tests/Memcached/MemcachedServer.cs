using System.Net;
using Cairn.Server.Connections;
using Cairn.Server.Listening;
using Cairn.Server.Memcached;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Memcached;

/// <summary>A server of a store of its own on a port of its own.</summary>
internal sealed class MemcachedServer : IAsyncDisposable
{
    private readonly StoreDirectory _directory;
    private readonly CairnStore _store;
    private readonly MemcachedSessions _sessions;
    private readonly ServerEngine _engine;

    private MemcachedServer(StoreDirectory directory, CairnStore store, MemcachedSessions sessions, ServerEngine engine)
    {
        _directory = directory;
        _store = store;
        _sessions = sessions;
        _engine = engine;
    }

    public IPEndPoint EndPoint => _engine.Listeners[0].EndPoint!;

    /// <param name="loop">The way to the kernel; null for the one that is chosen where nothing is asked for.</param>
    public static async Task<MemcachedServer> StartAsync(LoopUnderTest? loop = null)
    {
        var directory = new StoreDirectory();
        CairnStore store = CairnStore.Open(directory.Options with { CapacityBytes = 64 << 20 });
        var options = new MemcachedOptions();
        var sessions = new MemcachedSessions(store, options);
        var engineOptions = new EngineOptions
        {
            Listeners = [new ListenerOptions { Name = "memcached", Address = ListenAddress.Tcp("127.0.0.1", 0), Sessions = sessions }],
            Workers = 1,
        };
        ServerEngine engine = await ServerEngine.StartAsync(loop is { } chosen ? engineOptions.With(chosen) : engineOptions);
        options.Surroundings.Engine = engine;
        return new MemcachedServer(directory, store, sessions, engine);
    }

    public async ValueTask DisposeAsync()
    {
        await _engine.DisposeAsync();
        _sessions.Dispose();
        _store.Dispose();
        _directory.Dispose();
    }
}
