using Cairn.Caching.Levels;
using Cairn.Caching.Tests.Levels;

namespace Cairn.Caching.Tests.Coherence;

/// <summary>
/// A machine receives no changes for some time. Meanwhile, other machines change keys for which it has created values that it has not written,
/// or has pending changes. None of its later operations replaces their changes.
/// </summary>
public sealed class UnheardChangeTests : IAsyncLifetime
{
    private static readonly DistributedLevelOptions s_patient = new() { BreakAfterFailures = int.MaxValue };

    private readonly FakeServer _server = new() { ReportsChanges = true };
    private readonly FakeMachine _first;
    private readonly FakeMachine _second;
    private readonly LevelUnderTest _a;
    private readonly LevelUnderTest _b;

    public UnheardChangeTests()
    {
        _first = _server.Connect();
        _second = _server.Connect();
        _a = LevelOf(_first, new ManualClock(hasTimers: true));
        _b = LevelOf(_second, _a.Clock);
        _first.Beat();
        _second.Beat();
    }

    public async Task InitializeAsync()
    {
        // Both know the era, so their writes belong to it.
        Assert.Null(await _a.ReadAsync("key"));
        Assert.Null(await _b.ReadAsync("key"));
    }

    public async Task DisposeAsync()
    {
        _first.Works = _second.Works = true;
        await _a.DisposeAsync();
        await _b.DisposeAsync();
    }

    [Fact]
    public async Task Pending_value_does_not_replace_what_others_wrote_while_the_channel_was_down()
    {
        await _a.WriteAsync("key", "0");
        _first.Works = _first.Hears = false;
        Assert.Equal(LevelStatus.Failed, await _a.WriteAsync("key", "older"));
        await _b.WriteAsync("key", "newer");

        // Commands succeed before changes arrive again.
        _first.Works = true;
        await _a.AdvanceUntilAsync(() => _a.Level.PendingChanges == 0);

        Assert.NotEqual("older", await _b.ReadAsync("key"));
    }

    [Fact]
    public async Task Pending_value_does_not_bring_back_what_others_removed_while_the_channel_was_down()
    {
        _first.Works = _first.Hears = false;
        Assert.Equal(LevelStatus.Failed, await _a.WriteAsync("key", "older"));
        await _b.RemoveAsync("key");

        _first.Works = true;
        await _a.AdvanceUntilAsync(() => _a.Level.PendingChanges == 0);

        Assert.Null(await _b.ReadAsync("key"));
    }

    [Fact]
    public async Task Pending_renewal_of_a_tag_does_not_undo_one_that_others_made_while_the_channel_was_down()
    {
        await _a.StampAsync("tag");
        _first.Works = _first.Hears = false;
        Assert.Equal(LevelStatus.Failed, await _a.RenewAsync("tag"));
        ulong older = await _a.StampAsync("tag");
        await _b.RenewAsync("tag");

        _first.Works = true;
        await _a.AdvanceUntilAsync(() => _a.Level.PendingChanges == 0);

        Assert.NotEqual(older, await _b.StampAsync("tag"));
    }

    [Fact]
    public async Task Tag_that_two_machines_invalidated_late_is_not_changed_without_end()
    {
        await _a.StampAsync("tag");
        _first.Works = _second.Works = false;
        Assert.Equal(LevelStatus.Failed, await _a.RenewAsync("tag"));
        Assert.Equal(LevelStatus.Failed, await _b.RenewAsync("tag"));
        _first.Works = _second.Works = true;
        await BeatForAsync(TimeSpan.FromSeconds(15));
        int writes = 0;
        _first.BeforeSet = _second.BeforeSet = _ => writes++;

        await BeatForAsync(TimeSpan.FromSeconds(15));

        Assert.Equal(0, writes);
        Assert.Equal(await _a.StampAsync("tag"), await _b.StampAsync("tag"));
    }

    [Fact]
    public async Task Pending_clearing_does_not_undo_one_that_others_made_while_the_channel_was_down()
    {
        await _a.WriteAsync("key", "0");
        _first.Works = _first.Hears = false;
        Assert.Equal(LevelStatus.Failed, await _a.Level.ClearAsync(CancellationToken.None));
        Assert.Equal(LevelStatus.Failed, await _a.WriteAsync("key", "older"));
        await _b.Level.ClearAsync(CancellationToken.None);
        Assert.Null(await _b.ReadAsync("key"));

        _first.Works = true;
        await _a.AdvanceUntilAsync(() => _a.Level.PendingChanges == 0);

        Assert.Null(await _b.ReadAsync("key"));
    }

    [Fact]
    public async Task Pending_value_is_written_if_the_channel_was_live_all_the_time()
    {
        _first.Works = false;
        Assert.Equal(LevelStatus.Failed, await _a.WriteAsync("key", "1"));
        Assert.Equal("1", await _a.ReadAsync("key"));
        _first.Works = true;

        await _a.AdvanceUntilAsync(() =>
        {
            _first.Beat();
            return _a.Level.PendingChanges == 0;
        });

        Assert.Equal("1", await _b.ReadAsync("key"));
    }

    [Fact]
    public async Task Pending_removal_waits_for_no_change_of_others()
    {
        await _a.WriteAsync("removed", "0");
        _first.Works = _first.Hears = false;
        await _a.WriteAsync("written", "1");
        await _a.RemoveAsync("removed");
        _first.Works = true;

        DateTimeOffset before = _a.Clock.Now;
        await _a.AdvanceUntilAsync(() => !_server.Values.ContainsKey(":k:removed"));

        Assert.InRange(_a.Clock.Now - before, TimeSpan.Zero, TimeSpan.FromSeconds(1));
        Assert.Equal(1, _a.Level.PendingChanges);
    }

