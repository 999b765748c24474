namespace Cairn;

/// <summary>The result of <see cref="StoreMaintenance.Compact"/>.</summary>
public sealed record CompactReport
{
    /// <summary>The store's file.</summary>
    public required string Path { get; init; }

    /// <summary>The number of entries in the new file, in all collections.</summary>
    public long EntriesKept { get; init; }

    /// <summary>The number of entries that were left out because they had expired.</summary>
    public long EntriesExpired { get; init; }

    /// <summary>The number of entries that were left out because they are damaged. Before the compaction, reads of them returned a miss.</summary>
    public long EntriesDamaged { get; init; }

    /// <summary>
    /// The number of entries that were left out because they do not fit into <see cref="MaxCapacityBytes"/>: entries that are used least, and entries whose
    /// value is too long.
    /// </summary>
    public long EntriesEvicted { get; init; }

    /// <summary>Length of the old file in bytes.</summary>
    public long BytesBefore { get; init; }

    /// <summary>Length of the new file in bytes.</summary>
    public long BytesAfter { get; init; }

    /// <summary>The size in bytes to which the new file can grow.</summary>
    public long MaxCapacityBytes { get; init; }

    /// <summary>The expected size of an entry in bytes, for which the new file's index is sized.</summary>
    public int AverageEntryBytes { get; init; }

    /// <summary>The duration of the compaction.</summary>
    public TimeSpan Duration { get; init; }
}
