using Cairn.Segments;
using Cairn.Storage;

namespace Cairn.Tests.Eviction;

/// <summary>The choice of the entries that stay when the store has too little room for all.</summary>
public sealed class EvictionTests : StoreTest
{
    private const long LoopBytes = 4 << 20;

    [Theory]
    [InlineData(StoreLimits.MinCapacityBytes)]
    [InlineData(8L << 20)]
    [InlineData(32L << 20)]
    public void Store_of_any_size_takes_more_than_it_holds_and_serves_only_right_values(long capacityBytes)
    {
        CairnStore store = Open(Options with { CapacityBytes = capacityBytes });
        int entries = (int)(3 * capacityBytes / 500);
        for (int i = 0; i < entries; i++)
        {
            Assert.True(store.DefaultCollection.Set($"{i}", BitConverter.GetBytes(i).Concat(new byte[400]).ToArray()));
        }

        int found = 0;
        for (int i = 0; i < entries; i++)
        {
            if (store.DefaultCollection.Get($"{i}") is { } value)
            {
                Assert.Equal(i, BitConverter.ToInt32(value));
                found++;
            }
        }

        StoreAudit.Check(store);
        StoreStatistics statistics = store.GetStatistics();
        Assert.Equal(found, statistics.Totals.Entries);
        Assert.True(statistics.Totals.Bytes > capacityBytes / 2, $"only {statistics.Totals.Bytes:N0} bytes are used");
        Assert.Equal(0, statistics.Totals.DamagedEntries);
        Assert.Equal(0, statistics.Totals.Declined);
    }

    [Fact]
    public void Entries_in_use_survive_a_flood_of_others()
    {
        int misses = 0;
        for (int i = 0; i < 60_000; i++)
        {
            if (Cache.Get($"hot {i % 2000}") is null)
            {
                misses++;
                Cache.Set($"hot {i % 2000}", TestBytes.Of(400));
            }

            Cache.Set($"flood {i}", TestBytes.Of(400));
        }

        Assert.InRange(misses, 2000, 3000);
    }

    // The survivors of a victim can open a segment of the log whose next segment the victim makes room for.
    [Fact]
    public unsafe void Segments_are_sealed_only_when_they_are_full()
    {
        CairnStore store = Open(Options with { CapacityBytes = LoopBytes });
        var random = new Random(1);
        long entryBytes = 0;
        for (int i = 0; i < 100_000; i++)
        {
            byte[] key = BitConverter.GetBytes((int)Math.Pow(30_000, random.NextDouble()));
            if (store.DefaultCollection.Get(key) is null)
            {
                store.DefaultCollection.Set(key, new byte[400]);
                entryBytes = entryBytes > 0 ? entryBytes : store.GetStatistics().Totals.Bytes;
            }
        }

        StoreMemory memory = store.Engine.Memory;
        for (int segment = 0; segment < memory.SegmentCount; segment++)
        {
            if (memory.Header(segment)->State == SegmentState.Sealed)
            {
                Assert.InRange(memory.Header(segment)->Tail, memory.SegmentBytes - entryBytes + 1, memory.SegmentBytes);
            }
        }
    }

    [Theory]
    [InlineData(1.15, 60)]
    [InlineData(2.0, 30)]
    [InlineData(4.0, 12)]
    public void Loop_over_more_keys_than_fit_finds_a_part_of_them_in_each_round(double timesTheRoom, int leastPercent)
    {
        int keys = (int)(timesTheRoom * RoomOf(LoopBytes));
        CairnCollection cache = Open(Options with { CapacityBytes = LoopBytes }).DefaultCollection;
        for (int round = 0; round < 15; round++)
        {
            Loop(cache, "key", keys);
        }

        int hits = Loop(cache, "key", keys);

        Assert.InRange(100.0 * hits / keys, leastPercent, 100 / timesTheRoom);
    }

    [Fact]
    public void Loop_takes_the_room_of_entries_that_are_not_used_any_more()
    {
        int room = RoomOf(LoopBytes);
        CairnCollection cache = Open(Options with { CapacityBytes = LoopBytes }).DefaultCollection;
        for (int round = 0; round < 3; round++)
        {
            Loop(cache, "old", room / 2);
        }

        for (int round = 0; round < 30; round++)
        {
            Loop(cache, "new", 3 * room);
        }

        int hits = Loop(cache, "new", 3 * room);

        Assert.InRange(100.0 * hits / (3 * room), 15, 100.0 / 3);
    }

