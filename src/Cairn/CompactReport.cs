namespace Cairn;

/// <summary>What <see cref="CairnStore.Compact"/> did.</summary>
public sealed record CompactReport
{
    /// <summary>The store's file.</summary>
    public required string Path { get; init; }

    /// <summary>Entries that are in the new file, in all collections.</summary>
    public long EntriesKept { get; init; }

    /// <summary>Entries that were left out because they had expired.</summary>
    public long EntriesExpired { get; init; }

    /// <summary>Entries that were left out because they are damaged; reads answered with a miss.</summary>
    public long EntriesDamaged { get; init; }

    /// <summary>Entries that were left out because they do not fit <see cref="MaxCapacityBytes"/>: those of least use, or too long a value.</summary>
    public long EntriesEvicted { get; init; }

    /// <summary>Length of the old file in bytes.</summary>
    public long BytesBefore { get; init; }

    /// <summary>Length of the new file in bytes.</summary>
    public long BytesAfter { get; init; }

    /// <summary>Size in bytes that the new file may grow to.</summary>
    public long MaxCapacityBytes { get; init; }

    /// <summary>Entry size in bytes that the new file's index is made for.</summary>
    public int AverageEntryBytes { get; init; }

    /// <summary>How long it took.</summary>
    public TimeSpan Duration { get; init; }
}
