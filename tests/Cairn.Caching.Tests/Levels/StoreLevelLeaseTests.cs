using Cairn.Caching.Coherence;
using Cairn.Caching.Levels;
using Cairn.Platform;

namespace Cairn.Caching.Tests.Levels;

/// <summary>The right to create a value, among processes: one process has it at a time, and not longer than it lives.</summary>
public class StoreLevelLeaseTests : StoreLevelTest
{
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(1);
    private static readonly byte[] Dune = [.. "Dune"u8];

    [Fact]
    public async Task Lease_of_a_missing_key_is_held_by_one_of_all_processes_until_its_value_is_there()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();

        LeaseResult first = await Acquire(level, "key");
        Assert.Equal(LevelStatus.Done, first.Status);
        Assert.True(first.Lease!.IsHeld);
        Assert.Equal(LevelStatus.Held, (await Acquire(other, "key")).Status);
        Assert.Equal(LevelStatus.Held, (await Acquire(level, "key")).Status);

        Assert.Equal(LevelStatus.Done, await Write(level, "key", Dune, lease: first.Lease));
        Assert.Equal(new LeaseResult(LevelStatus.Hit), await Acquire(other, "key"));
        Assert.False(first.Lease.IsHeld);
    }

    [Fact]
    public async Task Waiting_caller_gets_the_value_as_soon_as_it_is_written()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        LeaseResult owner = await Acquire(level, "key");

        Task<LeaseResult> waiting = Acquire(other, "key", Long);
        Assert.False(waiting.IsCompleted);
        await Write(level, "key", Dune, lease: owner.Lease);

        Assert.Equal(new LeaseResult(LevelStatus.Hit, HasWaited: true), await waiting);
        Assert.Equal(Dune, await Read(other, "key"));
    }

    [Fact]
    public async Task Caller_does_not_wait_for_a_lease_if_the_system_refuses_the_thread_that_waits()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        LeaseResult owner = await Acquire(level, "key");

        BackgroundThread.IsRefused = true;
        Assert.Equal(LevelStatus.Failed, (await Acquire(other, "key", Long)).Status);

        BackgroundThread.IsRefused = false;
        Task<LeaseResult> waiting = Acquire(other, "key", Long);
        await owner.Lease!.DisposeAsync();
        Assert.Equal(LevelStatus.Done, (await waiting).Status);
    }

    [Fact]
    public async Task Released_lease_goes_to_one_of_the_waiting_callers()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        LeaseResult owner = await Acquire(level, "key");
        List<Task<LeaseResult>> waiting = [.. Enumerable.Range(0, 5).Select(i => Acquire(i % 2 == 0 ? level : other, "key", Long))];

        await owner.Lease!.DisposeAsync();
        Task<LeaseResult> next = await Task.WhenAny(waiting);
        LeaseResult second = Assert.Single(await Task.WhenAll(next));
        Assert.Equal(LevelStatus.Done, second.Status);
        Assert.True(second.HasWaited);
        Assert.True(second.Lease!.IsHeld);
        waiting.Remove(next);
        Assert.All(waiting, task => Assert.False(task.IsCompleted));
        await Write(level, "key", Dune, lease: second.Lease);

        Assert.All(await Task.WhenAll(waiting), result => Assert.Equal(LevelStatus.Hit, result.Status));
    }

    [Fact]
    public async Task Removal_lets_another_have_the_lease_and_refuses_what_its_owner_writes()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        LeaseResult owner = await Acquire(level, "key");
        Task<LeaseResult> waiting = Acquire(other, "key", Long);

        await Remove(other, "key");

        LeaseResult second = await waiting;
        Assert.Equal(LevelStatus.Done, second.Status);
        Assert.False(owner.Lease!.IsHeld);
        Assert.Equal(LevelStatus.LeaseLost, await Write(level, "key", [1], lease: owner.Lease));
        Assert.Equal(LevelStatus.Done, await Write(other, "key", Dune, lease: second.Lease));
        Assert.Equal(Dune, await Read(level, "key"));
    }

    [Fact]
    public async Task Caller_waits_for_a_slow_owner_no_longer_than_its_limit()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        LeaseResult owner = await Acquire(level, "key");

        LeaseResult result = await Acquire(other, "key", TimeSpan.FromMilliseconds(30));

        Assert.Equal(new LeaseResult(LevelStatus.Held, HasWaited: true), result);
        Assert.True(owner.Lease!.IsHeld);
    }

    [Fact]
    public async Task Waiting_caller_can_cancel_its_wait()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        LeaseResult owner = await Acquire(level, "key");
        using var cancelling = new CancellationTokenSource();
        Task<LeaseResult> waiting = Acquire(other, "key", Timeout.InfiniteTimeSpan, cancellationToken: cancelling.Token);

        await cancelling.CancelAsync();

        await Task.WhenAny(waiting);
        Assert.True(waiting.IsCanceled);
        Assert.True(owner.Lease!.IsHeld);
    }

    [Fact]
    public async Task Lease_that_arrives_for_a_caller_that_has_cancelled_is_released()
    {
        StoreLevel level = Open();
        var waiter = new StoreLevelWaiter("key", replacesStale: false, partition: 0, long.MaxValue);
        waiter.SetCanceled();
        LeaseResult late = await Acquire(level, "key");

        waiter.Complete(late);

        Assert.False(late.Lease!.IsHeld);
        Assert.Equal(LevelStatus.Done, (await Acquire(level, "key")).Status);
    }

    [Fact]
    public async Task Hundreds_wait_for_leases_of_every_partition_without_a_thread()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        string[] keys = [.. Enumerable.Range(0, 300).Select(i => $"key:{i}")];
        var owners = new List<LeaseResult>();
        var waiting = new List<Task<LeaseResult>>();
        foreach (string key in keys)
        {
            owners.Add(await Acquire(level, key));
            waiting.Add(Acquire(other, key, Long)); // The call returns to this thread, which continues.
        }

        Assert.All(waiting, task => Assert.False(task.IsCompleted));
        for (int i = 0; i < keys.Length; i++)
        {
            Assert.Equal(LevelStatus.Done, await Write(level, keys[i], Dune, lease: owners[i].Lease));
        }

        Assert.All(await Task.WhenAll(waiting), result => Assert.Equal(LevelStatus.Hit, result.Status));
    }

    [Fact]
    public async Task Waits_end_as_failed_when_the_level_is_closed()
    {
        StoreLevel level = Open();
        StoreLevel closing = Open();
        await Acquire(level, "key");
        Task<LeaseResult> waiting = Acquire(closing, "key", Long);

        await closing.DisposeAsync();

        Assert.Equal(LevelStatus.Failed, (await waiting).Status);
    }

    [Fact]
    public async Task Waits_end_as_failed_when_the_store_is_closed()
    {
        StoreLevel level = Open();
        StoreLevel closing = Open(out CairnStore store);
        await Acquire(level, "key");
        Task<LeaseResult> waiting = Acquire(closing, "key", Long);

        store.Dispose();

        Assert.Equal(LevelStatus.Failed, (await waiting).Status);
    }

    [Fact]
    public async Task Lease_is_taken_over_when_its_time_is_up()
    {
        StoreLevel level = Open(leaseDuration: TimeSpan.FromSeconds(5));
        StoreLevel other = Open();
        LeaseResult owner = await Acquire(level, "key");
        Task<LeaseResult> waiting = Acquire(other, "key", Long);

        Clock.Advance(TimeSpan.FromSeconds(5));

        Assert.Equal(LevelStatus.Done, (await waiting).Status);
        Assert.Equal(LevelStatus.LeaseLost, await Write(level, "key", Dune, lease: owner.Lease));
    }

    [Theory]
    [InlineData(10)]
    [InlineData(200_000)] // Too long for a lease to carry.
    public async Task Value_that_has_expired_for_the_cache_alone_is_leased_and_stays_readable(int length)
    {
        byte[] stale = TestBytes.Of(length);
        StoreLevel level = Open();
        StoreLevel other = Open();
        await Write(level, "key", stale);
        ulong hash = level.Hasher.Hash("key");
        ChangeMark mark = level.Coherence.Mark(hash);

        Assert.Equal(LevelStatus.Hit, (await Acquire(other, "key")).Status);
        LeaseResult leased = await Acquire(level, "key", replacesStale: true);
        Assert.Equal(LevelStatus.Done, leased.Status);
        Assert.True(leased.Lease!.IsHeld);
        Assert.Equal(stale, await Read(other, "key"));
        Assert.True(level.Coherence.IsUnchanged(mark, hash));

        Assert.Equal(LevelStatus.Done, await Write(level, "key", Dune, lease: leased.Lease));
        Assert.Equal(Dune, await Read(other, "key"));
        Assert.False(leased.Lease.IsHeld);
    }

    [Theory]
    [InlineData(10)]
    [InlineData(200_000)]
    public async Task Lease_on_a_stale_value_is_lost_to_any_change_of_it(int length)
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        await Write(level, "replaced", TestBytes.Of(length));
        await Write(level, "removed", TestBytes.Of(length));
        LeaseResult replaced = await Acquire(level, "replaced", replacesStale: true);
        LeaseResult removed = await Acquire(level, "removed", replacesStale: true);

        await Write(other, "replaced", Dune);
        await Remove(other, "removed");

        Assert.Equal(LevelStatus.LeaseLost, await Write(level, "replaced", [1], lease: replaced.Lease));
        Assert.Equal(LevelStatus.LeaseLost, await Write(level, "removed", [1], lease: removed.Lease));
        Assert.Equal(Dune, await Read(level, "replaced"));
        Assert.Null(await Read(level, "removed"));
    }

    [Fact]
    public async Task Giving_back_the_lease_on_a_stale_value_leaves_the_value_and_is_no_change_of_it()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        await Write(level, "key", Dune);
        ulong hash = level.Hasher.Hash("key");
        ChangeMark mark = level.Coherence.Mark(hash);
        LeaseResult leased = await Acquire(level, "key", replacesStale: true);
        Task<LeaseResult> waiting = Acquire(other, "key", Long, replacesStale: true);

        await leased.Lease!.DisposeAsync();

        LeaseResult next = await waiting;
        Assert.Equal(LevelStatus.Done, next.Status);
        Assert.True(next.HasWaited);
        await next.Lease!.DisposeAsync();
        Assert.Equal(Dune, await Read(other, "key"));
        Assert.True(level.Coherence.IsUnchanged(mark, hash));
    }

    [Fact]
    public async Task Waiters_are_served_again_after_all_of_them_had_gone()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        for (int round = 0; round < 50; round++)
        {
            string key = $"key:{round % 3}";
            LeaseResult owner = await Acquire(level, key);
            Task<LeaseResult> waiting = Acquire(other, key, Long);
            await Write(level, key, Dune, lease: owner.Lease);
            Assert.Equal(LevelStatus.Hit, (await waiting).Status);
            await Remove(level, key);
        }
    }
}
