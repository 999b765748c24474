namespace Cairn.Storage;

// The position of everything in a store's file. Every offset follows from five numbers in the superblock. So two processes, or two versions of the code,
// always agree about it.
//
//   | superblock | collections | partition blocks | owner slots | segment headers | ghosts | index | segments | guard |
//
//   I1  Every area starts on a 4 KiB boundary.
//   I2  The areas before the segments are sized for MaxSegments, so growth only adds segments at the end.
//   I3  The file is at least FileBytes(SegmentCount) long: each segment that the superblock counts, and the guard, exist.
//
// No code addresses the guard intentionally. A vectorized comparison can read past the last byte, and the guard takes such reads.
internal sealed class StoreLayout
{
    public const int PageBytes = 4096;
    public const int SuperblockBytes = PageBytes;
    public const int MaxCollections = 128;
    public const int CollectionRecordBytes = 256;
    public const int SegmentHeaderBytes = 64;
    public const int BucketBytes = 64;
    public const int SlotsPerBucket = 7;
    public const int GhostBucketBytes = 64;
    public const int FingerprintsPerGhostBucket = 31;
    public const int MaxOwners = 255;
    public const int HazardCellsPerOwner = 64;
    public const int GuardBytes = 64 * 1024;
    public const int MinSegmentBytes = 4 * 1024;
    public const int MaxSegmentBytes = 1024 * 1024;
    public const int MaxPartitions = 64;

    // A partition needs an open segment in each log, one that is being evicted, and two in reserve. With fewer segments it evicts badly.
    public const int MinSegmentsPerPartition = 16;
    public const int ReservedSegmentsPerPartition = 4;

    // With two possible buckets of seven slots, the index fills to three quarters before inserts begin to displace entries.
    private const double TargetIndexLoad = 0.75;
    private const int HomesPerOverflowBucket = 32;

    private StoreLayout(long maxCapacityBytes, int averageEntryBytes, int segmentBytes, int partitionCount, int maxSegments)
    {
        MaxCapacityBytes = maxCapacityBytes;
        AverageEntryBytes = averageEntryBytes;
        SegmentBytes = segmentBytes;
        PartitionCount = partitionCount;
        MaxSegments = maxSegments;

        long entries = Math.Max(1, (long)maxSegments * segmentBytes / averageEntryBytes);
        HomeBuckets = (int)Math.Clamp(
            (long)Math.Ceiling(entries / (double)partitionCount / (SlotsPerBucket * TargetIndexLoad)), 2, int.MaxValue / 4);
        OverflowBuckets = Math.Max(2, HomeBuckets / HomesPerOverflowBucket);
        GhostBucketsPerPartition = (int)Math.Clamp(
            (long)Math.Ceiling(entries * 0.9 / partitionCount / FingerprintsPerGhostBucket), 1, int.MaxValue / 2);
        RingCells = (int)BitOperations.RoundUpToPowerOf2((uint)Math.Clamp(entries / partitionCount / 64, 64, 4096));

        PartitionBlockBytes = PartitionBlock.RingOffset + (RingCells * sizeof(ulong));
        OwnerRecordBytes = AlignUp(OwnerRecord.FixedBytes + (partitionCount * OwnerRecord.CounterBytes), 64);

        CollectionsOffset = SuperblockBytes;
        PartitionsOffset = AlignPage(CollectionsOffset + ((long)MaxCollections * CollectionRecordBytes));
        OwnersOffset = AlignPage(PartitionsOffset + ((long)partitionCount * PartitionBlockBytes));
        SegmentHeadersOffset = AlignPage(OwnersOffset + ((long)MaxOwners * OwnerRecordBytes));
        GhostsOffset = AlignPage(SegmentHeadersOffset + ((long)maxSegments * SegmentHeaderBytes));
        IndexOffset = AlignPage(GhostsOffset + ((long)partitionCount * GhostBucketsPerPartition * GhostBucketBytes));
        SegmentsOffset = AlignPage(IndexOffset + ((long)partitionCount * BucketsPerPartition * BucketBytes));
    }

    public long MaxCapacityBytes { get; }

    public int AverageEntryBytes { get; }

    public int SegmentBytes { get; }

    public int PartitionCount { get; }

    public int MaxSegments { get; }

    /// <summary>Gets the number of buckets of each partition to which keys belong. The overflow buckets follow them.</summary>
    public int HomeBuckets { get; }

    /// <summary>
    /// Gets the number of overflow buckets of each partition. They are for kept entries if other kept entries fill the buckets of their key.
    /// </summary>
    public int OverflowBuckets { get; }

    public int BucketsPerPartition => HomeBuckets + OverflowBuckets;

    public int GhostBucketsPerPartition { get; }

    public int RingCells { get; }

    public int PartitionBlockBytes { get; }

    public int OwnerRecordBytes { get; }

