using Cairn.Eviction.SegmentedFifo;
using Cairn.Storage;

namespace Cairn.Tests.Eviction;

/// <summary>The table of keys that were evicted.</summary>
public sealed unsafe class GhostTableTests : StoreTest
{
    // So many entries that the whole table is used.
    private const long Many = long.MaxValue / 16;

    [Fact]
    public void Remembered_key_is_found_once()
    {
        var ghosts = new GhostTable(Store.Engine.Memory);
        KeyPlacement place = Place(1);

        Assert.Equal(GhostHit.None, ghosts.Remove(place, Many));
        ghosts.Add(place, Many, isMain: false);

        Assert.Equal(GhostHit.YoungOfSmall, ghosts.Remove(place, Many));
        Assert.Equal(GhostHit.None, ghosts.Remove(place, Many));
    }

    [Fact]
    public void Table_knows_which_log_a_key_left_and_whether_that_was_lately()
    {
        var ghosts = new GhostTable(Store.Engine.Memory);
        int capacity = Store.PartitionCount * Store.Engine.Memory.Layout.GhostBucketsPerPartition * 31;
        for (int i = 0; i < capacity; i++)
        {
            ghosts.Add(Place(i), Many, isMain: i % 10 == 0);
        }

        // The buckets are filled at random, so the ages of keys near the limit are not exact.
        int young = Enumerable.Range(capacity * 7 / 10, capacity * 3 / 10).Count(i => i % 10 != 0 && ghosts.Remove(Place(i), Many) == GhostHit.YoungOfSmall);
        int old = Enumerable.Range(capacity * 2 / 10, capacity * 3 / 10).Count(i => i % 10 != 0 && ghosts.Remove(Place(i), Many) == GhostHit.OldOfSmall);
        int ofMain = Enumerable.Range(capacity * 5 / 10, capacity * 5 / 10).Count(i => i % 10 == 0 && ghosts.Remove(Place(i), Many) == GhostHit.OfMain);

        Assert.InRange(young, capacity * 0.27 * 0.9, capacity * 0.27);
        Assert.InRange(old, capacity * 0.27 * 0.7, capacity * 0.27);
        Assert.InRange(ofMain, capacity * 0.05 * 0.95, capacity * 0.05 * 1.01);
    }

    [Fact]
    public void Most_of_the_last_keys_are_remembered_and_few_others_are_taken_for_them()
    {
        var ghosts = new GhostTable(Store.Engine.Memory);
        int capacity = Store.PartitionCount * Store.Engine.Memory.Layout.GhostBucketsPerPartition * 31;
        for (int i = 0; i < capacity * 4; i++)
        {
            ghosts.Add(Place(i), Many, isMain: false);
        }

        int recent = Enumerable.Range(capacity * 7 / 2, capacity / 2).Count(i => ghosts.Remove(Place(i), Many) != GhostHit.None);
        int strangers = Enumerable.Range(capacity * 10, 10_000).Count(i => ghosts.Remove(Place(i), Many) != GhostHit.None);

        Assert.True(recent > capacity / 2 * 0.95, $"{recent} of {capacity / 2}");
        Assert.True(strangers < 50, $"{strangers} of 10,000");
    }

    [Theory]
    [InlineData(2)]
    [InlineData(5)]
    public void Partition_with_fewer_entries_than_expected_remembers_fewer_keys(int times)
    {
        var ghosts = new GhostTable(Store.Engine.Memory);
        int entries = Store.Engine.Memory.Layout.GhostBucketsPerPartition * 31 / times;
        int remembered = entries * 9 / 10 * Store.PartitionCount;
        int added = remembered * 4;
        for (int i = 0; i < added; i++)
        {
            ghosts.Add(Place(i), entries, isMain: false);
        }

        int recent = Enumerable.Range(added - (remembered / 2), remembered / 2).Count(i => ghosts.Remove(Place(i), entries) != GhostHit.None);
        int old = Enumerable.Range(added - (remembered * 3), remembered).Count(i => ghosts.Remove(Place(i), entries) != GhostHit.None);

        Assert.InRange(recent, remembered * 0.4, remembered * 0.5);
        Assert.InRange(old, 0, remembered * 0.05);
    }

    [Fact]
    public void Damaged_bucket_is_used_like_any_other()
    {
        var ghosts = new GhostTable(Store.Engine.Memory);
        KeyPlacement place = Place(1);
        new Span<ushort>(ghosts.BucketOf(place), 32).Fill(0xFFFF);

        ghosts.Add(place, Many, isMain: false);

        Assert.NotEqual(GhostHit.None, ghosts.Remove(place, Many));
    }

    private KeyPlacement Place(int i)
    {
        byte[] key = BitConverter.GetBytes(i);
        fixed (byte* bytes = key)
        {
            return Store.Engine.Place(bytes, key.Length, 0).Place;
        }
    }
}
