using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Storage;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Sizes;

/// <summary>A store of 4 GiB on a disk: offsets beyond 32 bits, every partition, the longest values.</summary>
public sealed unsafe class LargeStoreTests(ITestOutputHelper output)
{
    private const long CapacityBytes = 4L << 30;

    // Long enough that a third of them fills more than a segment in each partition.
    private const int Short = 8_000;

    [RequiresDiskFact(6)]
    public void Store_of_4_gib_holds_values_from_its_first_byte_to_its_last()
    {
        using var directory = new TestDirectory();
        var options = new StoreOptions { Path = directory["large.cairn"], CapacityBytes = CapacityBytes, FlushOnClose = false };
        using (CairnStore store = CairnStore.Open(options))
        {
            Assert.Equal((64, 64 << 20), (store.PartitionCount, store.MaxValueBytes));
            SetShort(store, 0, 10_000);

            // Takes new segments from here on: the middle of the file, where 31-bit offsets end, and the end of the file.
            StartTakingAt(store, (int)((int.MaxValue - store.Engine.Memory.Layout.SegmentsOffset) >> 20) - 32);
            Assert.True(store.DefaultCollection.Set("long:0", TestBytes.Of(store.MaxValueBytes, seed: 1)));
            SetShort(store, 10_000, 20_000);
            StartTakingAt(store, store.Engine.Memory.SegmentCount - 200);
            Assert.True(store.DefaultCollection.Set("long:1", TestBytes.Of(store.MaxValueBytes, seed: 2)));
            SetShort(store, 20_000, 30_000);

            Assert.InRange(PlaceOf(store, "0"), 0, 1L << 30);
            Assert.InRange(PlaceOf(store, "29999"), CapacityBytes - (256L << 20), CapacityBytes);
            Assert.Equal(30_002, store.GetStatistics().Totals.Entries);
        }

        Assert.InRange(new FileInfo(options.Path).Length, CapacityBytes - (1 << 20), CapacityBytes);
        VerifyReport report = StoreMaintenance.Verify(options.Path);
        Assert.True(report.IsSound, string.Join('\n', report.Findings));
        Assert.Equal(30_002, report.Entries);
        using CairnStore again = CairnStore.Open(options with { OpenMode = StoreOpenMode.OpenExisting });
        ExpectAll(again);
        if (TortureRun.IsLong)
        {
            Overfill(again);
        }

        output.WriteLine($"Verified in {report.Duration.TotalSeconds:N1} s.");
    }

    private static void SetShort(CairnStore store, int from, int to)
    {
        for (int i = from; i < to; i++)
        {
            Assert.True(store.DefaultCollection.Set($"{i}", TestBytes.Of(Short, seed: i)));
        }
    }

    private static void ExpectAll(CairnStore store)
    {
        for (int i = 0; i < 30_000; i++)
        {
            Assert.Equal(TestBytes.Of(Short, seed: i), store.DefaultCollection.Get($"{i}"));
        }

        Assert.Equal(TestBytes.Of(store.MaxValueBytes, seed: 1), store.DefaultCollection.Get("long:0"));
        Assert.Equal(TestBytes.Of(store.MaxValueBytes, seed: 2), store.DefaultCollection.Get("long:1"));
    }

    private static void Overfill(CairnStore store)
    {
        const int Values = 300_000;
        const int Length = 20_000;
        for (int i = 0; i < Values; i++)
        {
            Assert.True(store.DefaultCollection.Set($"{i}", TestBytes.Of(Length, seed: i)));
        }

        long found = Enumerable.Range(0, Values).Count(i => store.DefaultCollection.Get($"{i}") is { } value && value.AsSpan().SequenceEqual(TestBytes.Of(Length, seed: i)));
        Assert.InRange(found * Length, CapacityBytes * 3 / 4, CapacityBytes);
        Assert.Equal(0, store.GetStatistics().Totals.DamagedEntries);
        StoreAudit.Check(store);
    }

    // Returns the spare segments first. Otherwise the next segment of a partition would be one of those.
    private static void StartTakingAt(CairnStore store, int segment)
    {
        StoreMemory memory = store.Engine.Memory;
        for (int number = 0; number < memory.PartitionCount; number++)
        {
            while (store.Engine.Pool.PopSpare(memory.Partition(number), reserve: 0) is var spare and not -1)
            {
                store.Engine.Pool.GiveBack(memory.Partition(number), spare);
            }
        }

        memory.Super->FreeHint = segment;
        GC.KeepAlive(store);
    }

    private static long PlaceOf(CairnStore store, string key)
    {
        byte[] bytes = System.Text.Encoding.UTF8.GetBytes(key);
        fixed (byte* start = bytes)
        {
            KeyRef place = store.Engine.Place(start, bytes.Length, 0);
            Assert.True(HashIndex.Find(store.Engine.Memory, place.Place, start, bytes.Length, 0, out Located located));
            return Bucket.LocationOf(located.Slot);
        }
    }
}
