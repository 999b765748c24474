using Cairn.Caching.Levels;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Options;

namespace Cairn.Caching.Tests.Levels;

/// <summary>Leases within a process, and among machines through ICacheLeases.</summary>
public class DistributedLeaseTests
{
    private static readonly TimeSpan s_wait = TimeSpan.FromSeconds(5);

    [Fact]
    public async Task Of_two_caches_over_one_instance_one_has_the_lease_and_the_other_gets_the_value()
    {
        var cache = new MemoryDistributedCache(Options.Create(new MemoryDistributedCacheOptions()));
        await using var a = new LevelUnderTest(cache);
        await using var b = new LevelUnderTest(cache, a.Clock);
        LeaseResult first = await a.LeaseAsync("key");
        Assert.Equal(LevelStatus.Done, first.Status);
        Assert.Equal(LevelStatus.Held, (await b.LeaseAsync("key")).Status);
        Task<LeaseResult> waiting = b.LeaseAsync("key", s_wait);

        Assert.Equal(LevelStatus.Done, await a.WriteAsync("key", "1", first.Lease));
        Assert.False(waiting.IsCompleted);
        await first.Lease!.DisposeAsync();

        LeaseResult second = await b.AdvanceUntilDoneAsync(waiting);
        Assert.Equal(LevelStatus.Done, second.Status);
        Assert.True(second.HasWaited);
        Assert.Equal("1", await b.ReadAsync("key"));
    }

