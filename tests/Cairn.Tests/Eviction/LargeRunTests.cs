namespace Cairn.Tests.Eviction;

/// <summary>The segments that are reclaimed for a value longer than a segment.</summary>
public sealed class LargeRunTests : StoreTest
{
    private const int Large = 256 << 10;

    [Fact]
    public void Entries_of_an_almost_empty_store_outlive_a_large_value_that_is_replaced_again_and_again()
    {
        // Each value fills a segment of its own, between the segments that the large value releases.
        byte[] kept = TestBytes.Of((int)(Store.GetStatistics().BytesPerSegment * 3 / 4));
        for (int round = 0; round < 80; round++)
        {
            if (round < 30)
            {
                Assert.True(Cache.Set($"kept {round}", kept));
            }

            Assert.True(Cache.Set("large", TestBytes.Of(Large, seed: round)));
        }

        Assert.All(Enumerable.Range(0, 30), round => Assert.True(Cache.Contains($"kept {round}"), $"number {round} is lost"));
        Assert.Equal(TestBytes.Of(Large, seed: 79), Cache.Get("large"));
        Assert.Equal(0, Store.GetStatistics().Totals.Evictions);
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Entries_set_after_each_clearing_outlive_the_large_value_that_follows_them()
    {
        byte[] large = TestBytes.Of(Large);
        for (int round = 0; round < 200; round++)
        {
            Assert.True(Cache.Clear());
            Assert.True(Cache.Set("first", "1"u8));
            Assert.True(Cache.Set("second", "2"u8));
            Assert.True(Cache.Set("large", large));

            Assert.True(Cache.Contains("first") && Cache.Contains("second"), $"lost in round {round}");
        }

        Assert.Equal(0, Store.GetStatistics().Totals.Evictions);
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Entries_outlive_large_values_that_have_expired_or_were_removed()
    {
        Assert.True(Cache.Set("kept", "1"u8));
        for (int round = 0; round < 80; round++)
        {
            Assert.True(Cache.Set("expiring", TestBytes.Of(Large), TimeSpan.FromSeconds(5)));
            Assert.True(Cache.Set($"removed {round}", TestBytes.Of(Large)));
            Assert.True(Cache.Set($"{round}", "1"u8, TimeSpan.FromSeconds(5)));
            Assert.True(Cache.Remove($"removed {round}"));
            Clock.Advance(TimeSpan.FromSeconds(6));
        }

        Assert.True(Cache.Contains("kept"));
        Assert.Equal(0, Store.GetStatistics().Totals.Evictions);
    }

    [Fact]
    public void File_does_not_grow_for_a_large_value_that_fits_where_nothing_is_alive()
    {
        CairnStore store = Open(Options with { CapacityBytes = 4L << 20, MaxCapacityBytes = 16L << 20 });
        long before = store.GetStatistics().FileBytes;
        for (int round = 0; round < 80; round++)
        {
            Assert.True(store.DefaultCollection.Set("large", TestBytes.Of(Large, seed: round)));
        }

        Assert.Equal(before, store.GetStatistics().FileBytes);
        Assert.Equal(TestBytes.Of(Large, seed: 79), store.DefaultCollection.Get("large"));
    }

    [Fact]
    public void Values_longer_than_a_segment_that_are_used_survive_many_that_are_not()
    {
        CairnStore store = OpenForRuns();
        CairnCollection cache = store.DefaultCollection;
        byte[] value = TestBytes.Of(store.GetStatistics().BytesPerSegment * 5 / 2);
        Assert.All(Enumerable.Range(0, 8), hot => Assert.True(cache.Set($"hot {hot}", value)));

        for (int round = 0; round < 2000; round++)
        {
            Assert.True(cache.Set($"cold {round}", value));
            Assert.All(Enumerable.Range(0, 8), hot => Assert.True(cache.Get($"hot {hot}") is not null, $"{hot} is lost in round {round}"));
        }

        StoreAudit.Check(store);
    }

    [Fact]
    public void Most_of_the_youngest_values_longer_than_a_segment_outlive_older_ones()
    {
        CairnStore store = OpenForRuns();
        byte[] value = TestBytes.Of(store.GetStatistics().BytesPerSegment * 5 / 2);
        for (int round = 0; round < 2000; round++)
        {
            Assert.True(store.DefaultCollection.Set($"{round}", value));
        }

        int youngest = store.GetStatistics().Segments / 3 / 8;
        int found = Enumerable.Range(2000 - youngest, youngest).Count(round => store.DefaultCollection.Contains($"{round}"));
        Assert.True(found > youngest * 3 / 4, $"only {found} of {youngest} are left");
        StoreAudit.Check(store);
    }

    [Theory]
    [InlineData(100)]
    [InlineData(50)]
    public void Values_longer_than_a_segment_hit_nearly_as_often_as_with_the_order_of_the_last_use(int longPercent)
    {
        const int Keys = 3000;
        const int Requests = 20_000;
        CairnStore store = OpenForRuns();
        StoreStatistics statistics = store.GetStatistics();
        int segment = statistics.BytesPerSegment;
        var random = new Random(1);
        int[] sizes = [.. Enumerable.Range(0, Keys + (Requests / 10)).Select(_ => random.Next(100) < longPercent ? segment * random.Next(10, 40) / 10 : segment / 4)];
        byte[] value = TestBytes.Of(4 * segment);
        var lru = new LruModel((long)statistics.Segments * segment);
        int hits = 0;

        for (int request = 0; request < Requests; request++)
        {
            // The most popular key changes all the time.
            int key = (request / 10) + (int)(Keys * Math.Pow(random.NextDouble(), 6));
            lru.Request(key, sizes[key]);
            if (store.DefaultCollection.Get($"{key}") is not null)
            {
                hits++;
            }
            else
            {
                Assert.True(store.DefaultCollection.Set($"{key}", value.AsSpan(0, sizes[key])));
            }
        }

        Assert.True(hits > lru.Hits * 4 / 5, $"{hits} hits, {lru.Hits} in the order of the last use");
        StoreAudit.Check(store);
    }

    private CairnStore OpenForRuns() => Open(Options with { CapacityBytes = 3L << 20, AverageEntryBytes = 4096 });

    private sealed class LruModel(long capacityBytes)
    {
        private readonly LinkedList<(int Key, int Bytes)> _order = new();
        private readonly Dictionary<int, LinkedListNode<(int Key, int Bytes)>> _nodes = [];
        private long _bytes;

        public int Hits { get; private set; }

        public void Request(int key, int bytes)
        {
            if (_nodes.Remove(key, out LinkedListNode<(int Key, int Bytes)>? node))
            {
                Hits++;
                _order.Remove(node);
                _bytes -= bytes;
            }

            while (_bytes + bytes > capacityBytes)
            {
                (int oldest, int freed) = _order.Last!.Value;
                _order.RemoveLast();
                _nodes.Remove(oldest);
                _bytes -= freed;
            }

            _nodes.Add(key, _order.AddFirst((key, bytes)));
            _bytes += bytes;
        }
    }
}
