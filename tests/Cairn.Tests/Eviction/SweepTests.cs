using Cairn.Engine;
using Cairn.Platform;
using Cairn.Steps;
using Cairn.Tests.Concurrency;

namespace Cairn.Tests.Eviction;

/// <summary>Expired entries are removed and counted, even if no caller reads them.</summary>
[Collection(ProtocolScripts.Name)]
public sealed class SweepTests : StoreTest
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);
    private static readonly CollectionOptions Kept = new() { Region = StoreRegion.Keep, Durability = Durability.ProcessCrash };

    [Fact]
    public void Expired_entries_leave_the_statistics_without_a_read()
    {
        for (int i = 0; i < 200; i++)
        {
            Cache.Set($"short {i}", TestBytes.Of(100), TimeSpan.FromMilliseconds(100));
        }

        Cache.Set("stays", "value"u8);
        Cache.Set("later", "value"u8, TimeSpan.FromHours(1));
        Clock.Advance(TimeSpan.FromMilliseconds(99));
        Assert.Equal(0, Store.SweepExpired().Removed);
        Assert.Equal(202, Store.GetStatistics().Totals.Entries);

        Clock.Advance(TimeSpan.FromMilliseconds(1));
        Sweep(Store);

        StoreStatistics statistics = Store.GetStatistics();
        Assert.Equal(2, statistics.Totals.Entries);
        Assert.Equal(200, statistics.Totals.Expirations);
        Assert.Equal(0, statistics.Totals.Evictions);
        Assert.Equal("value", Cache.GetString("stays"));
        Assert.Equal("value", Cache.GetString("later"));
        StoreAudit.Check(Store);
    }

    // In the larger store, a segment has groups of entries, and each opening remembers the groups.
    [Theory]
    [InlineData(8, 5_000)]
    [InlineData(64, 30_000)]
    public void Expired_entries_are_gone_within_five_seconds_however_their_times_to_live_are_mixed(int mebibytes, int count)
    {
        StoreOptions options = Options with { Path = PathOf("mixed.cairn"), CapacityBytes = (long)mebibytes << 20 };
        CairnStore[] openings = [Open(options), Open(options)];
        CairnStore store = openings[0];
        var deadlines = new DateTimeOffset[count];
        var random = new Random(7);
        for (int second = 0; second < 70; second++)
        {
            int first = second == 0 ? 0 : random.Next(count);
            for (int i = first; i < (second == 0 ? count : Math.Min(count, first + 100)); i++)
            {
                TimeSpan time = TimeSpan.FromMilliseconds(random.Next(1, 60_000));
                deadlines[i] = Clock.Now + time;
                store.DefaultCollection.Set($"{i}", TestBytes.Of(random.Next(200)), time);
            }

            Clock.Advance(TimeSpan.FromSeconds(1));
            openings[random.Next(2)].SweepExpired();

            Assert.InRange(
                store.GetStatistics().Totals.Entries,
                deadlines.Count(deadline => deadline > Clock.Now),
                deadlines.Count(deadline => deadline > Clock.Now - TimeSpan.FromSeconds(5)));
        }

        Assert.All(Enumerable.Range(0, count), i => Assert.Equal(deadlines[i] > Clock.Now, store.DefaultCollection.Contains($"{i}")));
        StoreAudit.Check(store);
    }

    [Fact]
    public void Sweep_looks_again_only_near_what_is_due()
    {
        const int Count = 60_000;
        CairnStore store = Open(Options with { Path = PathOf("large.cairn"), CapacityBytes = 256L << 20 });
        var random = new Random(7);
        for (int i = 0; i < Count; i++)
        {
            store.DefaultCollection.Set($"{i}", TestBytes.Of(400), TimeSpan.FromMilliseconds(random.Next(600_000, 3_600_000)));
        }

        Clock.Advance(TimeSpan.FromMinutes(11));
        Assert.InRange(store.SweepExpired().Looked, Count * 9 / 10, Count);
        long looked = 0;
        long removed = 0;
        for (int i = 0; i < 10; i++)
        {
            Clock.Advance(TimeSpan.FromSeconds(5));
            SweepTurn turn = store.SweepExpired();
            Assert.True(turn.IsComplete);
            looked += turn.Looked;
            removed += turn.Removed;
        }

        // 1,000 of the 60,000 entries expire. Without a memory of groups, each turn would examine nearly all entries.
        Assert.InRange(removed, 900, 1100);
        Assert.InRange(looked, removed, 10 * Count / 4);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Room_of_what_has_expired_whole_is_used_before_anything_is_evicted(bool isSwept)
    {
        int live = Fill("live", 4_000, Timeout.InfiniteTimeSpan);
        int expired = 0;
        while (Store.GetStatistics().FreeSegments > 40)
        {
            Cache.Set($"short {expired++}", TestBytes.Of(1000), TimeSpan.FromSeconds(30));
        }

        Assert.Equal(0, Store.GetStatistics().Totals.Evictions);
        Clock.Advance(Minute);
        if (isSwept)
        {
            Sweep(Store);
            StoreStatistics swept = Store.GetStatistics();
            Assert.Equal(live, swept.Totals.Entries);
            Assert.True(swept.FreeSegments > 200, $"{swept.FreeSegments} segments are free");
        }

        Fill("new", expired / 2, Timeout.InfiniteTimeSpan);
        Assert.Equal(0, Store.GetStatistics().Totals.Evictions);
        Assert.All(Enumerable.Range(0, live), i => Assert.True(Cache.Contains($"live {i}")));
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Statistics_show_the_bytes_of_what_expired_among_live_entries_until_their_room_is_free()
    {
        for (int i = 0; i < 400; i++)
        {
            Cache.Set($"{i}", TestBytes.Of(1000), i % 2 == 0 ? Expiration.None : Expiration.After(i < 200 ? Minute : 2 * Minute));
        }

        Cache.Set("100", TestBytes.Of(1000));
        Assert.Equal(0, Store.GetStatistics().Totals.ExpiredBytes);
        long before = Store.GetStatistics().Totals.Bytes;
        Clock.Advance(2 * Minute);
        Sweep(Store);

        // Expired entries in segments of their own are free already. Each remaining entry has 1,000 bytes and an overhead of less than 50.
        StoreStatistics mixed = Store.GetStatistics();
        Assert.Equal(200, mixed.Totals.Entries);
        Assert.InRange(before - mixed.Totals.Bytes, 200 * 1000, 200 * 1050);
        Assert.InRange(mixed.Totals.ExpiredBytes, 0, 200 * 1050);

        Cache.Clear();
        Fill("new", 20_000, Timeout.InfiniteTimeSpan);
        Assert.Equal(0, Store.GetStatistics().Totals.ExpiredBytes);
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Sliding_entry_stays_as_long_as_it_is_used_and_is_swept_after_that()
    {
        Cache.Set("used", "value"u8, Expiration.Sliding(Minute));
        Cache.Set("unused", "value"u8, Expiration.Sliding(Minute));
        for (int i = 0; i < 5; i++)
        {
            Clock.Advance(TimeSpan.FromSeconds(40));
            Sweep(Store);
            Assert.NotNull(Cache.GetString("used"));
        }

        Assert.Equal(1, Store.GetStatistics().Totals.Entries);
        Clock.Advance(Minute);
        Sweep(Store);
        Assert.Equal(0, Store.GetStatistics().Totals.Entries);
    }

    [Fact]
    public void Long_values_are_swept_too()
    {
        Cache.Set("in a segment", TestBytes.Of(6_000), Minute);
        Cache.Set("run", TestBytes.Of(700_000), Minute);
        Cache.Set("run that stays", TestBytes.Of(200_000), 10 * Minute);
        int free = Store.GetStatistics().FreeSegments;
        Clock.Advance(Minute);
        Sweep(Store);

        Assert.Equal(1, Store.GetStatistics().Totals.Entries);
        Assert.True(Store.GetStatistics().FreeSegments > free + 70);
        Assert.Equal(TestBytes.Of(200_000), Cache.Get("run that stays"));
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Long_value_whose_place_a_sweep_has_passed_is_swept_when_its_time_comes()
    {
        // A value of 70,000 bytes is copied outside the lock: the sweep meets its gap.
        CairnStore store = Open(Options with { Path = PathOf("large.cairn"), CapacityBytes = 256L << 20 });
        store.DefaultCollection.Set("before", "value"u8, TimeSpan.FromSeconds(10));
        Clock.Advance(TimeSpan.FromSeconds(10));
        store.DefaultCollection.Set("long", new SweepingStream(store, 70_000), 70_000, Minute);

        Assert.Equal(1, store.GetStatistics().Totals.Entries);
        Clock.Advance(Minute);
        Sweep(store);
        Assert.Equal(0, store.GetStatistics().Totals.Entries);
        StoreAudit.Check(store);
    }

    [Fact]
    public void Kept_entries_that_expired_are_swept_and_the_others_are_kept()
    {
        CairnCollection kept = Store.Collection("kept", Kept);
        for (int i = 0; i < 300; i++)
        {
            kept.Set($"{i}", TestBytes.Of(500), i % 3 == 0 ? Expiration.None : Expiration.After(Minute));
        }

        Clock.Advance(Minute);
        Sweep(Store);

        Assert.Equal(100, Store.GetStatistics().Totals.Entries);
        Assert.Equal(100, Assert.Single(Store.GetStatistics().Collections).Entries);
        Assert.All(Enumerable.Range(0, 300), i => Assert.Equal(i % 3 == 0, kept.Contains($"{i}")));
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Swept_entry_of_a_logged_collection_stays_gone_when_the_store_is_rebuilt_from_its_log()
    {
        var logged = new CollectionOptions { Region = StoreRegion.Keep, Durability = Durability.GroupCommit };
        CairnCollection kept = Store.Collection("logged", logged);
        for (int i = 0; i < 50; i++)
        {
            kept.Set($"{i}", TestBytes.Of(100), i % 2 == 0 ? Expiration.None : Expiration.After(Minute));
        }

        Clock.Advance(Minute);
        Sweep(Store);
        Assert.Equal(25, Store.GetStatistics().Totals.Entries);
        Store.Dispose();
        StorePlatform.BootIdOverride = "11111111-2222-3333-4444-555555555555";
        try
        {
            CairnStore rebuilt = OpenAgain();
            kept = rebuilt.Collection("logged");
            Assert.All(Enumerable.Range(0, 50), i => Assert.Equal(i % 2 == 0, kept.Contains($"{i}")));
            Sweep(rebuilt);
            Assert.Equal(25, rebuilt.GetStatistics().Totals.Entries);
            StoreAudit.Check(rebuilt);
        }
        finally
        {
            StorePlatform.BootIdOverride = null;
        }
    }

    [Fact]
    public void Entries_of_an_encrypted_store_are_swept_too()
    {
        CairnStore store = Open(Options with { Path = PathOf("secret.cairn"), Encryption = StoreEncryption.FromKey(new byte[32]) });
        CairnCollection cache = store.DefaultCollection;
        cache.Set("key", "value"u8, Minute);
        cache.Set("stays", "value"u8);
        Clock.Advance(Minute);
        Sweep(store);

        Assert.Equal(1, store.GetStatistics().Totals.Entries);
        Assert.Equal("value", cache.GetString("stays"));
    }

    [Fact]
    public void Expired_value_with_a_lease_stays_until_the_lease_is_long_over()
    {
        Cache.Set("key", "stale"u8, Minute);
        Clock.Advance(Minute);
        Assert.Equal(LeaseStatus.Acquired, Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease));

        Clock.Advance(Minute);
        Sweep(Store);
        Assert.True(Cache.TryGetStale("key", new byte[8], out _));
        Assert.True(lease!.TrySet("late"u8, Minute));

        Assert.Equal("late", Cache.GetString("key"));
    }

    [Fact]
    public void Marker_of_a_lease_that_was_not_released_is_swept_and_is_no_expired_entry()
    {
        Assert.Equal(LeaseStatus.Acquired, Cache.AcquireLease("key", TimeSpan.Zero, out _));
        Assert.Equal(1, Store.GetStatistics().Totals.Entries);
        Clock.Advance(TimeSpan.FromMinutes(6));
        Sweep(Store);

        Assert.Equal(0, Store.GetStatistics().Totals.Entries);
        Assert.Equal(0, Store.GetStatistics().Totals.Expirations);
    }

    [Fact]
    public void Retention_leaves_expired_values_in_place_for_its_time()
    {
        CairnStore store = Open(Options with { ExpiredRetention = 2 * Minute });
        CairnCollection cache = store.DefaultCollection;
        cache.Set("key", "stale"u8, Minute);
        Clock.Advance(3 * Minute - TimeSpan.FromMilliseconds(1));
        Assert.Equal(0, store.SweepExpired().Removed);
        Assert.True(cache.TryGetStale("key", new byte[8], out _));
        Assert.False(cache.Contains("key"));

        Clock.Advance(TimeSpan.FromMilliseconds(1));
        Sweep(store);
        Assert.False(cache.TryGetStale("key", new byte[8], out _));
        Assert.Equal(0, store.GetStatistics().Totals.Entries);
    }

    [Fact]
    public void Clock_that_is_set_back_neither_ends_nor_delays_the_sweeping()
    {
        Cache.Set("a", "value"u8, Minute);
        Clock.Advance(TimeSpan.FromDays(1));
        Sweep(Store);
        Assert.Equal(0, Store.GetStatistics().Totals.Entries);

        Clock.Advance(-TimeSpan.FromDays(1));
        Cache.Set("b", "value"u8, TimeSpan.FromSeconds(10));
        Cache.Set("c", "value"u8, 2 * Minute);
        Clock.Advance(TimeSpan.FromSeconds(10));
        Sweep(Store);

        Assert.Equal(1, Store.GetStatistics().Totals.Entries);
        Assert.True(Cache.Contains("c"));
    }

    [Fact]
    public void Openings_share_one_sweep_and_none_looks_again_at_what_another_has_seen()
    {
        const int Count = 20_000;
        CairnStore other = OpenAgain();
        for (int i = 0; i < Count; i++)
        {
            Cache.Set($"{i}", TestBytes.Of(20), i % 10 == 0 ? 2 * Minute : 10 * Minute);
        }

        Clock.Advance(2 * Minute);
        SweepTurn second = default;
        using (var script = new ProtocolScript(ProtocolStep.SweepAdvanced, () => second = other.SweepExpired()))
        {
            // The second sweep starts in the middle of the first one's turn, which holds one partition.
            SweepTurn first = Store.SweepExpired();

            Assert.True(script.HasRun);
            Assert.Equal(Count / 10, first.Removed + second.Removed);
            Assert.InRange(first.Looked + second.Looked, Count * 9 / 10, Count);
        }

        Assert.Equal(Count * 9 / 10, Store.GetStatistics().Totals.Entries);
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Turn_whose_time_is_over_ends_and_the_next_turns_continue()
    {
        for (int i = 0; i < 2_000; i++)
        {
            Cache.Set($"{i}", TestBytes.Of(20), Minute);
        }

        Clock.Advance(Minute);
        long removed = 0;
        int turns = 0;
        while (removed < 2_000)
        {
            SweepTurn turn = Store.SweepExpired(longestTurn: TimeSpan.Zero);
            Assert.False(turn.IsComplete);
            Assert.InRange(turn.Looked, 1, 128);
            removed += turn.Removed;
            turns++;
            Clock.Advance(TimeSpan.FromSeconds(2)); // Before that, a segment is not due again.
        }

        Assert.True(turns > 100, $"{turns} turns removed everything.");
    }

    [Fact]
    public void Turn_that_finds_little_is_followed_by_a_pause_in_proportion()
    {
        for (int i = 0; i < 20_000; i++)
        {
            Cache.Set($"{i}", TestBytes.Of(20), i % 100 == 0 ? 2 * Minute : 10 * Minute);
        }

        CairnStore other = OpenAgain();
        Clock.Advance(2 * Minute);
        SweepTurn turn = other.SweepExpired();
        Cache.Set("more", "value"u8, TimeSpan.FromMilliseconds(1));
        Clock.Advance(TimeSpan.FromMilliseconds(1));

        Assert.True(turn.Looked > 0);
        Assert.True(turn.IsComplete);
        Assert.False(other.SweepExpired().IsComplete);
        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.True(other.SweepExpired().IsComplete);
    }

    [Fact]
    public void Old_segments_that_do_not_say_when_their_entries_expire_are_looked_through_once()
    {
        for (int i = 0; i < 100; i++)
        {
            Cache.Set($"{i}", TestBytes.Of(20), Minute);
        }

        ForgetDeadlines(Store);
        Clock.Advance(TimeSpan.FromSeconds(10));
        SweepTurn turn = Store.SweepExpired();
        Assert.Equal((100, 0), (turn.Looked, turn.Removed));
        Clock.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal(0, Store.SweepExpired().Looked);
        Clock.Advance(Minute);
        Assert.Equal(100, Store.SweepExpired().Removed);
    }

    [Fact]
    public void Partition_that_another_process_holds_is_left_to_the_next_turn()
    {
        Cache.Set("key", "value"u8, Minute);
        Clock.Advance(Minute);
        CairnStore other = OpenAgain();
        using (new HeldPartitions(other))
        {
            Assert.Equal(0, Store.SweepExpired().Removed);
        }

        Assert.Equal(1, Store.SweepExpired().Removed);
    }

    [Fact]
    public void Store_sweeps_by_itself_unless_the_option_is_off()
    {
        CairnStore store = Open(Options with { Path = PathOf("by itself.cairn"), TimeProvider = TimeProvider.System, RemovesExpired = true });
        store.DefaultCollection.Set("key", "value"u8, TimeSpan.FromMilliseconds(1));

        Assert.True(SpinWait.SpinUntil(() => store.GetStatistics().Totals.Entries == 0, TimeSpan.FromMinutes(2)));
        Assert.Equal(1, store.GetStatistics().Totals.Expirations);
    }

    // A sweep needs several turns. A segment that was just swept waits two seconds, and a pause follows a turn without result.
    private static void Sweep(CairnStore store)
    {
        var clock = (ManualClock)store.Options.TimeProvider;
        store.SweepExpired();
        clock.Advance(TimeSpan.FromSeconds(2.5));
        store.SweepExpired();
        clock.Advance(-TimeSpan.FromSeconds(2.5));
    }

    private static unsafe void ForgetDeadlines(CairnStore store)
    {
        for (int segment = 0; segment < store.Engine.Memory.SegmentCount; segment++)
        {
            store.Engine.Memory.Header(segment)->MinDeadline = 0;
        }
    }

    private int Fill(string prefix, int count, TimeSpan time)
    {
        for (int i = 0; i < count; i++)
        {
            Cache.Set($"{prefix} {i}", TestBytes.Of(1000), Expiration.After(time));
        }

        return count;
    }

    // A stream with a value of the caller. The store is swept while the stream is read.
    private sealed class SweepingStream(CairnStore store, int length) : MemoryStream(new byte[length])
    {
        private bool _hasSwept;

        public override int Read(byte[] buffer, int offset, int count)
        {
            if (!_hasSwept)
            {
                _hasSwept = true;
                Assert.Equal(1, store.SweepExpired().Removed);
            }

            return base.Read(buffer, offset, count);
        }
    }
}
