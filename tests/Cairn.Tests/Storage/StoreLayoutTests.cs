using Cairn.Storage;

namespace Cairn.Tests.Storage;

/// <summary>The layout of a file.</summary>
public sealed class StoreLayoutTests
{
    public static TheoryData<long, int> Plans
    {
        get
        {
            var plans = new TheoryData<long, int>();
            foreach (long capacity in (long[])[1L << 20, (1L << 20) + 1, 3_333_333, 8L << 20, 100L << 20, 1L << 30, 4L << 30, 1L << 40])
            {
                foreach (int entryBytes in (int[])[32, 100, 128, 1000, 1 << 20])
                {
                    plans.Add(capacity, entryBytes);
                }
            }

            return plans;
        }
    }

    [Theory]
    [MemberData(nameof(Plans))]
    public void Areas_follow_each_other_on_page_boundaries_within_the_capacity(long capacityBytes, int averageEntryBytes)
    {
        StoreLayout layout = StoreLayout.Plan(capacityBytes, averageEntryBytes);
        long[] offsets =
        [
            0, layout.CollectionsOffset, layout.PartitionsOffset, layout.OwnersOffset, layout.SegmentHeadersOffset,
            layout.GhostsOffset, layout.IndexOffset, layout.SegmentsOffset, layout.FileBytes(layout.MaxSegments),
        ];
        long[] lengths =
        [
            StoreLayout.SuperblockBytes,
            StoreLayout.MaxCollections * StoreLayout.CollectionRecordBytes,
            (long)layout.PartitionCount * layout.PartitionBlockBytes,
            (long)StoreLayout.MaxOwners * layout.OwnerRecordBytes,
            (long)layout.MaxSegments * StoreLayout.SegmentHeaderBytes,
            (long)layout.PartitionCount * layout.GhostBucketsPerPartition * StoreLayout.GhostBucketBytes,
            (long)layout.PartitionCount * layout.BucketsPerPartition * StoreLayout.BucketBytes,
            ((long)layout.MaxSegments * layout.SegmentBytes) + StoreLayout.GuardBytes,
        ];

        for (int i = 0; i < lengths.Length; i++)
        {
            Assert.True(offsets[i] + lengths[i] <= offsets[i + 1], $"area {i} ends before the next begins");
        }

        Assert.All(offsets[..^1], offset => Assert.Equal(0, offset % StoreLayout.PageBytes));
        Assert.InRange(offsets[^1], capacityBytes - (2L * layout.SegmentBytes), capacityBytes);
        Assert.Equal(layout.MaxSegments, layout.SegmentsWithin(capacityBytes));
        Assert.True(layout.MaxSegments >= layout.PartitionCount * StoreLayout.MinSegmentsPerPartition);

        // A location in a slot has 44 bits and counts units of eight bytes; a segment names its partition in eight bits.
        Assert.True(offsets[^1] / 8 < 1L << 44);
        Assert.InRange(layout.PartitionCount, 1, 256);
    }

    [Theory]
    [MemberData(nameof(Plans))]
    public void Index_has_room_for_as_many_entries_as_the_segments(long capacityBytes, int averageEntryBytes)
    {
        StoreLayout layout = StoreLayout.Plan(capacityBytes, averageEntryBytes);

        double entries = layout.MaxSegments * (double)layout.SegmentBytes / averageEntryBytes;
        double slots = (double)layout.PartitionCount * layout.BucketsPerPartition * StoreLayout.SlotsPerBucket;

        Assert.True(entries <= slots * 0.76, $"{entries:N0} entries in {slots:N0} slots");
    }

    [Theory]
    [MemberData(nameof(Plans))]
    public void Layout_is_restored_from_its_numbers(long capacityBytes, int averageEntryBytes)
    {
        StoreLayout layout = StoreLayout.Plan(capacityBytes, averageEntryBytes);

        StoreLayout restored = StoreLayout.Restore(
            layout.MaxCapacityBytes, layout.AverageEntryBytes, layout.SegmentBytes, layout.PartitionCount, layout.MaxSegments)!;

        Assert.Equal(layout.SegmentsOffset, restored.SegmentsOffset);
        Assert.Equal(layout.MappedBytes, restored.MappedBytes);
    }

    [Theory]
    [InlineData(0, 128, 8192, 16, 1000)]
    [InlineData(-1, 128, 8192, 16, 1000)]
    [InlineData(long.MaxValue, 128, 8192, 16, 1000)]
    [InlineData(8 << 20, 31, 8192, 16, 900)]
    [InlineData(8 << 20, 0, 8192, 16, 900)]
    [InlineData(8 << 20, 128, 8191, 16, 900)]
    [InlineData(8 << 20, 128, 0, 16, 900)]
    [InlineData(8 << 20, 128, -8192, 16, 900)]
    [InlineData(8 << 20, 128, 8192, 0, 900)]
    [InlineData(8 << 20, 128, 8192, 15, 900)]
    [InlineData(8 << 20, 128, 8192, 128, 900)]
    [InlineData(8 << 20, 128, 8192, 16, 63)]
    [InlineData(8 << 20, 128, 8192, 16, 1025)]
    [InlineData(8 << 20, 128, 8192, 16, int.MaxValue)]
    [InlineData(8 << 20, 128, 8192, 16, -1)]
    public void Impossible_numbers_are_no_layout(
        long maxCapacityBytes, int averageEntryBytes, int segmentBytes, int partitionCount, int maxSegments)
    {
        Assert.Null(StoreLayout.Restore(maxCapacityBytes, averageEntryBytes, segmentBytes, partitionCount, maxSegments));
    }
}
