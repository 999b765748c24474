namespace Cairn;

/// <summary>The statistics of a whole store: the sums over its partitions, and more.</summary>
public sealed record StoreStatistics
{
    /// <summary>The sums over all partitions.</summary>
    public required PartitionStatistics Totals { get; init; }

    /// <summary>Size of the file in bytes.</summary>
    public long FileBytes { get; init; }

    /// <summary>The size in bytes to which the file can grow.</summary>
    public long MaxCapacityBytes { get; init; }

    /// <summary>The number of segments that exist.</summary>
    public int Segments { get; init; }

    /// <summary>The size of one segment in bytes. The store evicts one segment at a time.</summary>
    public int BytesPerSegment { get; init; }

    /// <summary>The number of segments that no partition has taken yet.</summary>
    public int FreeSegments { get; init; }

    /// <summary>The number of entries for which the index has room.</summary>
    public long IndexSlots { get; init; }

    /// <summary>The number of openings of the store at present. A process can have several.</summary>
    public int Openings { get; init; }

    /// <summary>The moment at which the store was created, or last emptied because the machine had restarted.</summary>
    public DateTimeOffset CreatedAt { get; init; }

    /// <summary>The reason why the last attempt to grow the file failed. Null if it did not fail.</summary>
    public string? GrowthFailure { get; init; }

    /// <summary>
    /// The number of failed attempts of the store to write a snapshot automatically, by any process, since the last snapshot. While it is not 0, the log
    /// grows.
    /// </summary>
    public int FailedCheckpoints { get; init; }

    /// <summary>The reason why this opening's last attempt to write a snapshot automatically failed. Null if it did not fail.</summary>
    public string? CheckpointFailure { get; init; }

    /// <summary>The reason why this opening's last attempt to remove expired entries automatically failed. Null if it did not fail.</summary>
    public string? SweepFailure { get; init; }

    /// <summary>The statistics of each partition.</summary>
    public required IReadOnlyList<PartitionStatistics> Partitions { get; init; }

    /// <summary>The statistics of each named collection.</summary>
    public required IReadOnlyList<CollectionStatistics> Collections { get; init; }
}
