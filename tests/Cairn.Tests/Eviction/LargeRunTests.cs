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
}
