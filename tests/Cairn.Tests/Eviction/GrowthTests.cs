using Cairn.Concurrency;
using Cairn.Platform;

namespace Cairn.Tests.Eviction;

/// <summary>A file that grows up to a maximum.</summary>
public sealed class GrowthTests : StoreTest
{
    private const long Least = 4L << 20;
    private const long Most = 16L << 20;

    private StoreOptions Growing => Options with { CapacityBytes = Least, MaxCapacityBytes = Most };

    [Fact]
    public void File_grows_before_anything_is_evicted_and_stops_at_its_maximum()
    {
        CairnStore store = Open(Growing);
        long before = new FileInfo(FilePath).Length;
        Assert.InRange(before, Least / 2, Least);

        int stored = 0;
        while (store.GetStatistics().Totals.Evictions == 0)
        {
            Assert.True(store.DefaultCollection.Set($"{stored}", TestBytes.Of(2000)));
            stored++;
        }

        Assert.InRange(stored * 2000L, Most / 2, Most);
        for (int i = 0; i < 10_000; i++)
        {
            Assert.True(store.DefaultCollection.Set($"{i}", TestBytes.Of(2000)));
        }

        StoreStatistics statistics = store.GetStatistics();
        Assert.Equal(new FileInfo(FilePath).Length, statistics.FileBytes);
        Assert.InRange(statistics.FileBytes, Most * 9 / 10, Most);
        Assert.Equal(Most / 8, store.MaxValueBytes);
    }

    [Fact]
    public void Value_that_reaches_into_what_another_has_just_grown_is_seen_whole()
    {
        CairnStore grower = Open(Growing);
        CairnStore reader = Open(Growing);
        CairnStore writer = Open(Growing);
        long size = new FileInfo(FilePath).Length;
        for (int i = 0; new FileInfo(FilePath).Length < Most * 8 / 10; i++)
        {
            // Odd lengths, so that a run begins before the former end and ends behind it.
            byte[] value = TestBytes.Of(100_000 + (i % 7 * 20_000), seed: i);
            Assert.True(grower.DefaultCollection.Set($"{i}", value));

            Assert.Equal(value, reader.DefaultCollection.Get($"{i}"));
            Assert.True(writer.DefaultCollection.Set($"{i}", value.AsSpan(1)));
            Assert.Equal(value[1..], grower.DefaultCollection.Get($"{i}"));
        }

        StoreAudit.Check(reader);

        Assert.True(new FileInfo(FilePath).Length > size);
    }

    [Fact]
    public void Others_use_what_one_has_grown()
    {
        CairnStore grower = Open(Growing);
        CairnStore other = Open(Growing);
        for (int i = 0; i < 5000; i++)
        {
            Assert.True((i % 2 == 0 ? grower : other).DefaultCollection.Set($"{i}", TestBytes.Of(2000, seed: i)));
        }

        for (int i = 0; i < 5000; i++)
        {
            Assert.Equal(TestBytes.Of(2000, seed: i), (i % 3 == 0 ? grower : other).DefaultCollection.Get($"{i}"));
        }

        Assert.Equal(0, grower.GetStatistics().Totals.Evictions);
        Assert.Equal(grower.GetStatistics().FileBytes, other.GetStatistics().FileBytes);
    }

    [Fact]
    public void Opening_that_has_not_noticed_the_growth_loses_none_of_the_new_segments()
    {
        CairnStore grower = Open(Growing);
        CairnStore other = Open(Growing);
        for (int i = 0; i < 20_000; i++)
        {
            grower.DefaultCollection.Set($"{i}", TestBytes.Of(2000));
        }

        // While another process holds the gate, as during an opening, this opening cannot try to grow the file.
        using StoreFile opening = HostPlatform.Current.Open(FilePath);
        Assert.True(opening.TryLockByte(OwnerTable.GateByte));
        for (int i = 0; i < 20_000; i++)
        {
            Assert.True(other.DefaultCollection.Set($"{i}", TestBytes.Of(2000)));
        }

        StoreAudit.Check(grower);
        opening.UnlockByte(OwnerTable.GateByte);
    }

    [Fact]
    public void Grown_store_is_the_same_when_it_is_opened_again()
    {
        CairnStore first = Open(Growing);
        for (int i = 0; i < 5000; i++)
        {
            first.DefaultCollection.Set($"{i}", TestBytes.Of(2000, seed: i));
        }

        first.Dispose();

        CairnStore second = Open(Options);
        for (int i = 0; i < 5000; i++)
        {
            Assert.Equal(TestBytes.Of(2000, seed: i), second.DefaultCollection.Get($"{i}"));
        }
    }

    [Fact]
    public void Large_value_makes_the_file_grow()
    {
        CairnStore store = Open(Growing);
        for (int i = 0; i < 7; i++)
        {
            Assert.True(store.DefaultCollection.Set($"{i}", TestBytes.Of((int)(Most / 8), seed: i)));
            Assert.Equal(TestBytes.Of((int)(Most / 8), seed: i), store.DefaultCollection.Get($"{i}"));
        }

        Assert.True(store.GetStatistics().FileBytes > Least);
    }

    [Fact]
    public async Task Several_threads_and_openings_may_grow_at_once()
    {
        CairnStore[] stores = [Open(Growing), Open(Growing)];

        await Task.WhenAll(Enumerable.Range(0, 4).Select(thread => OwnThread.Run(() =>
        {
            for (int i = 0; i < 1200; i++)
            {
                Assert.True(stores[thread % 2].DefaultCollection.Set($"{thread}:{i}", TestBytes.Of(2000, seed: i)));
            }
        })));

        // A thread that does not get the gate at once evicts instead. So the number depends on the scheduler, and at least the smallest file is full.
        int found = 0;
        for (int thread = 0; thread < 4; thread++)
        {
            for (int i = 0; i < 1200; i++)
            {
                if (stores[thread % 2].DefaultCollection.Get($"{thread}:{i}") is { } value)
                {
                    Assert.Equal(TestBytes.Of(2000, seed: i), value);
                    found++;
                }
            }
        }

        Assert.InRange(found, Least / 4000, 4800);
        Assert.True(stores[0].GetStatistics().FileBytes > Least);
        StoreAudit.Check(stores[0]);
    }
}