    [Fact]
    public void Entries_that_are_used_again_replace_those_that_were_in_use_before()
    {
        int room = RoomOf(LoopBytes);
        CairnCollection cache = Open(Options with { CapacityBytes = LoopBytes }).DefaultCollection;
        for (int round = 0; round < 6; round++)
        {
            Loop(cache, "old", room);
        }

        for (int round = 0; round < 12; round++)
        {
            Loop(cache, "new", room * 4 / 5);
        }

        int hits = Loop(cache, "new", room * 4 / 5);

        Assert.InRange(100.0 * hits / (room * 4 / 5), 90, 100);
    }

    // An order of arrival keeps all of them until they are read. The main log would be full of keys that no request uses again.
    [Fact]
    public void Entries_that_are_read_once_soon_after_they_were_written_are_kept_until_then()
    {
        int room = RoomOf(LoopBytes);
        CairnCollection cache = Open(Options with { CapacityBytes = LoopBytes }).DefaultCollection;
        var random = new Random(1);
        var due = new PriorityQueue<int, int>();
        int reads = 0;
        int hits = 0;
        for (int i = 0; i < 20 * room; i++)
        {
            Request(i);
            due.Enqueue(i, i + 1 + random.Next(room * 6 / 10));
            while (due.TryPeek(out int key, out int time) && time <= i)
            {
                due.Dequeue();
                bool isHit = Request(key);
                reads += i > 10 * room ? 1 : 0;
                hits += isHit && i > 10 * room ? 1 : 0;
            }
        }

        Assert.InRange(100.0 * hits / reads, 90, 100);

        bool Request(int key)
        {
            bool isHit = cache.Get($"key {key}") is not null;
            if (!isHit)
            {
                cache.Set($"key {key}", new byte[400]);
            }

            return isHit;
        }
    }

    [Fact]
    public void Entries_far_smaller_than_expected_displace_each_other_and_stay_right()
    {
        CairnStore store = Open(Options with { AverageEntryBytes = 4096 });
        for (int i = 0; i < 50_000; i++)
        {
            Assert.True(store.DefaultCollection.Set(BitConverter.GetBytes(i), BitConverter.GetBytes(i)));
        }

        StoreStatistics statistics = store.GetStatistics();
        Assert.True(statistics.Totals.Displacements > 0);
        Assert.InRange(statistics.Totals.Entries, 1, statistics.IndexSlots);
        int found = 0;
        for (int i = 0; i < 50_000; i++)
        {
            if (store.DefaultCollection.Get(BitConverter.GetBytes(i)) is { } value)
            {
                Assert.Equal(i, BitConverter.ToInt32(value));
                found++;
            }
        }

        Assert.Equal(statistics.Totals.Entries, found);
    }

    [Fact]
    public void Small_and_large_values_take_each_others_place()
    {
        for (int round = 0; round < 10; round++)
        {
            for (int i = 0; i < 3000; i++)
            {
                Assert.True(Cache.Set($"small {round} {i}", TestBytes.Of(2000, seed: i)));
            }

            for (int i = 0; i < 5; i++)
            {
                Assert.True(Cache.Set($"large {round} {i}", TestBytes.Of(1 << 20, seed: i)), $"round {round}, value {i}");
                Assert.Equal(TestBytes.Of(1 << 20, seed: i), Cache.Get($"large {round} {i}"));
            }
        }

        StoreAudit.Check(Store);
        Assert.Equal(0, Store.GetStatistics().Totals.Declined);
    }

    [Fact]
    public void Smallest_store_takes_its_longest_value_again_and_again()
    {
        CairnStore store = Open(Options with { CapacityBytes = StoreLimits.MinCapacityBytes });
        CairnCollection cache = store.DefaultCollection;
        for (int i = 0; i < 300; i++)
        {
            Assert.True(cache.Set($"{i}", TestBytes.Of(store.MaxValueBytes, seed: i)), $"value {i}");
            Assert.Equal(TestBytes.Of(store.MaxValueBytes, seed: i), cache.Get($"{i}"));
            Assert.True(cache.Set($"small {i}", TestBytes.Of(i)));
        }

        Assert.Equal(StoreLimits.MinCapacityBytes, new FileInfo(FilePath).Length);
    }

