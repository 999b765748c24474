using Cairn.Caching.Coherence;
using Cairn.Caching.Levels;
using Cairn.Caching.Tests.Levels;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Options;

namespace Cairn.Caching.Tests.Coherence;

/// <summary>Caches over an IDistributedCache receive the changes of other caches: in one process, and through a channel.</summary>
public class ChannelCoherenceTests
{
    [Fact]
    public async Task Caches_over_one_instance_apply_a_change_before_it_is_acknowledged()
    {
        var cache = new MemoryDistributedCache(Options.Create(new MemoryDistributedCacheOptions()));
        await using var a = new LevelUnderTest(cache);
        await using var b = new LevelUnderTest(cache, a.Clock);

        Assert.Equal(LevelStatus.Done, await a.WriteAsync("key", "1"));
        Assert.Equal([b.Hash("key")], b.Sink.Changed);
        Assert.Equal("1", await b.ReadAsync("key"));

        await b.RemoveAsync("key");
        Assert.Equal(2, a.Sink.Changed.Count);
        await b.RenewAsync("tag");
        Assert.Equal(a.TagHash("tag"), a.Sink.Changed.Last());
        await b.Level.ClearAsync(CancellationToken.None);
        Assert.Equal(1, a.Sink.All);
        Assert.True(a.Level.Coherence.SeesAllChanges);
    }

    [Fact]
    public async Task Caches_over_one_instance_agree_on_what_the_instance_has_not_taken_yet()
    {
        var cache = new FaultyDistributedCache();
        var options = new DistributedLevelOptions { BreakAfterFailures = int.MaxValue };
        await using var a = new LevelUnderTest(cache, options: options);
        await using var b = new LevelUnderTest(cache, a.Clock, options);
        await a.WriteAsync("key", "old");
        ulong stamp = await b.StampAsync("tag");
        cache.Script = (operation, _) => operation == "get" ? Fault.None : Fault.Throw;

        Assert.Equal(LevelStatus.Failed, await a.RemoveAsync("key"));
        Assert.Equal(LevelStatus.Failed, await a.RenewAsync("tag"));

        Assert.Contains(b.Hash("key"), b.Sink.Changed);
        Assert.Null(await b.ReadAsync("key"));
        Assert.NotEqual(stamp, await b.StampAsync("tag"));
        Assert.Equal(await a.StampAsync("tag"), await b.StampAsync("tag"));
        Assert.False(b.Level.Coherence.SeesAllChanges);
        cache.Script = (_, _) => Fault.None;
    }