    [Fact]
    public async Task Value_that_was_written_late_is_removed_when_a_message_reports_an_earlier_change_of_another()
    {
        _first.Works = false;
        await _a.WriteAsync("key", "older");
        _first.Works = true;
        _first.BeforeSet = key =>
        {
            _first.Hears = false;
            _server.Change(_second, key, [1]);
        };

        await _a.AdvanceUntilAsync(() =>
        {
            if (_first.Hears)
            {
                _first.Beat();
            }

            return _a.Level.PendingChanges == 0;
        });
        _first.BeforeSet = null;
        _first.Hears = true;
        Assert.Equal("older", await _b.ReadAsync("key"));
        _first.Receive(new CacheChange(":k:key", IsPrefix: false, Guid.Empty));
        await _a.AdvanceUntilAsync(() => _a.Level.PendingChanges == 0);

        Assert.Null(await _b.ReadAsync("key"));
    }

    [Fact]
    public async Task Value_that_was_written_late_stays_when_a_message_reports_a_later_change_of_another()
    {
        _first.Works = false;
        await _a.WriteAsync("key", "1");
        _first.Works = true;
        await _a.AdvanceUntilAsync(() =>
        {
            _first.Beat();
            return _a.Level.PendingChanges == 0;
        });
        _a.Clock.Advance(TimeSpan.FromMilliseconds(100));
        _first.Beat();

        await _b.WriteAsync("key", "2");

        _a.Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(0, _a.Level.PendingChanges);
        Assert.Equal("2", await _a.ReadAsync("key"));
    }

    [Fact]
    public async Task Pending_values_are_not_served_when_the_channel_was_silent_for_longer_than_allowed()
    {
        ulong before = await _a.StampAsync("tag");
        _first.Works = false;
        await _a.WriteAsync("key", "1");
        await _a.RenewAsync("tag");
        await _a.RemoveAsync("removed");
        Assert.Equal("1", await _a.ReadAsync("key"));
        ulong pending = await _a.StampAsync("tag");
        Assert.NotEqual(before, pending);

        _a.Clock.Advance(s_patient.TrustAfterHeartbeat);

        Assert.Null(await _a.ReadAsync("key"));
        Assert.Null(await _a.ReadAsync("removed"));
        Assert.DoesNotContain(await _a.StampAsync("tag"), new[] { before, pending });
    }

    [Fact]
    public async Task Value_that_was_made_while_the_servers_lease_could_not_be_asked_for_is_not_written()
    {
        _first.Works = _first.Hears = false;
        LeaseResult lease = await _a.LeaseAsync("key");
        Assert.Equal(LevelStatus.Done, lease.Status);
        await _b.WriteAsync("key", "newer");
        _first.Works = true;

        Assert.Equal(LevelStatus.Failed, await _a.WriteAsync("key", "older", lease.Lease));

        Assert.Equal("newer", await _b.ReadAsync("key"));
        Assert.Equal(0, _a.Level.PendingChanges);
        await lease.Lease!.DisposeAsync();
    }

    [Fact]
    public async Task Pending_changes_are_made_as_soon_as_the_channel_is_live_again_although_the_circuit_is_open()
    {
        FakeMachine machine = _server.Connect();
        await using var level = new LevelUnderTest(machine);
        machine.Beat();
        await _b.WriteAsync("key", "0");
        machine.Works = false;
        for (int i = 0; i < DistributedLevelOptions.Default.BreakAfterFailures; i++)
        {
            await level.ReadAsync("key");
        }

        Assert.Equal(LevelStatus.Failed, await level.RemoveAsync("key"));
        Assert.True(level.Level.IsBroken);
        Assert.True(level.Counters.Refused > 0);
        machine.Works = true;

        // The clock does not move.
        await LevelUnderTest.UntilAsync(() =>
        {
            machine.Beat();
            return level.Level.PendingChanges == 0;
        });
        Assert.Null(await _b.ReadAsync("key"));
        Assert.False(level.Level.IsBroken);
    }

    [Fact]
    public async Task Machine_is_cut_off_when_nothing_has_arrived_for_longer_than_allowed_and_not_before()
    {
        FakeMachine machine = _server.Connect();
        await using var level = new LevelUnderTest(machine);
        Assert.False(level.Level.Health.IsCutOff);

        level.Clock.Advance(s_patient.TrustAfterHeartbeat);
        Assert.True(level.Level.Health.IsCutOff);
        machine.Beat();
        Assert.False(level.Level.Health.IsCutOff);
        level.Clock.Advance(s_patient.TrustAfterHeartbeat);
        Assert.True(level.Level.Health.IsCutOff);
    }

    // The machines receive a heartbeat every 300 ms, one of them 50 ms after the other.
    private async Task BeatForAsync(TimeSpan time)
    {
        DateTimeOffset end = _a.Clock.Now + time;
        int step = 0;
        await _a.AdvanceUntilAsync(() =>
        {
            (step++ % 6 is var turn && turn == 0 ? _first : turn == 1 ? _second : null)?.Beat();
            return _a.Clock.Now >= end;
        });
    }

    private static LevelUnderTest LevelOf(FakeMachine machine, ManualClock clock) => new(machine, clock, s_patient);
}
