namespace Cairn.Redis.Tests.Servers;

/// <summary>What the caches of a test share, and how they are connected to it.</summary>
public enum ServerKind
{
    /// <summary>A stock server over RESP3: the connection that makes changes receives invalidations.</summary>
    Redis,

    /// <summary>A stock server over RESP2: a second connection is.</summary>
    Redis2,

    /// <summary>A stock server that is not asked to track keys: changes are published.</summary>
    RedisPublishing,

    /// <summary>The same over RESP2.</summary>
    Redis2Publishing,

    /// <summary>Cairn's own server.</summary>
    Cairn,
}

/// <summary>A server of a kind.</summary>
internal sealed class SharedServer : IAsyncDisposable
{
    private readonly ServedStore? _store;

    private SharedServer(ServerKind kind, RedisServer? redis, ServedStore? store)
    {
        Kind = kind;
        Redis = redis;
        _store = store;
    }

    public ServerKind Kind { get; }

    public RedisServer? Redis { get; }

    public string Address => Redis?.Address ?? _store!.Resp;

    public static async Task<SharedServer> StartAsync(ServerKind kind) => kind == ServerKind.Cairn
        ? new SharedServer(kind, null, await ServedStore.StartAsync())
        : new SharedServer(kind, RedisServer.Start(), null);

    public CairnRedisOptions Options(string instanceName = "shop:") => OptionsOf(Kind, Address, instanceName);

    public static CairnRedisOptions OptionsOf(ServerKind kind, string address, string instanceName) => new()
    {
        Configuration = address + (kind is ServerKind.Redis2 or ServerKind.Redis2Publishing ? ",protocol=resp2" : ""),
        InstanceName = instanceName,
        Invalidation = kind is ServerKind.RedisPublishing or ServerKind.Redis2Publishing
            ? RedisInvalidationMode.PublishSubscribe
            : RedisInvalidationMode.Automatic,
    };

    public async ValueTask DisposeAsync()
    {
        Redis?.Dispose();
        if (_store is not null)
        {
            await _store.DisposeAsync();
        }
    }
}
