using System.Collections.Concurrent;
using System.Net;
using Cairn.Server.Tests.Testing;
using Medallion.Threading;
using Medallion.Threading.Redis;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.OutputCaching;
using Microsoft.AspNetCore.SignalR;
using Microsoft.AspNetCore.SignalR.Client;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using RedLockNet.SERedis;
using RedLockNet.SERedis.Configuration;
using StackExchange.Redis;
using ZiggyCreatures.Caching.Fusion;

#pragma warning disable CA1849, VSTHRD103 // The synchronous members are tested too.

namespace Cairn.Server.Tests.Resp.Clients;

/// <summary>Libraries of .NET that applications use with Redis show the same with redis-server and with Cairn.</summary>
public sealed class DotNetLibraryTests(RespServers servers) : IClassFixture<RespServers>
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    [RequiresToolFact("redis-server")]
    public async Task Distributed_locks_exclude_extend_and_release() => await AssertAlikeAsync(async (redis, show) =>
    {
        IDatabase database = redis.GetDatabase();
        var locks = new RedisDistributedSynchronizationProvider(database, options => options.Expiry(Minute).ExtensionCadence(TimeSpan.FromMilliseconds(20)));
        IDistributedLock first = locks.CreateLock("lock");
        await using (IDistributedSynchronizationHandle held = await first.AcquireAsync())
        {
            RedisValue token = await database.StringGetAsync("lock");
            await using IDistributedSynchronizationHandle? second = await locks.CreateLock("lock").TryAcquireAsync();
            show($"second {second is null} {token.HasValue} {held.HandleLostToken.CanBeCanceled}");

            // The library extends the lock by its script every 20 ms. A time to live that a client has cut grows again.
            await database.KeyExpireAsync("lock", Minute / 2);
            show($"extended {SpinWait.SpinUntil(() => database.KeyTimeToLive("lock") > Minute * 0.75, Minute)}");
        }

        show($"released {await database.KeyExistsAsync("lock")}");
        await using (await first.AcquireAsync())
        {
            await database.StringSetAsync("lock", "stolen");
        }

        show($"not released {await database.StringGetAsync("lock")}");
    });

    [RequiresToolFact("redis-server")]
    public async Task Locks_of_redlock_net_exclude_and_release() => await AssertAlikeAsync(async (redis, show) =>
    {
        using var factory = RedLockFactory.Create(new List<RedLockMultiplexer> { (ConnectionMultiplexer)redis });
        IDatabase database = redis.GetDatabase();
        await using (RedLockNet.IRedLock first = await factory.CreateLockAsync("resource", TimeSpan.FromSeconds(5)))
        {
            await using RedLockNet.IRedLock second = await factory.CreateLockAsync("resource", Minute);
            show($"first {first.IsAcquired} {first.Status} second {second.IsAcquired} {second.Status}");
            show($"extended {SpinWait.SpinUntil(() => first.ExtendCount > 0, Minute)} {await database.KeyExistsAsync("redlock:resource")}");
        }

        show($"released {await database.KeyExistsAsync("redlock:resource")}");
    });

    [RequiresToolFact("redis-server")]
    public async Task Locks_of_stackexchange_redis_are_compared_before_they_are_released() => await AssertAlikeAsync(async (redis, show) =>
    {
        IDatabase database = redis.GetDatabase();
        show($"take {await database.LockTakeAsync("l", "me", Minute)} {await database.LockTakeAsync("l", "you", Minute)}");
        show($"extend {await database.LockExtendAsync("l", "you", Minute)} {await database.LockExtendAsync("l", "me", Minute)}");
        show($"release {await database.LockReleaseAsync("l", "you")} {await database.LockReleaseAsync("l", "me")} {await database.KeyExistsAsync("l")}");
    });

    [RequiresToolFact("redis-server")]
    public async Task Distributed_cache_of_microsoft_stores_expires_and_removes() => await AssertAlikeAsync(async (redis, show) =>
    {
        await using ServiceProvider services = Services(redis, _ => { });
        IDistributedCache cache = services.GetRequiredService<IDistributedCache>();
        await cache.SetStringAsync("plain", "one");
        await cache.SetStringAsync("sliding", "two", new DistributedCacheEntryOptions { SlidingExpiration = Minute });
        await cache.SetStringAsync("both", "three", new DistributedCacheEntryOptions { SlidingExpiration = Minute, AbsoluteExpirationRelativeToNow = 2 * Minute });
        await cache.RefreshAsync("sliding");
        show($"{await cache.GetStringAsync("plain")} {await cache.GetStringAsync("sliding")} {await cache.GetStringAsync("both")} {await cache.GetStringAsync("none")}");
        IDatabase database = redis.GetDatabase();
        show($"{await database.KeyTimeToLiveAsync("cache:plain")} {await database.KeyTimeToLiveAsync("cache:sliding") > Minute / 2} {await database.KeyTypeAsync("cache:both")}");
        await cache.RemoveAsync("plain");
        cache.Set("plain", [1, 2, 3], new DistributedCacheEntryOptions());
        show($"{string.Join(' ', cache.Get("plain")!)}");
        cache.Remove("plain");
        show($"{cache.Get("plain") is null}");
    });

    [RequiresToolFact("redis-server")]
    public async Task Hybrid_cache_of_microsoft_shares_values_and_removed_tags() => await AssertAlikeAsync(async (redis, show) =>
    {
        await using ServiceProvider one = Services(redis, services => services.AddHybridCache());
        HybridCache first = one.GetRequiredService<HybridCache>();
        show(await first.GetOrCreateAsync("book", _ => ValueTask.FromResult("Dune"), tags: ["books"]));
        show($"stored {SpinWait.SpinUntil(() => redis.GetDatabase().KeyExists("cache:book"), Minute)}");

        await using ServiceProvider two = Services(redis, services => services.AddHybridCache());
        show(await two.GetRequiredService<HybridCache>().GetOrCreateAsync("book", _ => ValueTask.FromResult("Emma"), tags: ["books"]));
        await first.RemoveByTagAsync("books");

        await using ServiceProvider three = Services(redis, services => services.AddHybridCache());
        show(await three.GetRequiredService<HybridCache>().GetOrCreateAsync("book", _ => ValueTask.FromResult("Ulysses"), tags: ["books"]));
    });

    [RequiresToolFact("redis-server")]
    public async Task Fusion_cache_shares_values_locks_and_its_backplane() => await AssertAlikeAsync(async (redis, show) =>
    {
        await using ServiceProvider one = Services(redis, services => AddFusionCache(services, redis));
        await using ServiceProvider two = Services(redis, services => AddFusionCache(services, redis));
        IFusionCache first = one.GetRequiredService<IFusionCache>();
        IFusionCache second = two.GetRequiredService<IFusionCache>();
        show(await first.GetOrSetAsync("book", _ => Task.FromResult("Dune"), tags: ["books"]));
        show(await second.GetOrSetAsync("book", _ => Task.FromResult("Emma"), tags: ["books"]));
        await first.SetAsync("book", "Ulysses", tags: ["books"]);
        show($"heard {SpinWait.SpinUntil(() => second.GetOrDefault<string>("book") == "Ulysses", Minute)}");
        await first.RemoveByTagAsync("books");
        show($"tag heard {SpinWait.SpinUntil(() => second.GetOrDefault<string>("book") is null, Minute)}");
        show($"lock {await redis.GetDatabase().KeyExistsAsync("book:lock")}");
    });

    [RequiresToolFact("redis-server")]
    public async Task Signalr_sends_messages_through_its_backplane() => await AssertAlikeAsync(async (redis, show) =>
    {
        await using WebApplication one = await StartAsync(services => services.AddSignalR().AddStackExchangeRedis(AddressOf(redis)), web => web.MapHub<Messages>("/hub"));
        await using WebApplication two = await StartAsync(services => services.AddSignalR().AddStackExchangeRedis(AddressOf(redis)), web => web.MapHub<Messages>("/hub"));
        await using HubConnection client = new HubConnectionBuilder().WithUrl(one.Urls.First() + "/hub").Build();
        var heard = new BlockingCollection<string>();
        client.On<string>("tell", heard.Add);
        await client.StartAsync();

        IHubContext<Messages> other = two.Services.GetRequiredService<IHubContext<Messages>>();
        await other.Clients.All.SendAsync("tell", "all");
        show(Take());
        await other.Clients.Client(client.ConnectionId!).SendAsync("tell", "one");
        show(Take());
        await other.Groups.AddToGroupAsync(client.ConnectionId!, "group");
        await other.Clients.Group("group").SendAsync("tell", "group");
        show(Take());
        await other.Groups.RemoveFromGroupAsync(client.ConnectionId!, "group");
        await other.Clients.Group("group").SendAsync("tell", "none");
        await other.Clients.All.SendAsync("tell", "last");
        show(Take());

        string Take() => heard.TryTake(out string? message, Minute) ? message : "nothing";
    });

    [RequiresToolFact("redis-server")]
    public async Task Output_cache_stores_responses() => await AssertAlikeAsync(async (redis, show) =>
    {
        await using WebApplication app = await StartOutputCacheAsync(redis, policy => policy.Expire(Minute));
        using var client = new HttpClient { BaseAddress = new Uri(app.Urls.First()) };

        show($"{await client.GetStringAsync(Page("/page"))} {await client.GetStringAsync(Page("/page"))} {await client.GetStringAsync(Page("/page?other"))}");
    });

    [RequiresToolFact("redis-server")]
    public async Task Output_cache_evicts_by_tag_and_collects_what_has_expired() => await AssertAlikeAsync(async (redis, show) =>
    {
        await using WebApplication app = await StartOutputCacheAsync(redis, policy => policy.Expire(Minute).Tag("pages", "all"));
        using var client = new HttpClient { BaseAddress = new Uri(app.Urls.First()) };
        IOutputCacheStore store = app.Services.GetRequiredService<IOutputCacheStore>();

        show($"{await client.GetStringAsync(Page("/page"))} {await client.GetStringAsync(Page("/page"))} {await client.GetStringAsync(Page("/page?other"))}");
        await store.EvictByTagAsync("none", CancellationToken.None);
        show(await client.GetStringAsync(Page("/page")));
        await store.EvictByTagAsync("pages", CancellationToken.None);
        show($"{await client.GetStringAsync(Page("/page"))} {await client.GetStringAsync(Page("/page?other"))}");

        for (int i = 0; i < 3; i++)
        {
            await store.SetAsync($"short{i}", [1], ["brief", "all"], TimeSpan.FromSeconds(i + 1), CancellationToken.None);
        }

        await store.GetAsync("none", CancellationToken.None); // The store does not wait for replies. This one comes after them.
        IDatabase database = redis.GetDatabase();
        show($"{await database.SortedSetLengthAsync("__MSOCT_brief")} {await database.SortedSetLengthAsync("__MSOCT_all")}");
        var collect = store.GetType().GetMethod("ExecuteGarbageCollectionAsync", System.Reflection.BindingFlags.Instance | System.Reflection.BindingFlags.NonPublic)!;
        await (ValueTask<long?>)collect.Invoke(store, [DateTimeOffset.UtcNow.AddSeconds(10).ToUnixTimeMilliseconds(), CancellationToken.None])!;
        await store.GetAsync("none", CancellationToken.None);
        show($"{await database.SortedSetLengthAsync("__MSOCT_brief")} {await database.SortedSetLengthAsync("__MSOCT_all")}");
        show(string.Join(' ', await database.SortedSetRangeByRankAsync("__MSOCT")));
    });

    private static Uri Page(string address) => new(address, UriKind.Relative);

    private static void AddFusionCache(IServiceCollection services, ConnectionMultiplexer redis)
    {
        services.AddFusionCacheSystemTextJsonSerializer();
        services.AddFusionCacheStackExchangeRedisBackplane(options => options.Configuration = AddressOf(redis));
        services.AddFusionCache().WithRegisteredSerializer().WithRegisteredDistributedCache().WithRegisteredBackplane().WithDistributedLocker(
            new ZiggyCreatures.Caching.Fusion.Locking.Distributed.Redis.RedisDistributedLocker(Microsoft.Extensions.Options.Options.Create(
                new ZiggyCreatures.Caching.Fusion.Locking.Distributed.Redis.RedisDistributedLockerOptions { Configuration = AddressOf(redis) })));
    }

    private static ServiceProvider Services(ConnectionMultiplexer redis, Action<IServiceCollection> add)
    {
        var services = new ServiceCollection();
        services.AddLogging();
        services.AddStackExchangeRedisCache(options => (options.Configuration, options.InstanceName) = (AddressOf(redis), "cache:"));
        add(services);
        return services.BuildServiceProvider();
    }

    private static async Task<WebApplication> StartOutputCacheAsync(ConnectionMultiplexer redis, Action<OutputCachePolicyBuilder> policy)
    {
        int count = 0;
        return await StartAsync(
            services =>
            {
                services.AddStackExchangeRedisOutputCache(options => options.Configuration = AddressOf(redis));
                services.AddOutputCache();
            },
            web =>
            {
                web.UseOutputCache();
                web.MapGet("/page", () => $"{Interlocked.Increment(ref count)}").CacheOutput(policy);
            });
    }

    private static async Task<WebApplication> StartAsync(Action<IServiceCollection> add, Action<WebApplication> map)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Logging.ClearProviders();
        add(builder.Services);
        WebApplication web = builder.Build();
        map(web);
        await web.StartAsync();
        return web;
    }

    private static string AddressOf(ConnectionMultiplexer redis) => $"{redis.GetEndPoints()[0]},syncTimeout=60000,connectTimeout=60000";

    private static async Task<ConnectionMultiplexer> ConnectAsync(IPEndPoint server) => await ConnectionMultiplexer.ConnectAsync(
        new ConfigurationOptions { EndPoints = { server }, AllowAdmin = true, SyncTimeout = 60_000, AsyncTimeout = 60_000, ConnectTimeout = 60_000 });

    private static async Task<string> RunAsync(IPEndPoint server, Func<ConnectionMultiplexer, Action<string>, Task> program)
    {
        await using ConnectionMultiplexer redis = await ConnectAsync(server);
        await redis.GetServers()[0].FlushAllDatabasesAsync();
        var shown = new List<string>();
        await program(redis, shown.Add);
        return string.Join('\n', shown);
    }

    private sealed class Messages : Hub;

    private async Task AssertAlikeAsync(Func<ConnectionMultiplexer, Action<string>, Task> program)
    {
        string[] shown = await Task.WhenAll(RunAsync(servers.Redis, program), RunAsync(servers.Cairn, program));

        Assert.NotEmpty(shown[0]);
        ClientScript.AssertSameLines(shown[0], shown[1]);
    }
}