    [Fact]
    public void Values_overwritten_all_the_time_leave_the_others_alone()
    {
        for (int i = 0; i < 1000; i++)
        {
            Cache.Set($"kept {i}", TestBytes.Of(1000, seed: i));
        }

        for (int i = 0; i < 50_000; i++)
        {
            Cache.Set($"counter {i % 10}", TestBytes.Of(500));
        }

        int kept = Enumerable.Range(0, 1000).Count(i => Cache.Contains($"kept {i}"));
        Assert.True(kept > 950, $"{kept} of 1000");
    }

    [Fact]
    public void Key_that_comes_back_soon_is_remembered()
    {
        for (int round = 0; round < 4; round++)
        {
            for (int i = 0; i < 20_000; i++)
            {
                Cache.Set($"{i}", TestBytes.Of(400));
            }
        }

        Assert.True(Store.GetStatistics().Totals.GhostHits > 0);
    }

    [Fact]
    public void Entries_that_expire_together_go_before_those_that_do_not()
    {
        for (int i = 0; i < 3000; i++)
        {
            Cache.Set($"lasting {i}", TestBytes.Of(1000));
        }

        for (int round = 0; round < 20; round++)
        {
            for (int i = 0; i < 1000; i++)
            {
                Cache.Set($"passing {round} {i}", TestBytes.Of(1000), TimeSpan.FromSeconds(5));
            }

            Clock.Advance(TimeSpan.FromSeconds(6));
        }

        int kept = Enumerable.Range(0, 3000).Count(i => Cache.Contains($"lasting {i}"));
        Assert.True(kept > 2700, $"{kept} of 3000");
    }

    [Fact]
    public void Store_full_of_large_values_takes_more_of_them()
    {
        for (int round = 0; round < 200; round++)
        {
            int length = (round * 7919 % 1_000_000) + 40_000;
            Assert.True(Cache.Set($"{round}", TestBytes.Of(length, seed: round)), $"value {round} of {length} bytes");
            Assert.Equal(TestBytes.Of(length, seed: round), Cache.Get($"{round}"));
        }
    }

    [Theory]
    [InlineData(StoreLimits.MinCapacityBytes, 1)]
    [InlineData(8L << 20, 2)]
    [InlineData(20L << 20, 3)]
    public void Values_of_every_length_are_taken_and_every_partition_keeps_room_to_work(long capacityBytes, int seed)
    {
        CairnStore store = Open(Options with { CapacityBytes = capacityBytes });
        var random = new Random(seed);
        for (int i = 0; i < 4000; i++)
        {
            int length = (int)(store.MaxValueBytes * Math.Pow(random.NextDouble(), random.Next(2) == 0 ? 1 : 8));
            Assert.True(store.DefaultCollection.Set($"{random.Next(300)}", new byte[length]), $"value {i} of {length} bytes");
        }

        StoreStatistics statistics = store.GetStatistics();
        Assert.All(statistics.Partitions, p => Assert.True(p.SegmentBytes >= 4 * statistics.BytesPerSegment));
        Assert.Equal(0, statistics.Totals.DamagedEntries);
        StoreAudit.Check(store);
    }

    // The number of entries that Loop writes and a store of this size holds at once.
    private int RoomOf(long capacityBytes)
    {
        using CairnStore store = CairnStore.Open(Options with { Path = FilePath + ".room", CapacityBytes = capacityBytes });
        Loop(store.DefaultCollection, "key", (int)(capacityBytes / 200));
        return (int)store.GetStatistics().Totals.Entries;
    }

    // Requests each key once, and writes it if it is missing. Returns the number of hits.
    private static int Loop(CairnCollection cache, string prefix, int keys)
    {
        int hits = 0;
        for (int i = 0; i < keys; i++)
        {
            if (cache.Get($"{prefix} {i}") is not null)
            {
                hits++;
                continue;
            }

            cache.Set($"{prefix} {i}", new byte[400]);
        }

        return hits;
    }
}
