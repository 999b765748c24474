namespace Cairn;

/// <summary>The statistics of a store, or of one of its partitions: its content, and its activity since it was created.</summary>
/// <remarks>
/// The numbers are read without stopping any process, so they can belong to different moments. Hits and misses of other processes are up to a second old.
/// The last second of a killed process can be missing. Reads by several threads at the same time are counted without atomic operations, so the counts can
/// be slightly too low.
/// </remarks>
public sealed record PartitionStatistics
{
    /// <summary>
    /// The number of entries. An expired entry counts until it is removed, which happens within seconds (<see cref="StoreOptions.RemovesExpired"/>).
    /// </summary>
    public long Entries { get; init; }

    /// <summary>The size of those entries in bytes: keys, values, headers and padding.</summary>
    public long Bytes { get; init; }

    /// <summary>The size in bytes of the segments in use.</summary>
    public long SegmentBytes { get; init; }

    /// <summary>The number of reads that found a value.</summary>
    public long Hits { get; init; }

    /// <summary>The number of reads that found no value.</summary>
    public long Misses { get; init; }

    /// <summary>The number of values written, by any operation.</summary>
    public long Sets { get; init; }

    /// <summary>The number of live values removed by request.</summary>
    public long Removals { get; init; }

    /// <summary>The number of entries evicted to make room.</summary>
    public long Evictions { get; init; }

    /// <summary>The number of <see cref="Evictions"/> that happened because the buckets of the key were full.</summary>
    public long Displacements { get; init; }

    /// <summary>The number of <see cref="Evictions"/> of values that were never read after they were written.</summary>
    public long EvictionsUnread { get; init; }

    /// <summary>The number of entries that were removed or replaced after they had expired.</summary>
    public long Expirations { get; init; }

    /// <summary>
    /// The number of <see cref="Expirations"/> of entries that were removed in the background, removed where room was needed, or replaced.
    /// </summary>
    public long ExpirationsReclaimed { get; init; }

    /// <summary>The number of <see cref="ExpirationsReclaimed"/> of values that were never read after they were written.</summary>
    public long ExpirationsUnread { get; init; }

    /// <summary>The size in bytes of expired entries whose room is not free yet, because the same segments contain live entries.</summary>
    public long ExpiredBytes { get; init; }

    /// <summary>The number of keys that were written again soon after their eviction, and were therefore put into the main log at once.</summary>
    public long GhostHits { get; init; }

    /// <summary>The number of writes that found no room, because everything was pinned or kept.</summary>
    public long Declined { get; init; }

    /// <summary>The number of writes and removals that did not acquire the lock in time and only removed the earlier value.</summary>
    public long Dropped { get; init; }

    /// <summary>The number of times that an operation had to wait for the lock.</summary>
    public long LockWaits { get; init; }

    /// <summary>The number of times that the partition was repaired after a process died during a write.</summary>
    public long Recoveries { get; init; }

    /// <summary>
    /// The number of entries that were found to be damaged. A damaged entry is removed, unless it is kept. A kept entry is counted at each read.
    /// </summary>
    public long DamagedEntries { get; init; }

    /// <summary>Gets the hits as a fraction of all reads, 0 to 1; 0 if there were no reads.</summary>
    public double HitRatio => Hits + Misses == 0 ? 0 : (double)Hits / (Hits + Misses);
}
