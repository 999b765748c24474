using System.Text;
using Cairn.Caching;
using Cairn.Redis.StackExchange.Multiplexing;
using Cairn.Redis.Tests.Servers;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;
using StackExchange.Redis;

namespace Cairn.Redis.Tests.Caching;

/// <summary>What only a cache over the application's own multiplexer must bear.</summary>
public sealed class MultiplexerTests
{
    private static readonly byte[] s_value = Encoding.UTF8.GetBytes("Dune");

    [RequiresToolFact("redis-server")]
    public async Task Multiplexer_can_be_given_directly_or_by_a_factory_that_waits_or_not()
    {
        using var server = RedisServer.Start();
        await using ConnectionMultiplexer multiplexer = await ConnectAsync(server);
        Action<IServiceCollection>[] registrations =
        [
            services => services.AddCairnRedis(multiplexer, o => o.InstanceName = "shop:"),
            services => services.AddSingleton<IConnectionMultiplexer>(multiplexer)
                .AddCairnRedis(provider => provider.GetRequiredService<IConnectionMultiplexer>(), o => o.InstanceName = "shop:"),
            services => services.AddCairnRedis(async _ => await ConnectAsync(server), o => o.InstanceName = "shop:"),
        ];
        for (int i = 0; i < registrations.Length; i++)
        {
            var services = new ServiceCollection();
            registrations[i](services);
            await using ServiceProvider provider = services.BuildServiceProvider();
            var cache = provider.GetRequiredService<IDistributedCache>();

            await cache.SetAsync($"book:{i}", s_value, new());

            Assert.Equal(s_value, await cache.GetAsync($"book:{i}"));
            Assert.Null(Assert.IsType<CairnRedisCache>(cache).Client);
            Assert.Equal("Dune", server.Cli("HGET", $"shop:book:{i}", "data"));
        }

        Assert.True(multiplexer.IsConnected); // The providers have ended, and with them the caches.
    }

    [Fact]
    public void Settings_that_a_multiplexer_does_not_have_are_refused()
    {
        Action<CairnRedisOptions>[] mistakes = [o => o.Configuration = "localhost", o => o.Invalidation = RedisInvalidationMode.Tracking];
        foreach (Action<CairnRedisOptions> mistake in mistakes)
        {
            var services = new ServiceCollection();
            services.AddCairnRedis(_ => Task.FromException<IConnectionMultiplexer>(new RedisException("not called")), mistake);
            using ServiceProvider provider = services.BuildServiceProvider();

            var error = Assert.Throws<InvalidOperationException>(provider.GetRequiredService<IDistributedCache>);

            Assert.Contains("IConnectionMultiplexer", error.Message, StringComparison.Ordinal);
        }
    }

    [RequiresToolFact("redis-server")]
    public async Task Connecting_is_tried_again_after_a_failure()
    {
        using var server = RedisServer.Start();
        await using ConnectionMultiplexer multiplexer = await ConnectAsync(server);
        int calls = 0;
        await using CairnRedisCache cache = Over(multiplexer, () => ++calls == 1 ? new TimeoutException("away") : null);

        await Assert.ThrowsAsync<RedisTimeoutException>(() => cache.GetAsync("book"));

        Assert.Null(await cache.GetAsync("book"));
        Assert.Null(await cache.GetAsync("book"));
        Assert.Equal(2, calls);
    }