    public long CollectionsOffset { get; }

    public long PartitionsOffset { get; }

    public long OwnersOffset { get; }

    public long SegmentHeadersOffset { get; }

    public long GhostsOffset { get; }

    public long IndexOffset { get; }

    public long SegmentsOffset { get; }

    /// <summary>Returns the length in bytes of the longest value of a store that can grow to this capacity.</summary>
    public static int MaxValueBytesOf(long maxCapacityBytes) => (int)Math.Min(StoreLimits.MaxValueBytes, maxCapacityBytes / 8);

    /// <summary>Gets the length in bytes of the longest value: the smaller of 64 MiB and an eighth of the capacity.</summary>
    public int MaxValueBytes => MaxValueBytesOf(MaxCapacityBytes);

    /// <summary>Gets the minimum number of segments of a file.</summary>
    public int FewestSegments => PartitionCount * ReservedSegmentsPerPartition;

    /// <summary>Gets the minimum offset at which the segments end.</summary>
    public long FewestSegmentsEnd => SegmentsOffset + ((long)FewestSegments * SegmentBytes);

    public long MappedBytes => FileBytes(MaxSegments);

    public long FileBytes(int segments) => SegmentsOffset + ((long)segments * SegmentBytes) + GuardBytes;

    /// <summary>Returns the maximum number of segments for which the file stays within <paramref name="capacityBytes"/>.</summary>
    public int SegmentsWithin(long capacityBytes) =>
        (int)Math.Clamp((capacityBytes - SegmentsOffset - GuardBytes) / SegmentBytes, 0, MaxSegments);

    /// <summary>Plans a file that can grow to <paramref name="maxCapacityBytes"/>.</summary>
    /// <remarks>
    /// A segment is a 1024th of the capacity, and a partition has 64 segments. Fewer, larger segments cost hit ratio, because a whole segment is evicted at
    /// a time. More, smaller segments waste space at their ends.
    /// </remarks>
    public static StoreLayout Plan(long maxCapacityBytes, int averageEntryBytes)
    {
        int segmentBytes = (int)Math.Clamp(
            (long)BitOperations.RoundUpToPowerOf2((ulong)(maxCapacityBytes / 1024)), MinSegmentBytes, MaxSegmentBytes);
        long wholeSegments = maxCapacityBytes / segmentBytes;
        int partitions = (int)BitOperations.RoundUpToPowerOf2((uint)Math.Clamp(wholeSegments / 96, 1, MaxPartitions));

        // The index takes its share of the capacity first, and the rest is for segments. The share depends on the number of segments. So the loop
        // approaches that number from above: each step removes the segments that did not fit.
        int segments = (int)Math.Min(wholeSegments, int.MaxValue / 2);
        while (true)
        {
            var layout = new StoreLayout(maxCapacityBytes, averageEntryBytes, segmentBytes, partitions, segments);
            int fitting = layout.SegmentsWithin(maxCapacityBytes);
            if (fitting >= segments)
            {
                return layout;
            }

            segments = Math.Max(fitting, segments - Math.Max(1, (segments - fitting) / 2));
            if (segments <= 0)
            {
                return layout;
            }
        }
    }

    /// <summary>
    /// Returns the layout of a file with these numbers in its superblock, or <see langword="null"/> if the numbers are impossible.
    /// </summary>
    public static StoreLayout? Restore(long maxCapacityBytes, int averageEntryBytes, int segmentBytes, int partitionCount, int maxSegments)
    {
        bool isPossible = averageEntryBytes is >= StoreLimits.MinAverageEntryBytes and <= StoreLimits.MaxAverageEntryBytes
            && segmentBytes is >= MinSegmentBytes and <= MaxSegmentBytes && BitOperations.IsPow2(segmentBytes)
            && partitionCount is >= 1 and <= MaxPartitions && BitOperations.IsPow2(partitionCount)
            && maxSegments >= partitionCount * ReservedSegmentsPerPartition
            && maxCapacityBytes is > 0 and <= StoreLimits.MaxCapacityBytes
            && (long)maxSegments * segmentBytes <= maxCapacityBytes;
        return isPossible ? new StoreLayout(maxCapacityBytes, averageEntryBytes, segmentBytes, partitionCount, maxSegments) : null;
    }

    private static long AlignPage(long offset) => (offset + PageBytes - 1) & ~(long)(PageBytes - 1);

    private static int AlignUp(int bytes, int alignment) => (bytes + alignment - 1) & ~(alignment - 1);

    /// <summary>Creates the exception for a file that counts more or fewer segments than it can have.</summary>
    public StoreCorruptException WrongSegmentCount(string file, int found) =>
        new(
            file, (long)Marshal.OffsetOf<Superblock>(nameof(Superblock.SegmentCount)),
            $"{FewestSegments:N0} to {MaxSegments:N0} segments", $"{found:N0}");
}
