namespace Cairn.Tests;

/// <summary>The statistics of a store.</summary>
public sealed class StatisticsTests : StoreTest
{
    [Fact]
    public void Operations_are_counted()
    {
        for (int i = 0; i < 10; i++)
        {
            Cache.Set($"{i}", TestBytes.Of(100));
        }

        for (int i = 0; i < 15; i++)
        {
            Cache.Get($"{i}");
        }

        Cache.Remove("1");
        Cache.Remove("nothing");

        StoreStatistics statistics = Store.GetStatistics();
        Assert.Equal(9, statistics.Totals.Entries);
        Assert.Equal(10, statistics.Totals.Sets);
        Assert.Equal(10, statistics.Totals.Hits);
        Assert.Equal(5, statistics.Totals.Misses);
        Assert.Equal(1, statistics.Totals.Removals);
        Assert.Equal(10.0 / 15, statistics.Totals.HitRatio);
        Assert.InRange(statistics.Totals.Bytes, 9 * 121, 9 * 136);
        Assert.Equal(0, statistics.Totals.Evictions);
        Assert.Equal(1, statistics.Openings);
        Assert.Equal(Clock.Now, statistics.CreatedAt);
        Assert.Null(statistics.GrowthFailure);
        Assert.Equal(new FileInfo(FilePath).Length, statistics.FileBytes);
        Assert.Equal(Options.CapacityBytes, statistics.MaxCapacityBytes);
    }

    [Fact]
    public void Totals_are_the_sums_of_the_partitions()
    {
        for (int i = 0; i < 20_000; i++)
        {
            Cache.Set($"{i}", TestBytes.Of(i % 1000));
            Cache.Get($"{i / 2}");
        }

        StoreStatistics statistics = Store.GetStatistics();

        Assert.Equal(Store.PartitionCount, statistics.Partitions.Count);
        Assert.Equal(statistics.Partitions.Sum(p => p.Entries), statistics.Totals.Entries);
        Assert.Equal(statistics.Partitions.Sum(p => p.Bytes), statistics.Totals.Bytes);
        Assert.Equal(statistics.Partitions.Sum(p => p.Evictions), statistics.Totals.Evictions);
        Assert.Equal(20_000, statistics.Totals.Sets);
        Assert.Equal(20_000, statistics.Totals.Hits + statistics.Totals.Misses);
        Assert.True(statistics.Totals.Evictions > 0);
        Assert.Equal(Cache.Entries().Count(), statistics.Totals.Entries);
        Assert.Equal(statistics.Totals.Sets - statistics.Totals.Evictions, statistics.Totals.Entries);
    }

    [Fact]
    public void Books_are_exact_after_every_kind_of_change()
    {
        CairnCollection other = Store.Collection("other");
        var random = new Random(5);
        for (int i = 0; i < 20_000; i++)
        {
            CairnCollection target = random.Next(2) == 0 ? Cache : other;
            string key = $"{random.Next(2000)}";
            switch (random.Next(8))
            {
                case 0:
                    target.Remove(key);
                    break;
                case 1:
                    target.Append(key, TestBytes.Of(random.Next(100)));
                    break;
                case 2:
                    target.Touch(key, Expiration.None);
                    break;
                case 3:
                    target.Set(key, new byte[random.Next(20_000)]);
                    break;
                default:
                    target.Set(key, TestBytes.Of(random.Next(2000)));
                    break;
            }
        }

        StoreStatistics statistics = Store.GetStatistics();
        CollectionStatistics ofOther = Assert.Single(statistics.Collections);
        Assert.Equal(other.Entries().Count(), ofOther.Entries);
        Assert.Equal(Cache.Entries().Count() + ofOther.Entries, statistics.Totals.Entries);
        long values = Cache.Entries().Concat(other.Entries()).Sum(entry => (long)entry.Info.ValueBytes);
        Assert.InRange(statistics.Totals.Bytes, values, values + (statistics.Totals.Entries * 64));
        Assert.Equal(0, statistics.Totals.DamagedEntries);
        Assert.Equal(0, statistics.Totals.Recoveries);
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Every_segment_is_accounted_for()
    {
        for (int i = 0; i < 5_000; i++)
        {
            Cache.Set($"{i}", TestBytes.Of(3000));
            if (i % 100 == 0)
            {
                Cache.Set($"large {i}", TestBytes.Of(100_000));
            }
        }

        StoreStatistics statistics = Store.GetStatistics();
        Assert.Equal(
            statistics.Segments, statistics.FreeSegments + (int)(statistics.Totals.SegmentBytes / statistics.BytesPerSegment));
    }

    [Fact]
    public void Hits_of_other_openings_are_counted_also_when_they_have_closed()
    {
        Cache.Set("key", "value"u8);
        CairnStore other = Open(Options);
        for (int i = 0; i < 7; i++)
        {
            other.DefaultCollection.Get("key");
        }

        Assert.Equal(2, Store.GetStatistics().Openings);
        other.Dispose();

        StoreStatistics statistics = Store.GetStatistics();
        Assert.Equal(7, statistics.Totals.Hits);
        Assert.Equal(1, statistics.Openings);
    }

    [Fact]
    public void Statistics_survive_closing_and_opening()
    {
        CairnStore first = Open(Options);
        first.DefaultCollection.Set("key", "value"u8);
        first.DefaultCollection.Get("key");
        first.Dispose();

        StoreStatistics statistics = Store.GetStatistics();

        Assert.Equal(1, statistics.Totals.Entries);
        Assert.Equal(1, statistics.Totals.Hits);
        Assert.Equal(1, statistics.Totals.Sets);
    }

    [Fact]
    public void Biggest_keys_come_longest_first_from_all_collections()
    {
        for (int i = 1; i <= 100; i++)
        {
            (i % 2 == 0 ? Cache : Store.Collection("odd")).Set($"{i}", new byte[i * 100]);
        }

        IReadOnlyList<EntrySize> biggest = Store.GetBiggestKeys(3);

        Assert.Equal(["100", "99", "98"], biggest.Select(entry => entry.KeyText));
        Assert.Equal(["", "odd", ""], biggest.Select(entry => entry.Collection));
        Assert.Equal([10_000, 9_900, 9_800], biggest.Select(entry => entry.ValueBytes));
        Assert.Equal(100, Store.GetBiggestKeys(1000).Count);
        Assert.Throws<ArgumentOutOfRangeException>(() => Store.GetBiggestKeys(0));
        Assert.Throws<ArgumentOutOfRangeException>(() => Store.GetBiggestKeys(10_001));
        Assert.Throws<OperationCanceledException>(() => Store.GetBiggestKeys(1, new CancellationToken(canceled: true)));
    }

    [Fact]
    public void Histogram_counts_values_by_powers_of_two()
    {
        foreach (int length in (int[])[0, 1, 2, 3, 4, 7, 8, 1023, 1024])
        {
            Cache.Set($"{length}", new byte[length]);
        }

        SizeHistogram histogram = Store.GetSizeHistogram();

        Assert.Equal(
            [
                new SizeBin(0, 0, 1, 0), new SizeBin(1, 1, 1, 1), new SizeBin(2, 3, 2, 5), new SizeBin(4, 7, 2, 11),
                new SizeBin(8, 15, 1, 8), new SizeBin(512, 1023, 1, 1023), new SizeBin(1024, 2047, 1, 1024),
            ],
            histogram.Bins);
        Assert.Equal(9, histogram.Entries);
        Assert.Equal(2072, histogram.ValueBytes);
        Assert.Throws<OperationCanceledException>(() => Store.GetSizeHistogram(new CancellationToken(canceled: true)));
    }
}