    [Fact]
    public async Task Caller_that_waits_for_a_lease_returns_when_the_time_is_over()
    {
        await using var level = new LevelUnderTest(new FaultyDistributedCache());
        LeaseResult first = await level.LeaseAsync("key");
        DateTimeOffset started = level.Clock.Now;

        LeaseResult second = await level.AdvanceUntilDoneAsync(level.LeaseAsync("key", s_wait));

        Assert.Equal(new LeaseResult(LevelStatus.Held, HasWaited: true), second);
        Assert.InRange(level.Clock.Now - started, s_wait, s_wait * 2);
        Assert.True(first.Lease!.IsHeld);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_wait_without_end_lasts_until_the_lease_ends(bool isOnServer)
    {
        var server = new FakeServer();
        FakeMachine machine = server.Connect();
        await using var a = new LevelUnderTest(machine);
        await using var b = new LevelUnderTest(isOnServer ? server.Connect() : machine, a.Clock);
        await b.ReadAsync("key");
        LeaseResult first = await a.LeaseAsync("key");

        Task<LeaseResult> waiting = b.LeaseAsync("key", Timeout.InfiniteTimeSpan);
        await b.AdvanceAsync(TimeSpan.FromSeconds(5));

        Assert.False(waiting.IsCompleted);
        await first.Lease!.DisposeAsync();
        Assert.Equal(LevelStatus.Done, (await b.AdvanceUntilDoneAsync(waiting)).Status);
    }

    [Theory]
    [InlineData("set")]
    [InlineData("remove")]
    [InlineData("clear")]
    public async Task A_change_by_anyone_ends_the_lease_and_what_it_would_have_written(string change)
    {
        var cache = new FaultyDistributedCache();
        await using var a = new LevelUnderTest(cache);
        await using var b = new LevelUnderTest(cache, a.Clock);
        LeaseResult lease = await a.LeaseAsync("key");

        await (change switch
        {
            "set" => b.WriteAsync("key", "newer"),
            "remove" => b.RemoveAsync("key"),
            _ => b.Level.ClearAsync(CancellationToken.None).AsTask(),
        });

        Assert.False(lease.Lease!.IsHeld);
        Assert.Equal(LevelStatus.LeaseLost, await a.WriteAsync("key", "older", lease.Lease));
        Assert.Equal(change == "set" ? "newer" : null, await b.ReadAsync("key"));
    }

    [Theory]
    [InlineData("set", true)]
    [InlineData("set", false)]
    [InlineData("remove", true)]
    [InlineData("remove", false)]
    public async Task A_change_that_comes_while_a_write_with_the_lease_is_inside_the_cache_is_made_after_it(string change, bool isInMemory)
    {
        var cache = new FaultyDistributedCache();
        var options = new DistributedLevelOptions { IsInMemory = isInMemory };
        await using var a = new LevelUnderTest(cache, options: options);
        await using var b = new LevelUnderTest(cache, a.Clock, options);
        LeaseResult lease = await a.LeaseAsync("key");
        cache.Script = (operation, _) => operation == "set" ? Fault.HangSynchronously : Fault.None;
        Task<LevelStatus> write = Task.Run(() => a.WriteAsync("key", "older", lease.Lease));
        await LevelUnderTest.UntilAsync(() => cache.Hanging == 1);
        cache.Script = (_, _) => Fault.None;
        cache.Calls.Clear();

        Task<LevelStatus> newer = change == "set" ? b.WriteAsync("key", "newer") : b.RemoveAsync("key");
        Assert.False(lease.Lease!.IsHeld);
        Assert.Empty(cache.Calls);
        cache.LetGo();

        Assert.Equal([LevelStatus.Done, LevelStatus.Done], await Task.WhenAll(write, newer));
        Assert.Equal((change, ":k:key"), Assert.Single(cache.Calls));
        Assert.Equal(change == "set" ? "newer" : null, await b.ReadAsync("key"));
    }

    [Fact]
    public async Task A_write_with_the_lease_that_fails_on_the_callers_thread_is_pending_and_made_later()
    {
        var cache = new FaultyDistributedCache();
        await using var level = new LevelUnderTest(cache, options: new() { IsInMemory = true });
        LeaseResult lease = await level.LeaseAsync("key");
        cache.Script = (operation, _) => operation == "set" ? Fault.ThrowSynchronously : Fault.None;

        Assert.Equal(LevelStatus.Failed, await level.WriteAsync("key", "1", lease.Lease));
        await lease.Lease!.DisposeAsync();
        Assert.Equal("1", await level.ReadAsync("key"));
        Assert.Equal(1, level.Level.PendingChanges);
        cache.Script = (_, _) => Fault.None;
        await level.AdvanceUntilAsync(() => level.Level.PendingChanges == 0);

        Assert.True(cache.Content.ContainsKey(":k:key"));
    }

    [Fact]
    public async Task A_value_that_is_to_be_replaced_is_no_hit_and_may_have_been_replaced()
    {
        await using var level = new LevelUnderTest(new FakeServer().Connect());
        await level.ReadAsync("key");
        await level.WriteAsync("key", "stale");

        Assert.Equal(LevelStatus.Hit, (await level.LeaseAsync("key")).Status);
        LeaseResult lease = await level.LeaseAsync("key", replacesStale: true);

        Assert.Equal(LevelStatus.Done, lease.Status);
        Assert.True(lease.HasWaited);
        Assert.Equal(LevelStatus.Done, await level.WriteAsync("key", "fresh", lease.Lease));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Of_two_machines_one_has_the_lease_and_the_other_gets_the_value(bool knowsLeases)
    {
        var server = new FakeServer { KnowsLeases = knowsLeases };
        await using var a = new LevelUnderTest(server.Connect());
        await using var b = new LevelUnderTest(server.Connect(), a.Clock);
        await b.ReadAsync("key");
        LeaseResult first = await a.LeaseAsync("key");
        Assert.Equal(LevelStatus.Done, first.Status);
        Assert.Equal(LevelStatus.Held, (await b.LeaseAsync("key")).Status);
        Task<LeaseResult> waiting = b.LeaseAsync("key", s_wait);

        Assert.Equal(LevelStatus.Done, await a.WriteAsync("key", "1", first.Lease));
        await first.Lease!.DisposeAsync();

        Assert.Equal(LevelStatus.Hit, (await b.AdvanceUntilDoneAsync(waiting)).Status);
        Assert.Equal("1", await b.ReadAsync("key"));
        Assert.Empty(server.Leases);
    }

    [Fact]
    public async Task Writer_with_a_lease_keeps_it_until_the_value_is_stored()
    {
        var server = new FakeServer { KnowsLeases = false };
        FakeMachine machine = server.Connect();
        await using var level = new LevelUnderTest(machine);
        LeaseResult lease = await level.LeaseAsync("key");
        int leasesAtTheEnd = -1;

        // Called for the attempt with the lease, which this server does not know, and for the plain set that follows.
        machine.BeforeSet = _ => leasesAtTheEnd = server.Leases.Count;

        Assert.Equal(LevelStatus.Done, await level.WriteAsync("key", "1", lease.Lease));
        Assert.Equal(1, leasesAtTheEnd);
        await lease.Lease!.DisposeAsync();
        Assert.Empty(server.Leases);
    }

    [Fact]
    public async Task A_removal_on_another_machine_just_before_the_write_makes_the_write_fail()
    {
        var server = new FakeServer();
        FakeMachine machine = server.Connect();
        FakeMachine other = server.Connect();
        await using var a = new LevelUnderTest(machine);
        await using var b = new LevelUnderTest(other, a.Clock);
        LeaseResult lease = await a.LeaseAsync("key");

        // The change does not arrive in time; it happens at the last moment.
        machine.Hears = false;
        machine.BeforeSet = key => server.Change(other, key, null);

        Assert.True(lease.Lease!.IsHeld);
        Assert.Equal(LevelStatus.LeaseLost, await a.WriteAsync("key", "old", lease.Lease));
        Assert.False(lease.Lease.IsHeld);
        machine.BeforeSet = null;
        Assert.Null(await b.ReadAsync("key"));
    }

    [Fact]
    public async Task A_change_on_another_machine_that_is_received_ends_the_lease_here()
    {
        var server = new FakeServer { KnowsLeases = false };
        FakeMachine machine = server.Connect();
        await using var a = new LevelUnderTest(machine);
        await using var b = new LevelUnderTest(server.Connect(), a.Clock);
        await b.ReadAsync("key");
        LeaseResult lease = await a.LeaseAsync("key");

        await b.RemoveAsync("key");

        Assert.False(lease.Lease!.IsHeld);
        Assert.Equal(LevelStatus.LeaseLost, await a.WriteAsync("key", "old", lease.Lease));
    }

    [Fact]
    public async Task A_lease_is_renewed_while_it_is_held_and_lost_when_the_server_says_so()
    {
        var server = new FakeServer();
        FakeMachine machine = server.Connect();
        await using var level = new LevelUnderTest(machine);
        LeaseResult lease = await level.LeaseAsync("key");

        await level.AdvanceUntilAsync(() => machine.Renewals >= 3);
        Assert.True(lease.Lease!.IsHeld);

        server.Leases.Clear();
        await level.AdvanceUntilAsync(() => !lease.Lease.IsHeld);
        Assert.Equal(LevelStatus.LeaseLost, await level.WriteAsync("key", "1", lease.Lease));
    }

    [Fact]
    public async Task A_lease_whose_grant_did_not_arrive_is_given_back()
    {
        var server = new FakeServer();
        FakeMachine machine = server.Connect();
        await using var level = new LevelUnderTest(machine);
        machine.LosesGrants = true;

        LeaseResult lease = await level.LeaseAsync("key");

        Assert.Equal(LevelStatus.Done, lease.Status);
        await level.AdvanceUntilAsync(() => server.Leases.IsEmpty);
        Assert.True(lease.Lease!.IsHeld);
    }

    [Fact]
    public async Task While_the_servers_leases_are_out_of_order_they_hold_within_the_process()
    {
        var leases = new FakeServer().Connect();
        leases.Works = false;
        var cache = new FaultyDistributedCache();
        await using var a = new LevelUnderTest(cache, leases: leases);
        await using var b = new LevelUnderTest(cache, a.Clock, leases: leases);

        LeaseResult lease = await a.LeaseAsync("key");

        Assert.Equal(LevelStatus.Done, lease.Status);
        Assert.Equal(LevelStatus.Held, (await b.LeaseAsync("key")).Status);
        Assert.Equal(LevelStatus.Done, await a.WriteAsync("key", "1", lease.Lease));
        await lease.Lease!.DisposeAsync();
        LeaseResult next = await b.LeaseAsync("key");
        Assert.Equal((LevelStatus.Done, "1"), (next.Status, await b.ReadAsync("key")));
    }

    [Fact]
    public async Task A_value_of_an_older_era_does_not_keep_a_lease_from_being_given()
    {
        var server = new FakeServer();
        await using var level = new LevelUnderTest(server.Connect());
        await level.WriteAsync("key", "old");
        await level.Level.ClearAsync(CancellationToken.None);
        Assert.Null(await level.ReadAsync("key"));

        LeaseResult lease = await level.LeaseAsync("key");

        Assert.Equal(LevelStatus.Done, lease.Status);
        Assert.Equal(LevelStatus.Done, await level.WriteAsync("key", "new", lease.Lease));
        Assert.Equal("new", await level.ReadAsync("key"));
    }
}
