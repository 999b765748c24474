namespace Cairn;

/// <summary>What a store, or one of its partitions, holds and has done since it was created.</summary>
/// <remarks>
/// Read without stopping anybody, so the numbers need not be of the same moment. Hits and misses of other processes are up to a
/// second old; those of a killed process may lack its last second. Reads that several threads make at once are counted without
/// atomics and may be a little short.
/// </remarks>
public record PartitionStatistics
{
    /// <summary>Entries. Those that have expired count until they are removed, which is seconds later (<see cref="StoreOptions.RemovesExpired"/>).</summary>
    public long Entries { get; init; }

    /// <summary>Bytes of those entries: keys, values, headers and padding.</summary>
    public long Bytes { get; init; }

    /// <summary>Bytes of segments in use.</summary>
    public long SegmentBytes { get; init; }

    /// <summary>Reads that found a value.</summary>
    public long Hits { get; init; }

    /// <summary>Reads that found none.</summary>
    public long Misses { get; init; }

    /// <summary>Values written, whatever operation wrote them.</summary>
    public long Sets { get; init; }

    /// <summary>Live values removed by request.</summary>
    public long Removals { get; init; }

    /// <summary>Entries evicted to make room.</summary>
    public long Evictions { get; init; }

    /// <summary>Of those, entries evicted because the index had no room where their key belongs.</summary>
    public long Displacements { get; init; }

    /// <summary>Of <see cref="Evictions"/>, values that nobody had read since they were written.</summary>
    public long EvictionsUnread { get; init; }

    /// <summary>Entries that were removed, or replaced, after they had expired.</summary>
    public long Expirations { get; init; }

    /// <summary>Of <see cref="Expirations"/>, entries that were removed in the background, or where room was needed, or replaced.</summary>
    public long ExpirationsReclaimed { get; init; }

    /// <summary>Of <see cref="ExpirationsReclaimed"/>, values that nobody had read since they were written.</summary>
    public long ExpirationsUnread { get; init; }

    /// <summary>Bytes of expired entries whose room is not free yet, because live entries are in the same segments.</summary>
    public long ExpiredBytes { get; init; }

    /// <summary>Keys that came back soon after their eviction and were put into the main log at once.</summary>
    public long GhostHits { get; init; }

    /// <summary>Writes that found no room, because everything was pinned or kept.</summary>
    public long Declined { get; init; }

    /// <summary>Writes and removals that did not get the lock in time and only removed the earlier value.</summary>
    public long Dropped { get; init; }

    /// <summary>Times that an operation had to wait for the lock.</summary>
    public long LockWaits { get; init; }

    /// <summary>Times that the partition was repaired after a process died in the middle of a write.</summary>
    public long Recoveries { get; init; }

    /// <summary>Entries found to be damaged and, unless they are kept, removed; those are counted with each read.</summary>
    public long DamagedEntries { get; init; }

    /// <summary>Hits as a part of all reads, 0 to 1; 0 if there were none.</summary>
    public double HitRatio => Hits + Misses == 0 ? 0 : (double)Hits / (Hits + Misses);
}
