namespace Cairn.Tests.Eviction;

/// <summary>Room of overwritten and removed entries is used again before the file grows, and mostly before free segments.</summary>
public sealed class ReuseTests : StoreTest
{
    private const int Keys = 500;
    private const int ValueBytes = 400;

    private StoreOptions Growing => Options with { CapacityBytes = 16 << 20, MaxCapacityBytes = 64 << 20 };

    [Fact]
    public void File_does_not_grow_for_entries_that_are_overwritten()
    {
        CairnStore store = Open(Growing);
        long before = store.GetStatistics().FileBytes;

        Overwrite(store, rounds: 200);

        StoreStatistics statistics = store.GetStatistics();
        Assert.True(Keys * ValueBytes * 200L > 2 * statistics.FileBytes, "The rounds must write more than the file.");
        Assert.Equal(before, statistics.FileBytes);
        AssertHasRound(store, 199);
    }

    [Fact]
    public void Segments_of_a_growing_file_are_at_most_three_times_as_large_as_the_live_entries()
    {
        CairnStore store = Open(Growing);
        var random = new Random(1);
        for (int i = 0; i < 200_000; i++)
        {
            // 8 MB of keys. Nine writes in ten go to a tenth of them.
            int key = random.Next(10) == 0 ? random.Next(20_000) : random.Next(2000);
            Assert.True(store.DefaultCollection.Set($"{key}", TestBytes.Of(ValueBytes)));
        }

        StoreStatistics statistics = store.GetStatistics();
        Assert.InRange((long)statistics.Segments * statistics.BytesPerSegment, statistics.Totals.Bytes, statistics.Totals.Bytes * 3);
        Assert.Equal(0, statistics.Totals.Evictions);
        StoreAudit.Check(store);
    }

    [Fact]
    public void Overwritten_segments_are_used_again_before_all_free_ones_are_in_use()
    {
        CairnStore store = Open(Options with { CapacityBytes = 64 << 20 });
        int all = store.GetStatistics().Segments;

        Overwrite(store, rounds: 500);

        StoreStatistics statistics = store.GetStatistics();
        Assert.True(Keys * ValueBytes * 500L > statistics.FileBytes, "The rounds must write more than the file.");
        Assert.InRange(statistics.FreeSegments, all / 2, all);
        AssertHasRound(store, 499);
    }

    [Theory]
    [InlineData(1, 16 << 20, 64 << 20)]
    [InlineData(2, 16 << 20, 64 << 20)]
    [InlineData(3, 32 << 20, 0)]
    [InlineData(4, 32 << 20, 0)]
    public void No_entry_is_lost_while_the_store_has_room(int seed, long capacity, long most)
    {
        CairnStore store = Open(Options with { CapacityBytes = capacity, MaxCapacityBytes = most });
        var random = new Random(seed);
        var model = new Dictionary<int, byte[]>();
        for (int i = 0; i < 100_000; i++)
        {
            int key = random.Next(4) == 0 ? random.Next(10_000) : random.Next(300);
            switch (random.Next(10))
            {
                case 0:
                    Assert.Equal(model.Remove(key), store.DefaultCollection.Remove($"{key}"));
                    break;
                case 1 when random.Next(50) == 0:
                    byte[] large = TestBytes.Of(100_000 + random.Next(200_000), seed: i);
                    Assert.True(store.DefaultCollection.Set($"{key}", large));
                    model[key] = large;
                    break;
                default:
                    byte[] value = TestBytes.Of(random.Next(600), seed: i);
                    Assert.True(store.DefaultCollection.Set($"{key}", value));
                    model[key] = value;
                    break;
            }
        }

        Assert.Equal(0, store.GetStatistics().Totals.Evictions);
        Assert.All(model, pair => Assert.Equal(pair.Value, store.DefaultCollection.Get($"{pair.Key}")));
        StoreAudit.Check(store);
    }

    [Fact]
    public void Expired_entries_stay_for_their_retention_while_the_store_has_room()
    {
        CairnStore store = Open(Growing with { ExpiredRetention = TimeSpan.FromHours(1) });
        Assert.True(store.DefaultCollection.Set("stale", TestBytes.Of(ValueBytes), Expiration.After(TimeSpan.FromMinutes(1))));
        Clock.Advance(TimeSpan.FromMinutes(2));

        Overwrite(store, rounds: 100);

        Assert.Equal(Keys + 1, store.GetStatistics().Totals.Entries);
    }

    private static void Overwrite(CairnStore store, int rounds)
    {
        for (int round = 0; round < rounds; round++)
        {
            for (int key = 0; key < Keys; key++)
            {
                Assert.True(store.DefaultCollection.Set($"{key}", TestBytes.Of(ValueBytes, seed: round)));
            }
        }
    }

    private static void AssertHasRound(CairnStore store, int round)
    {
        byte[] expected = TestBytes.Of(ValueBytes, seed: round);
        for (int key = 0; key < Keys; key++)
        {
            Assert.Equal(expected, store.DefaultCollection.Get($"{key}"));
        }

        Assert.Equal(0, store.GetStatistics().Totals.Evictions);
        StoreAudit.Check(store);
    }
}
