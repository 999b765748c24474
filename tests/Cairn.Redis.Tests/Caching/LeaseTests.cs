using System.Text;
using Cairn.Caching;
using Cairn.Redis.Invalidation;
using Cairn.Redis.Tests.Servers;

namespace Cairn.Redis.Tests.Caching;

/// <summary>One of many machines creates a missing value.</summary>
public sealed class LeaseTests
{
    private static readonly TimeSpan s_long = TimeSpan.FromMinutes(1);
    private static readonly byte[] s_value = Encoding.UTF8.GetBytes("Dune");

    [Fact]
    public async Task Waiters_for_a_key_that_give_up_leave_nothing_behind()
    {
        var waiters = new KeyWaiters();
        using var cancellation = new CancellationTokenSource();
        Task[] impatient = [.. Enumerable.Range(0, 1000).Select(i => waiters.WaitAsync($"key:{i}", cancellation.Token))];
        Task patient = waiters.WaitAsync("key:1", CancellationToken.None);
        Assert.Equal(1000, waiters.Count);

        await cancellation.CancelAsync();
        foreach (Task wait in impatient)
        {
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => wait.WaitAsync(TimeSpan.FromSeconds(30)));
        }

        Assert.Equal(1, waiters.Count);
        waiters.Wake("key:1");
        await patient;
        Assert.Equal(0, waiters.Count);
    }

    [RequiresToolTheory("redis-server")]
    [InlineData(ServerKind.Redis)]
    [InlineData(ServerKind.Redis2)]
    [InlineData(ServerKind.RedisPublishing)]
    [InlineData(ServerKind.Cairn)]
    [InlineData(ServerKind.Multiplexer)]
    [InlineData(ServerKind.Multiplexer2)]
    [InlineData(ServerKind.CairnMultiplexer)]
    public async Task Lease_is_one_owners_until_it_gives_it_back(ServerKind kind)
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var cache = new CairnRedisCache(server.Options());
        ICacheLeases leases = cache;

        Assert.Equal(CacheLeaseStatus.Acquired, await leases.TryAcquireAsync("key", "me", s_long, true, default));
        Assert.Equal(CacheLeaseStatus.Held, await leases.TryAcquireAsync("key", "you", s_long, true, default));
        Assert.True(await leases.TryRenewAsync("key", "me", s_long, default));
        Assert.False(await leases.TryRenewAsync("key", "you", s_long, default));
        await leases.ReleaseAsync("key", "you", default);
        Assert.Equal(CacheLeaseStatus.Held, await leases.TryAcquireAsync("key", "you", s_long, true, default));
        await leases.ReleaseAsync("key", "me", default);
        Assert.Equal(CacheLeaseStatus.Acquired, await leases.TryAcquireAsync("key", "you", s_long, true, default));
        await leases.EndAsync("key", default);
        Assert.False(await leases.TryRenewAsync("key", "you", s_long, default));
    }

    [Fact]
    public async Task Each_step_of_a_lease_on_Cairns_server_is_one_request()
    {
        await using SharedServer server = await SharedServer.StartAsync(ServerKind.Cairn);
        await using var cache = new CairnRedisCache(server.Options());
        ICacheLeases leases = cache;
        await cache.SetAsync("page", s_value, new()); // The connection exists, and the way in which the server reports changes is known.
        await UseLeaseAsync(); // The server knows the scripts.
        long before = await RequestsAsync();

        await UseLeaseAsync();

        Assert.Equal(4, await RequestsAsync() - before - 1);

        async Task UseLeaseAsync()
        {
            Assert.Equal(CacheLeaseStatus.Acquired, await leases.TryAcquireAsync("key", "me", s_long, false, default));
            Assert.True(await leases.TryRenewAsync("key", "me", s_long, default));
            Assert.Equal(CacheLeaseStatus.Acquired, await leases.TrySetAsync("key", "me", s_value, new(), default));
            await leases.ReleaseAsync("key", "me", default);
        }

        async Task<long> RequestsAsync()
        {
            string info = (await cache.Client!.ExecuteAsync(["INFO", "stats"])).Text!;
            string line = info.Split('\n').Single(line => line.StartsWith("total_commands_processed:", StringComparison.Ordinal));
            return long.Parse(line[(line.IndexOf(':', StringComparison.Ordinal) + 1)..], System.Globalization.CultureInfo.InvariantCulture);
        }
    }

    [RequiresToolTheory("redis-server")]
    [InlineData(ServerKind.Redis)]
    [InlineData(ServerKind.RedisPublishing)]
    [InlineData(ServerKind.Cairn)]
    [InlineData(ServerKind.Multiplexer)]
    [InlineData(ServerKind.CairnMultiplexer)]
    public async Task Value_is_set_with_the_lease_and_not_after_it_was_lost(ServerKind kind)
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var cache = new CairnRedisCache(server.Options());
        ICacheLeases leases = cache;

        await leases.TryAcquireAsync("key", "me", s_long, true, default);
        Assert.Equal(CacheLeaseStatus.Acquired, await leases.TrySetAsync("key", "me", s_value, new(), default));
        Assert.Equal(s_value, await cache.GetAsync("key"));
        Assert.Equal(CacheLeaseStatus.HasValue, await leases.TryAcquireAsync("key", "you", s_long, true, default));
        Assert.Equal(CacheLeaseStatus.Acquired, await leases.TryAcquireAsync("key", "you", s_long, false, default));
        await cache.RemoveAsync("key");
        Assert.Equal(CacheLeaseStatus.Held, await leases.TrySetAsync("key", "you", s_value, new(), default));
        Assert.Null(await cache.GetAsync("key"));
        await leases.TryAcquireAsync("key", "them", s_long, true, default);
        await cache.SetAsync("key", s_value, new());
        Assert.Equal(CacheLeaseStatus.Held, await leases.TrySetAsync("key", "them", Encoding.UTF8.GetBytes("Emma"), new(), default));
        Assert.Equal(s_value, await cache.GetAsync("key"));
    }

    [RequiresToolTheory("redis-server")]
    [InlineData(ServerKind.Redis)]
    [InlineData(ServerKind.Cairn)]
    [InlineData(ServerKind.Multiplexer)]
    [InlineData(ServerKind.CairnMultiplexer)]
    public async Task Lease_ends_by_itself(ServerKind kind)
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var cache = new CairnRedisCache(server.Options());
        ICacheLeases leases = cache;

        await leases.TryAcquireAsync("key", "me", TimeSpan.FromMilliseconds(30), true, default);

        await Eventually.TrueAsync(
            async () => await leases.TryAcquireAsync("key", "you", s_long, true, default) == CacheLeaseStatus.Acquired, "the end of the lease");
    }

    [RequiresToolTheory("redis-server")]
    [InlineData(ServerKind.Redis)]
    [InlineData(ServerKind.Multiplexer)]
    public async Task Caller_that_waits_for_a_lease_is_woken_by_the_value(ServerKind kind)
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var mine = new CairnRedisCache(server.Options(instanceName: ""));
        await using var other = new CairnRedisCache(server.Options(instanceName: ""));
        var receiver = new RecordingReceiver();
        using IDisposable subscription = ((ICacheInvalidation)mine).Subscribe("", receiver);
        await Eventually.TrueAsync(() => mine.IsReceivingChanges, "that changes are heard");

        ValueTask<bool> waiting = ((ICacheLeases)mine).WaitForReleaseAsync("key", default);
        Assert.False(waiting.IsCompleted);
        await other.SetAsync("key", s_value, new());

        Assert.True(await waiting.AsTask().WaitAsync(TimeSpan.FromSeconds(30)));
    }
}