    [Fact]
    public async Task Caches_of_other_names_and_other_instances_hear_nothing()
    {
        var cache = new FaultyDistributedCache();
        await using var a = new LevelUnderTest(cache);
        await using var otherName = new LevelUnderTest(cache, options: new() { Name = "other" });
        await using var otherInstance = new LevelUnderTest(new FaultyDistributedCache());

        await a.WriteAsync("key", "1");

        Assert.Empty(otherName.Sink.Changed);
        Assert.Empty(otherInstance.Sink.Changed);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Another_machine_receives_changes_of_keys_tags_and_everything(bool reportsChanges)
    {
        var server = new FakeServer { ReportsChanges = reportsChanges };
        FakeMachine first = server.Connect();
        FakeMachine second = server.Connect();
        await using var a = new LevelUnderTest(first);
        await using var b = new LevelUnderTest(second, a.Clock);
        first.Beat();
        second.Beat();
        await b.StampAsync("tag");
        await a.ReadAsync("key");
        int all = b.Sink.All;

        await a.WriteAsync("key", "1");
        Assert.Equal("1", await b.ReadAsync("key"));
        Assert.Equal(b.Hash("key"), b.Sink.Changed.Last());
        await a.RenewAsync("tag");
        Assert.Equal(b.TagHash("tag"), b.Sink.Changed.Last());
        Assert.Equal(await a.StampAsync("tag"), await b.StampAsync("tag"));
        await a.Level.ClearAsync(CancellationToken.None);
        Assert.Equal(all + 1, b.Sink.All);
        Assert.Null(await b.ReadAsync("key"));
        Assert.Equal(reportsChanges, first.Published == 0);
    }

    [Fact]
    public async Task Entries_are_trusted_for_two_seconds_after_the_moment_that_the_last_heartbeat_proved()
    {
        FakeMachine machine = new FakeServer().Connect();
        await using var level = new LevelUnderTest(machine);
        ICoherence coherence = level.Level.Coherence;

        Assert.False(coherence.TryCatchUp(1));
        machine.Beat();
        Assert.True(coherence.TryCatchUp(1));
        level.Clock.Advance(TimeSpan.FromMilliseconds(1999));
        Assert.True(coherence.TryCatchUp(1));
        level.Clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.False(coherence.TryCatchUp(1));

        machine.Beat(age: TimeSpan.FromMilliseconds(500));
        level.Clock.Advance(TimeSpan.FromMilliseconds(1499));
        Assert.True(coherence.TryCatchUp(1));
        level.Clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.False(coherence.TryCatchUp(1));
    }

    [Fact]
    public async Task The_first_heartbeat_drops_what_was_kept_before_any_message()
    {
        FakeMachine machine = new FakeServer().Connect();
        await using var level = new LevelUnderTest(machine);
        Assert.Equal(0, level.Sink.All);

        machine.Beat();
        machine.Beat();

        Assert.Equal(1, level.Sink.All);
    }

    [Fact]
    public async Task After_a_disconnect_missed_messages_drop_everything_and_pending_writes_become_removals()
    {
        var server = new FakeServer();
        FakeMachine first = server.Connect();
        FakeMachine second = server.Connect();
        var options = new DistributedLevelOptions { BreakAfterFailures = int.MaxValue };
        await using var a = new LevelUnderTest(first, options: options);
        await using var b = new LevelUnderTest(second, a.Clock, options);
        first.Beat();
        second.Beat();
        await a.WriteAsync("key", "0");
        await b.StampAsync("tag");

        // B writes while it is cut off. A writes later, and A's value must stay.
        second.Works = second.Hears = false;
        Assert.Equal(LevelStatus.Failed, await b.WriteAsync("key", "of b"));
        Assert.Equal(LevelStatus.Failed, await b.RenewAsync("tag"));
        ulong pending = await b.StampAsync("tag");
        await a.WriteAsync("key", "of a");
        await a.RenewAsync("tag");
        int all = b.Sink.All;
        second.Works = second.Hears = true;
        second.TellMissed();
        second.Beat();

        Assert.Equal(all + 1, b.Sink.All);
        Assert.True(b.Level.Coherence.TryCatchUp(1));
        await a.AdvanceUntilAsync(() => b.Level.PendingChanges == 0);
        Assert.Contains(await a.ReadAsync("key"), new[] { "of a", null });
        Assert.Equal(await a.ReadAsync("key"), await b.ReadAsync("key"));
        Assert.NotEqual(pending, await b.StampAsync("tag"));
        Assert.Equal(await a.StampAsync("tag"), await b.StampAsync("tag"));
    }

    [Fact]
    public async Task A_change_whose_message_failed_is_reported_later()
    {
        var server = new FakeServer();
        FakeMachine first = server.Connect();
        FakeMachine second = server.Connect();
        await using var a = new LevelUnderTest(first, options: new() { BreakAfterFailures = int.MaxValue });
        await using var b = new LevelUnderTest(second, a.Clock);
        first.Beat();
        second.Beat();
        await a.WriteAsync("key", "0");
        int told = b.Sink.Changed.Count;
        first.Publishes = false;

        Assert.Equal(LevelStatus.Failed, await a.RemoveAsync("key"));

        Assert.Equal(told, b.Sink.Changed.Count);
        first.Publishes = true;
        await a.AdvanceUntilAsync(() => b.Sink.Changed.Count == told + 1);
        Assert.Equal(b.Hash("key"), b.Sink.Changed.Last());
        Assert.Equal(0, a.Counters.Breaks);
    }

    [Fact]
    public async Task Own_changes_count_once_each_whether_made_or_pending()
    {
        var cache = new FaultyDistributedCache();
        await using var level = new LevelUnderTest(cache);
        ulong hash = level.Hash("key");
        await level.ReadAsync("key");
        ChangeMark mark = level.Level.Coherence.Mark(hash);

        LevelStatus written = await level.WriteAsync("key", "1");
        Assert.True(Keep(level, mark, hash, level.Level.ChangesOf(written)));
        cache.Script = (_, _) => Fault.Throw;
        mark = level.Level.Coherence.Mark(hash);
        LevelStatus pending = await level.WriteAsync("key", "2");
        Assert.Equal(LevelStatus.Failed, pending);
        Assert.True(Keep(level, mark, hash, level.Level.ChangesOf(pending)));

        await level.RemoveAsync("key");
        Assert.False(Keep(level, mark, hash, level.Level.ChangesOf(pending)));
        Assert.Equal(0, level.Level.ChangesOf(LevelStatus.LeaseLost));
        cache.Script = (_, _) => Fault.None;
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Write_that_its_holder_keeps_is_reported_to_the_first_levels_of_others_only(bool isKeptByHolder)
    {
        var cache = new MemoryDistributedCache(Options.Create(new MemoryDistributedCacheOptions()));
        await using var holder = new LevelUnderTest(cache);
        await using var other = new LevelUnderTest(cache, holder.Clock);
        await holder.ReadAsync("key"); // Reads the era.
        LeaseResult lease = await holder.LeaseAsync("key");
        ((DistributedLease)lease.Lease!).IsKeptByHolder = isKeptByHolder;

        Assert.Equal(LevelStatus.Done, await holder.WriteAsync("key", "1", lease.Lease));

        ulong hash = holder.Hash("key");
        Assert.Equal(isKeptByHolder ? (ulong[])[] : [hash], holder.Sink.Changed);
        Assert.Equal([hash], other.Sink.Changed);
        await lease.Lease.DisposeAsync();
    }

    [Fact]
    public async Task Without_a_channel_a_clearing_by_others_is_seen_within_the_interval()
    {
        // Two instances over the same content act as two processes.
        var server = new FakeServer();
        await using var a = new LevelUnderTest(new Plain(server.Connect()));
        await using var b = new LevelUnderTest(new Plain(server.Connect()), a.Clock);
        await a.WriteAsync("key", "1");
        Assert.Equal("1", await b.ReadAsync("key"));

        await a.Level.ClearAsync(CancellationToken.None);
        a.Clock.Advance(TimeSpan.FromSeconds(1));

        Assert.Null(await b.ReadAsync("key"));
        Assert.Equal(1, b.Sink.All);
        await a.WriteAsync("key", "2");
        Assert.Equal("2", await b.ReadAsync("key"));
        Assert.False(a.Level.Coherence.SeesAllChanges);
        Assert.True(a.Level.Coherence.TryCatchUp(1));
    }

    private static bool Keep(LevelUnderTest level, ChangeMark mark, ulong hash, int ownChanges) =>
        level.Level.Coherence.TryKeep(mark, hash, ownChanges, 0, static _ => true);

    /// <summary>Hides every interface of the other cache except IDistributedCache.</summary>
    private sealed class Plain(FakeMachine machine) : IDistributedCache
    {
        public byte[]? Get(string key) => throw new NotSupportedException();

        public async Task<byte[]?> GetAsync(string key, CancellationToken token = default)
        {
            var buffer = new System.Buffers.ArrayBufferWriter<byte>();
            return await machine.TryGetAsync(key, buffer, token) ? buffer.WrittenSpan.ToArray() : null;
        }

        public void Set(string key, byte[] value, DistributedCacheEntryOptions options) => throw new NotSupportedException();

        public async Task SetAsync(string key, byte[] value, DistributedCacheEntryOptions options, CancellationToken token = default) =>
            await machine.SetAsync(key, new System.Buffers.ReadOnlySequence<byte>(value), options, token);

        public void Refresh(string key) => throw new NotSupportedException();

        public Task RefreshAsync(string key, CancellationToken token = default) => machine.RefreshAsync(key, token);

        public void Remove(string key) => throw new NotSupportedException();

        public Task RemoveAsync(string key, CancellationToken token = default) => machine.RemoveAsync(key, token);
    }
}