    [RequiresToolTheory("redis-server")]
    [InlineData("")]
    [InlineData(",protocol=resp2")]
    [InlineData(",channelPrefix=tenant:")]
    public async Task Two_caches_over_one_multiplexer_notify_each_other_and_the_hybrid_caches_agree(string settings)
    {
        using var server = RedisServer.Start();
        await using ConnectionMultiplexer multiplexer = await ConnectAsync(server, settings);
        await using CairnRedisCache mine = Over(multiplexer);
        await using CairnRedisCache other = Over(multiplexer);
        var receiver = new RecordingReceiver();
        using IDisposable subscription = ((ICacheInvalidation)mine).Subscribe("", receiver);
        using IDisposable own = ((ICacheInvalidation)other).Subscribe("", new RecordingReceiver());
        await Eventually.TrueAsync(() => mine.IsReceivingChanges && other.IsReceivingChanges, "heartbeats");
        ICacheLeases leases = other;

        await mine.SetAsync("own", s_value, new());
        await other.SetAsync("set", s_value, new());
        await leases.TryAcquireAsync("leased", "me", TimeSpan.FromMinutes(1), onlyIfMissing: true, default);
        await leases.TrySetAsync("leased", "me", s_value, new(), default);
        await other.DisposeAsync(); // Ends its own subscription, not that of the other cache.
        await using CairnRedisCache third = Over(multiplexer);
        await third.RemoveAsync("removed");

        await Eventually.TrueAsync(() => receiver.Keys.Contains("removed"), "the last change");
        Assert.Equal(["set", "leased", "removed"], receiver.Keys);
        Assert.Equal(1, receiver.Missed);
        Assert.True(mine.IsReceivingChanges);
    }

    [RequiresToolFact("redis-server")]
    public async Task Subscription_that_the_application_ends_is_made_again_and_reported_as_missed_changes()
    {
        using var server = RedisServer.Start();
        await using ConnectionMultiplexer multiplexer = await ConnectAsync(server);
        await using CairnRedisCache mine = Over(multiplexer);
        await using CairnRedisCache other = Over(multiplexer);
        var receiver = new RecordingReceiver();
        using IDisposable subscription = ((ICacheInvalidation)mine).Subscribe("", receiver);
        await Eventually.TrueAsync(() => receiver.Heartbeats > 0, "a heartbeat");

        await multiplexer.GetSubscriber().UnsubscribeAllAsync();
        await Eventually.TrueAsync(() => receiver.Missed > 1, "the missed changes");
        await other.SetAsync("book", s_value, new());

        await Eventually.TrueAsync(() => receiver.Keys.Contains("book"), "the change after that");
    }

    [RequiresToolFact("redis-server")]
    public async Task Heartbeats_of_one_process_are_no_messages_for_the_others()
    {
        using var server = RedisServer.Start();
        await using ConnectionMultiplexer multiplexer = await ConnectAsync(server);
        await using CairnRedisCache cache = Over(multiplexer);
        var receiver = new RecordingReceiver();
        using IDisposable subscription = ((ICacheInvalidation)cache).Subscribe("", receiver);
        await Eventually.TrueAsync(() => receiver.Heartbeats > 0, "a heartbeat");
        int onChannel = 0;
        await multiplexer.GetSubscriber().SubscribeAsync(RedisChannel.Literal("cairn:changes:shop:"), (_, _) => Interlocked.Increment(ref onChannel));

        int heartbeats = receiver.Heartbeats;
        await Eventually.TrueAsync(() => receiver.Heartbeats > heartbeats + 3, "more heartbeats");

        Assert.Equal(0, onChannel);
        Assert.Equal(1, receiver.Missed);
    }

    [RequiresToolFact("redis-server")]
    public async Task Cancelled_call_ends_at_once_and_writes_nothing_to_the_buffer_later()
    {
        using var server = RedisServer.Start();
        await using ConnectionMultiplexer multiplexer = await ConnectAsync(server);
        await using CairnRedisCache cache = Over(multiplexer);
        await cache.SetAsync("book", s_value, new());
        var buffer = new System.Buffers.ArrayBufferWriter<byte>();
        using var cancellation = new CancellationTokenSource();

        ProcessSignals.Stop(server.ProcessId);
        Task<bool> reading = cache.TryGetAsync("book", buffer, cancellation.Token).AsTask();
        await cancellation.CancelAsync();
#pragma warning disable VSTHRD003 // The call is cancelled, so it needs no thread of the test.
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reading);
#pragma warning restore VSTHRD003
        ProcessSignals.Continue(server.ProcessId);

