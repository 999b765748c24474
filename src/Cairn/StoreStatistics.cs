namespace Cairn;

/// <summary>What a whole store holds and has done since it was created: the sums over its partitions, and more.</summary>
public sealed record StoreStatistics : PartitionStatistics
{
    /// <summary>Size of the file in bytes.</summary>
    public long FileBytes { get; init; }

    /// <summary>Size that the file may grow to.</summary>
    public long MaxCapacityBytes { get; init; }

    /// <summary>Segments that exist, and bytes of each.</summary>
    public int Segments { get; init; }

    /// <summary>Bytes of one segment: what is evicted at a time.</summary>
    public int BytesPerSegment { get; init; }

    /// <summary>Segments that no partition has taken yet.</summary>
    public int FreeSegments { get; init; }

    /// <summary>Entries that the index has room for.</summary>
    public long IndexSlots { get; init; }

    /// <summary>Processes, or openings within one process, that have the store open now.</summary>
    public int Openings { get; init; }

    /// <summary>When the store was created, or last emptied because the machine had restarted.</summary>
    public DateTimeOffset CreatedAt { get; init; }

    /// <summary>Why the file could not grow when it last tried; null if it could.</summary>
    public string? GrowthFailure { get; init; }

    /// <summary>
    /// Attempts to make a snapshot by itself that have failed since the last one was made, in whichever process. While this is not 0 the log grows.
    /// </summary>
    public int FailedCheckpoints { get; init; }

    /// <summary>Why this opening's last attempt to make a snapshot by itself failed; null if it did not.</summary>
    public string? CheckpointFailure { get; init; }

    /// <summary>The same for each partition.</summary>
    public required IReadOnlyList<PartitionStatistics> Partitions { get; init; }

    /// <summary>Entries and bytes of each named collection.</summary>
    public required IReadOnlyList<CollectionStatistics> Collections { get; init; }
}
