using System.Diagnostics;
using Cairn.Caching;
using Cairn.Caching.Tests;
using Cairn.Redis.Tests.Servers;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Redis.Tests.Caching;

/// <summary>The hybrid cache over the client of Cairn.Redis.</summary>
public sealed class HybridOverOwnClientTests() : HybridOverRedisTests(ServerKind.Redis);

/// <summary>The hybrid cache over a multiplexer of StackExchange.Redis.</summary>
public sealed class HybridOverMultiplexerTests() : HybridOverRedisTests(ServerKind.Multiplexer);

/// <summary>The hybrid cache over a Redis server to which it is still connecting, or that does not answer any more.</summary>
public abstract class HybridOverRedisTests(ServerKind client)
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    private static readonly Dictionary<string, Func<CairnHybridCache, string, Task>> s_operations = new(StringComparer.Ordinal)
    {
        ["GetOrCreate"] = (cache, key) => cache.GetOrCreateAsync(key, _ => new ValueTask<string>("made")).AsTask(),
        ["GetOrCreate, tags"] = (cache, key) => cache.GetOrCreateAsync(key, _ => new ValueTask<string>("made"), tags: [$"{key} 1", $"{key} 2"]).AsTask(),
        ["Set"] = (cache, key) => cache.SetAsync(key, "set", tags: [$"{key} 1"]).AsTask(),
        ["Remove"] = (cache, key) => cache.RemoveAsync(key).AsTask(),
        ["RemoveByTag"] = (cache, key) => cache.RemoveByTagAsync(key).AsTask(),
    };

    [RequiresToolFact("redis-server")]
    public async Task First_set_with_tags_reaches_a_server_to_which_the_cache_is_still_connecting()
    {
        await using SharedServer server = await SharedServer.StartAsync(client);
        for (int i = 0; i < 10; i++)
        {
            string name = $"cold {i}";
            await using (var redis = new CairnRedisCache(server.Options(instanceName: "")))
            await using (CairnHybridCache cache = Patient(name, redis))
            {
                await cache.SetAsync("key", "set", tags: ["first", "second"]);
            }

            await using var otherRedis = new CairnRedisCache(server.Options(instanceName: ""));
            await using CairnHybridCache other = Patient(name, otherRedis);
            Assert.Equal("set", await other.GetOrCreateAsync("key", _ => new ValueTask<string>("made")));
        }
    }

    [RequiresToolFact("redis-server")]
    public async Task Removal_of_entries_with_all_tags_reaches_other_machines_and_keeps_the_other_entries()
    {
        await using SharedServer server = await SharedServer.StartAsync(client);
        await using var redis = new CairnRedisCache(server.Options(instanceName: "app:"));
        await using CairnHybridCache cache = Patient("all tags", redis);
        await using var otherRedis = new CairnRedisCache(server.Options(instanceName: "app:"));
        await using CairnHybridCache other = Patient("all tags", otherRedis);
        await cache.SetAsync("both", "set", tags: ["a", "b"]);
        await cache.SetAsync("first", "set", tags: ["a"]);
        await cache.SetAsync("second", "set", tags: ["b"]);
        Assert.Equal(["both", "first"], (await ListAsync(other, "a")).Order());
        Assert.Equal("set", (await other.GetAsync<string>("both")).Value);

        await cache.RemoveByTagAsync(["a", "b"], TagMatch.All);

        await Eventually.TrueAsync(() => !other.TryGet("both", out string? _), "that the other machine has removed the entry");
        Assert.Equal(["first"], await ListAsync(other, "a"));
        Assert.Equal(["second"], await ListAsync(cache, "b"));
        Assert.Equal("set", (await other.GetAsync<string>("second")).Value);
    }

    [RequiresToolFact("redis-server")]
    public async Task Removals_by_all_tags_of_two_machines_at_once_are_both_in_effect()
    {
        await using SharedServer server = await SharedServer.StartAsync(client);
        await using var redis = new CairnRedisCache(server.Options(instanceName: "app:"));
        await using CairnHybridCache cache = Patient("all tags", redis);
        await using var otherRedis = new CairnRedisCache(server.Options(instanceName: "app:"));
        await using CairnHybridCache other = Patient("all tags", otherRedis);
        for (int i = 0; i < 20; i++)
        {
            await cache.SetAsync($"key {i}", "set", tags: ["a", $"own {i}"]);
        }

        await Task.WhenAll(Enumerable.Range(0, 20).Select(i => (i % 2 == 0 ? cache : other).RemoveByTagAsync(["a", $"own {i}"], TagMatch.All).AsTask()));

        Assert.Empty(await ListAsync(cache, "a"));
    }

    [RequiresToolFact("redis-server")]
    public async Task Missing_entries_are_no_damage()
    {
        await using SharedServer server = await SharedServer.StartAsync(client);
        await using var redis = new CairnRedisCache(server.Options(instanceName: ""));
        using var loggers = new RecordingLoggers();
        await using var cache = CairnHybridCache.Create(new CairnHybridCacheOptions { DistributedCache = redis }, loggers);

        await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("made"), tags: ["tag"]);
        await cache.RemoveAsync("key");
        await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("made"));

        Assert.DoesNotContain(loggers.Lines, line => line.StartsWith("Warning 513:", StringComparison.Ordinal));
    }

    [RequiresToolTheory("redis-server")]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Second_caller_shares_the_factory_of_a_first_one_that_cancels_while_the_connection_is_set_up(bool isHeardInBetween)
    {
        await using SharedServer server = await SharedServer.StartAsync(client);
        await using var redis = new CairnRedisCache(server.Options(instanceName: ""));
        await using var cache = CairnHybridCache.Create(new CairnHybridCacheOptions { DistributedCache = redis });
        var released = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
        using var cancellation = new CancellationTokenSource();
        int runs = 0;

        Task<string> first = cache.GetOrCreateAsync("key", MakeAsync, cancellationToken: cancellation.Token).AsTask();
        if (isHeardInBetween)
        {
            await Eventually.TrueAsync(() => redis.IsReceivingChanges && Volatile.Read(ref runs) > 0, "that changes are heard and the factory runs");
        }

        Task<string> second = cache.GetOrCreateAsync("key", MakeAsync).AsTask();
        await cancellation.CancelAsync();
        await Assert.ThrowsAsync<OperationCanceledException>(() => first.WaitAsync(s_patience));
        await Eventually.TrueAsync(() => redis.IsReceivingChanges && Volatile.Read(ref runs) > 0, "that the factory runs");
        Task<string> third = cache.GetOrCreateAsync("key", MakeAsync).AsTask();
        released.SetResult("made");

        Assert.Equal(["made", "made"], await Task.WhenAll(second, third).WaitAsync(s_patience));
        Assert.Equal(1, runs);

        async ValueTask<string> MakeAsync(CancellationToken cancellationToken)
        {
            Interlocked.Increment(ref runs);
#pragma warning disable VSTHRD003 // The test completes it, and does not block this thread.
            return await released.Task.WaitAsync(cancellationToken);
#pragma warning restore VSTHRD003
        }
    }

    [RequiresToolTheory("redis-server")]
    [InlineData(false)]
    [InlineData(true)]
    public async Task No_call_waits_for_a_server_that_was_stopped(bool isInUse)
    {
        await Task.WhenAll(s_operations.Select(operation => Task.Run(() => UseAsync(operation.Key, operation.Value))));

        // Each operation has a server of its own. The waits of a second overlap.
        async Task UseAsync(string name, Func<CairnHybridCache, string, Task> operation)
        {
            await using SharedServer server = await SharedServer.StartAsync(client);
            await using var redis = new CairnRedisCache(server.Options(instanceName: ""));
            if (!isInUse)
            {
                ProcessSignals.Stop(server.Redis!.ProcessId);
            }

            await using var cache = CairnHybridCache.Create(new CairnHybridCacheOptions { DistributedCache = redis });
            if (isInUse)
            {
                await cache.GetOrCreateAsync("used", _ => new ValueTask<string>("made"), tags: ["used"]);
                ProcessSignals.Stop(server.Redis!.ProcessId);
            }

            for (int i = 0; i < 3; i++)
            {
                long startedAt = Stopwatch.GetTimestamp();
                await operation(cache, $"key {i}");

                // A second by the documentation, and the delay of a busy machine. The client itself waits twice as long: RedisServer.Patience.
                Assert.True(Stopwatch.GetElapsedTime(startedAt) < s_patience, name);
            }

            ProcessSignals.Continue(server.Redis!.ProcessId);
        }
    }

    [RequiresToolTheory("redis-server")]
    [InlineData(ServerKind.Redis)]
    [InlineData(ServerKind.Redis2)]
    [InlineData(ServerKind.RedisPublishing)]
    [InlineData(ServerKind.Redis2Publishing)]
    [InlineData(ServerKind.Cairn)]
    [InlineData(ServerKind.Multiplexer)]
    [InlineData(ServerKind.Multiplexer2)]
    [InlineData(ServerKind.CairnMultiplexer)]
    public async Task Removal_reaches_a_value_that_only_another_machines_memory_holds(ServerKind kind)
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var redis = new CairnRedisCache(server.Options());
        await using var other = new CairnRedisCache(server.Options());
        await using CairnHybridCache cache = await HoldAsync(redis, "key");
        await using var otherCache = CairnHybridCache.Create(new CairnHybridCacheOptions { DistributedCache = other });

        await otherCache.RemoveAsync("key");

        await UntilGoneAsync(cache, "key");
    }

    [RequiresToolFact("redis-server")]
    public async Task Removal_that_a_server_without_memory_cannot_send_to_others_is_sent_when_it_can()
    {
        await using SharedServer server = await SharedServer.StartAsync(client);
        await using var redis = new CairnRedisCache(server.Options(instanceName: ""));
        await using var other = new CairnRedisCache(server.Options(instanceName: ""));
        await using CairnHybridCache cache = await HoldAsync(redis, "key");
        await using CairnHybridCache otherCache = await HoldAsync(other, "any");
        server.Redis!.Cli("CONFIG", "SET", "maxmemory", "1");

        await otherCache.RemoveAsync("key");
        server.Redis!.Cli("CONFIG", "SET", "maxmemory", "0");

        await UntilGoneAsync(cache, "key");
    }

    [RequiresToolFact("redis-server")]
    public async Task Cache_that_shares_no_memory_removes_from_a_server_without_memory()
    {
        await using SharedServer server = await SharedServer.StartAsync(client);
        await using var redis = new CairnRedisCache(server.Options(instanceName: ""));
        await redis.SetAsync("key", "value"u8.ToArray(), new());
        server.Redis!.Cli("CONFIG", "SET", "maxmemory", "1");

        await redis.RemoveAsync("key");
        await redis.RemoveAsync("key");

        Assert.Null(await redis.GetAsync("key"));
    }

    private static async Task<List<string>> ListAsync(CairnHybridCache cache, string tag)
    {
        var keys = new List<string>();
        await foreach (string key in cache.KeysByTagAsync(tag))
        {
            keys.Add(key);
        }

        return keys;
    }

    // Waits for the server as long as a busy machine needs.
    private static CairnHybridCache Patient(string name, CairnRedisCache redis) => CairnHybridCache.Create(new CairnHybridCacheOptions
    {
        Name = name,
        DistributedCache = redis,
        DistributedReadTimeout = s_patience,
        DistributedWriteTimeout = s_patience,
    });

    // Creates a machine that has a value in its memory, while the server does not have it.
    private static async Task<CairnHybridCache> HoldAsync(CairnRedisCache redis, string key)
    {
        var cache = CairnHybridCache.Create(new CairnHybridCacheOptions { DistributedCache = redis });
        var inMemory = new HybridCacheEntryOptions { Flags = HybridCacheEntryFlags.DisableDistributedCacheWrite };
        await Eventually.TrueAsync(
            async () =>
            {
                await cache.GetOrCreateAsync(key, _ => new ValueTask<string>("made"), inMemory);
                return redis.IsReceivingChanges && (await cache.GetAsync<string>(key)).IsFound;
            },
            "that the value is in memory");
        return cache;
    }

    private static Task UntilGoneAsync(CairnHybridCache cache, string key) =>
        Eventually.TrueAsync(async () => !(await cache.GetAsync<string>(key)).IsFound, "that the value is gone");
}