        Assert.Equal(s_value, await cache.GetAsync("book"));
        Assert.Equal(0, buffer.WrittenCount);
    }

    [RequiresToolFact("redis-server")]
    public async Task Server_that_is_away_is_an_exception_of_the_cache_and_healthy_again_when_it_is_back()
    {
        using var server = RedisServer.Start();
        await using ConnectionMultiplexer patient = await ConnectAsync(server);
        await using ConnectionMultiplexer multiplexer = await TestMultiplexer.ConnectAsync(server.Address + ",asyncTimeout=300"); // The calls that fail wait that long.
        await using CairnRedisCache cache = Over(multiplexer);
        await using CairnRedisCache patientCache = Over(patient);
        await patientCache.SetAsync("book", s_value, new());
        Assert.True(await patientCache.Access.PingAsync(default) > TimeSpan.Zero);

        server.Kill();
        await Assert.ThrowsAnyAsync<RedisException>(() => cache.GetAsync("book"));
        await Assert.ThrowsAnyAsync<RedisException>(() => cache.SetAsync("book", s_value, new()));
        server.Run();

        await Eventually.TrueAsync(
            async () =>
            {
                try
                {
                    return await cache.GetAsync("book") is null;
                }
                catch (RedisException)
                {
                    return false;
                }
            },
            "an answer");
    }

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Change_on_any_master_of_a_cluster_is_received_and_a_failover_is_reported_as_missed_changes()
    {
        using RedisCluster cluster = await RedisCluster.StartAsync();
        await using ConnectionMultiplexer multiplexer = await TestMultiplexer.ConnectAsync(cluster.Addresses);
        await using ConnectionMultiplexer otherMultiplexer = await TestMultiplexer.ConnectAsync(cluster.Addresses);
        await using CairnRedisCache mine = Over(multiplexer);
        await using CairnRedisCache other = Over(otherMultiplexer);
        var receiver = new RecordingReceiver();
        using IDisposable subscription = ((ICacheInvalidation)mine).Subscribe("", receiver);
        await Eventually.TrueAsync(() => receiver.Heartbeats > 0, "a heartbeat");

        string[] cached = [.. Enumerable.Range(0, 30).Select(i => $"cached:{i}")];
        await Task.WhenAll(cached.Select(key => other.SetAsync(key, s_value, new())));
        await Eventually.TrueAsync(() => cached.All(key => receiver.Keys.Contains(key)), "changes on all masters");
        Assert.Equal(CacheLeaseStatus.Acquired, await ((ICacheLeases)mine).TryAcquireAsync("odd}{", "me", TimeSpan.FromMinutes(1), true, default));
        Assert.Equal(CacheLeaseStatus.Acquired, await ((ICacheLeases)mine).TrySetAsync("odd}{", "me", s_value, new(), default));
        int missed = receiver.Missed;

        cluster.KillFirstMaster();
        await Eventually.TrueAsync(() => receiver.Missed > missed, "the missed changes");
        await using ConnectionMultiplexer laterMultiplexer = await TestMultiplexer.ConnectAsync(cluster.Addresses);
        await using CairnRedisCache later = Over(laterMultiplexer);
        await Eventually.TrueAsync(
            async () =>
            {
                try
                {
                    await Task.WhenAll(cached.Select(key => later.RemoveAsync(key)));
                    return mine.IsReceivingChanges && cached.All(key => receiver.Keys.Count(other => other == key) > 1);
                }
                catch (RedisException)
                {
                    return false;
                }
            },
            "changes on all masters again");
    }

    private static CairnRedisCache Over(IConnectionMultiplexer multiplexer, Func<Exception?>? failure = null) => new(new CairnRedisOptions
    {
        InstanceName = "shop:",
        OtherAccess = () => new MultiplexerAccess(
            () => failure?.Invoke() is { } exception ? Task.FromException<IConnectionMultiplexer>(exception) : Task.FromResult(multiplexer)),
    });

    private static Task<ConnectionMultiplexer> ConnectAsync(RedisServer server, string settings = "") =>
        TestMultiplexer.ConnectAsync(server.Configuration + settings);
}
