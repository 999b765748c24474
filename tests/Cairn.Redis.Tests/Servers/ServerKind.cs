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
}

/// <summary>A running server of one kind.</summary>
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
