using Cairn.FileStore;
using Cairn.Redis.Tests.Servers;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Primitives;

#pragma warning disable CA1849, VSTHRD103 // The synchronous members are tested too.

namespace Cairn.Redis.Tests.Caching;

/// <summary>The interfaces of the readable file reach other machines over Redis and Cairn's server, with all their members.</summary>
public sealed class FileInterfaceTests
{
    private static readonly TimeSpan s_long = TimeSpan.FromMinutes(1);

    [RequiresToolTheory("redis-server")]
    [InlineData(ServerKind.Redis)]
    [InlineData(ServerKind.Redis2)]
    [InlineData(ServerKind.RedisPublishing)]
    [InlineData(ServerKind.Cairn)]
    [InlineData(ServerKind.Multiplexer)]
    [InlineData(ServerKind.CairnMultiplexer)]
    public async Task All_entries_are_listed_cleared_and_watched_on_another_machine(ServerKind kind)
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var redis = new CairnRedisCache(server.Options("shop[1]*:"));
        await using var otherRedis = new CairnRedisCache(server.Options("shop[1]*:"));
        await using var neighbour = new CairnRedisCache(server.Options("shop1x:"));
        await neighbour.SetAsync("mine", [1], new());
        IDistributedFileStoreCacheString cache = Build(redis);
        IDistributedFileStoreCacheString other = Build(otherRedis);
        await other.SetManyAsync([.. Enumerable.Range(0, 600).Select(i => KeyValuePair.Create($"{i}", $"Grüße {i}"))]);

        IReadOnlyDictionary<string, string> all = await cache.GetAllKeyValuesAsync();

        Assert.Equal(600, all.Count);
        Assert.Equal("Grüße 42", all["42"]);
        Assert.Equal(all, cache.GetAllKeyValues());

        // The subscription begins with the first token. Until its connections are settled it may report missed changes, which fire all tokens.
        IChangeToken unchanged = cache.Watch("43");
        await Eventually.TrueAsync(
            async () =>
            {
                unchanged = cache.Watch("43");
                IChangeToken any = cache.Watch();
                IChangeToken one = cache.Watch("42");
                await other.SetAsync("42", "Dune");
                await Eventually.TrueAsync(() => one.HasChanged && any.HasChanged, "the change of the other machine");
                return !unchanged.HasChanged;
            },
            "a change that fires only the tokens of its key and of all keys");

        IChangeToken own = cache.Watch("own");
        await cache.SetAsync("own", "1");
        await Eventually.TrueAsync(() => own.HasChanged, "the change of this machine");

        other.ClearAll([KeyValuePair.Create("new", "1")]);

        Assert.Equal([KeyValuePair.Create("new", "1")], cache.GetAllKeyValues());
        await Eventually.TrueAsync(() => unchanged.HasChanged, "the removal by the other machine");
        Assert.Equal([1], await neighbour.GetAsync("mine"));
    }

    [RequiresToolFact("redis-server")]
    public async Task Bytes_are_listed_and_cleared_also_without_an_instance_name()
    {
        await using SharedServer server = await SharedServer.StartAsync(ServerKind.Redis);
        await using var redis = new CairnRedisCache(server.Options(instanceName: ""));
        await using ServiceProvider provider = Provider(redis, FileStoreCacheVersions.Bytes);
        var cache = provider.GetRequiredService<IDistributedFileStoreCacheBytes>();
        await cache.SetAsync("a", [1, 255], new());
        await ((Cairn.Caching.ICacheLeases)redis).TryAcquireAsync("b", "me", s_long, onlyIfMissing: true, CancellationToken.None);

        KeyValuePair<string, byte[]> only = Assert.Single(await cache.GetAllKeyValuesAsync());
        Assert.Equal("a", only.Key);
        Assert.Equal([1, 255], only.Value);
        cache.ClearAll();

        Assert.Empty(cache.GetAllKeyValues());
    }

    private static IDistributedFileStoreCacheString Build(CairnRedisCache redis) =>
        Provider(redis, FileStoreCacheVersions.String).GetRequiredService<IDistributedFileStoreCacheString>();

    private static ServiceProvider Provider(CairnRedisCache redis, FileStoreCacheVersions version)
    {
        var services = new ServiceCollection();
        services.AddDistributedFileStoreCache(options =>
        {
            options.WhichVersion = version;
            options.DistributedCache = _ => redis;
        });
        return services.BuildServiceProvider();
    }
}
