using System.Collections.Concurrent;
using Cairn.Redis.StackExchange.Multiplexing;
using StackExchange.Redis;

namespace Cairn.Redis.Tests.Servers;

/// <summary>The kinds of servers that the caches of a test share, and of connections to them.</summary>
public enum ServerKind
{
    /// <summary>A stock server over RESP3. The connection that sends changes also receives invalidations.</summary>
    Redis,

    /// <summary>A stock server over RESP2. A second connection receives invalidations.</summary>
    Redis2,

    /// <summary>A stock server over RESP3 that does not track keys. Caches publish their changes.</summary>
    RedisPublishing,

    /// <summary>A stock server over RESP2 that does not track keys. Caches publish their changes.</summary>
    Redis2Publishing,

    /// <summary>Cairn's own server.</summary>
    Cairn,

    /// <summary>A stock server over a multiplexer of StackExchange.Redis with RESP3. Caches publish their changes.</summary>
    Multiplexer,

    /// <summary>A stock server over a multiplexer with RESP2. Caches publish their changes.</summary>
    Multiplexer2,

    /// <summary>Cairn's own server over a multiplexer. Caches publish their changes.</summary>
    CairnMultiplexer,
}

/// <summary>A running server of one kind.</summary>
internal sealed class SharedServer : IAsyncDisposable
{
    private readonly ServedStore? _store;
    private readonly ConcurrentBag<IConnectionMultiplexer> _multiplexers = [];

    private SharedServer(ServerKind kind, RedisServer? redis, ServedStore? store)
    {
        Kind = kind;
        Redis = redis;
        _store = store;
    }

    public ServerKind Kind { get; }

    public RedisServer? Redis { get; }

    public string Address => Redis?.Address ?? _store!.Resp;

    public static async Task<SharedServer> StartAsync(ServerKind kind) => kind is ServerKind.Cairn or ServerKind.CairnMultiplexer
        ? new SharedServer(kind, null, await ServedStore.StartAsync())
        : new SharedServer(kind, RedisServer.Start(), null);

    /// <summary>Creates the options of one cache. A cache over a multiplexer gets its own, which ends with the server.</summary>
    public CairnRedisOptions Options(string instanceName = "shop:", string settings = "")
    {
        CairnRedisOptions options = OptionsOf(Kind, Address + RedisServer.Patience, instanceName, settings);
        if (IsMultiplexer(Kind))
        {
            options.OtherAccess = () => new MultiplexerAccess(async () =>
            {
                IConnectionMultiplexer multiplexer = await ConnectAsync(Kind, Address + RedisServer.Patience, settings);
                _multiplexers.Add(multiplexer);
                return multiplexer;
            });
        }

        return options;
    }

    public static CairnRedisOptions OptionsOf(ServerKind kind, string configuration, string instanceName, string settings = "") => IsMultiplexer(kind)
        ? new() { InstanceName = instanceName, OtherAccess = () => new MultiplexerAccess(() => ConnectAsync(kind, configuration, settings)) }
        : new()
        {
            Configuration = configuration + settings + (kind is ServerKind.Redis2 or ServerKind.Redis2Publishing ? ",protocol=resp2" : ""),
            InstanceName = instanceName,
            Invalidation = kind is ServerKind.RedisPublishing or ServerKind.Redis2Publishing
                ? RedisInvalidationMode.PublishSubscribe
                : RedisInvalidationMode.Automatic,
        };

    public static bool IsMultiplexer(ServerKind kind) => kind is ServerKind.Multiplexer or ServerKind.Multiplexer2 or ServerKind.CairnMultiplexer;

    public async ValueTask DisposeAsync()
    {
        foreach (IConnectionMultiplexer multiplexer in _multiplexers)
        {
            await multiplexer.DisposeAsync();
        }

        Redis?.Dispose();
        if (_store is not null)
        {
            await _store.DisposeAsync();
        }
    }

    private static async Task<IConnectionMultiplexer> ConnectAsync(ServerKind kind, string configuration, string settings) =>
        await TestMultiplexer.ConnectAsync(
            configuration + settings + (kind == ServerKind.Multiplexer2 ? ",protocol=resp2" : ",protocol=resp3"));
}
