using Cairn.Eviction.SegmentedFifo;
using Cairn.Storage;

namespace Cairn.Tests.Eviction;

/// <summary>The table of keys that were evicted.</summary>
public sealed unsafe class GhostTableTests : StoreTest
{
    [Fact]
    public void Remembered_key_is_found_once()
    {
        var ghosts = new GhostTable(Store.Engine.Memory);
        KeyPlacement place = Place(1);

        Assert.False(ghosts.Remove(place));
        ghosts.Add(place);

        Assert.True(ghosts.Remove(place));
        Assert.False(ghosts.Remove(place));
    }

    [Fact]
    public void Most_of_the_last_keys_are_remembered_and_few_others_are_taken_for_them()
    {
        var ghosts = new GhostTable(Store.Engine.Memory);
        int capacity = Store.PartitionCount * Store.Engine.Memory.Layout.GhostBucketsPerPartition * 31;
        for (int i = 0; i < capacity * 4; i++)
        {
            ghosts.Add(Place(i));
        }

        int recent = Enumerable.Range(capacity * 7 / 2, capacity / 2).Count(i => ghosts.Remove(Place(i)));
        int strangers = Enumerable.Range(capacity * 10, 10_000).Count(i => ghosts.Remove(Place(i)));

        Assert.True(recent > capacity / 2 * 0.95, $"{recent} of {capacity / 2}");
        Assert.True(strangers < 50, $"{strangers} of 10,000");
    }

    [Fact]
    public void Damaged_bucket_is_used_like_any_other()
    {
        var ghosts = new GhostTable(Store.Engine.Memory);
        KeyPlacement place = Place(1);
        new Span<ushort>(ghosts.BucketOf(place), 32).Fill(0xFFFF);

        ghosts.Add(place);

        Assert.True(ghosts.Remove(place));
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
