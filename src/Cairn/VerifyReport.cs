namespace Cairn;

/// <summary>What <see cref="CairnStore.Verify"/> read and found.</summary>
/// <remarks>The counts of a store in use are of no single moment.</remarks>
public sealed record VerifyReport
{
    /// <summary>The store's file.</summary>
    public required string Path { get; init; }

    /// <summary>Length of the file in bytes.</summary>
    public long FileBytes { get; init; }

    /// <summary>Whether there is no damage.</summary>
    public bool IsSound => DamageCount == 0;

    /// <summary>
    /// Whether processes had the store open meanwhile. What their work explains is then not reported as damage, and what cannot be compared
    /// while it changes, a partition's lists and counters, may be left out; a note says so.
    /// </summary>
    public bool WasInUse { get; init; }

    /// <summary>Processes, or openings within one process, that had the store open when the verification ended.</summary>
    public int Openings { get; init; }

    /// <summary>Partitions of the store; 0 if its layout could not be read, and then nothing else was.</summary>
    public int Partitions { get; init; }

    /// <summary>Segments that exist.</summary>
    public int Segments { get; init; }

    /// <summary>Named collections.</summary>
    public int Collections { get; init; }

    /// <summary>Slots of the index.</summary>
    public long IndexSlots { get; init; }

    /// <summary>Entries that a read finds: named by the index, whole, not expired and not cleared.</summary>
    public long Entries { get; init; }

    /// <summary>Entries that are still there but have expired.</summary>
    public long ExpiredEntries { get; init; }

    /// <summary>Entries that are still there but were cleared with their collection.</summary>
    public long ClearedEntries { get; init; }

    /// <summary>Leases on keys without a value.</summary>
    public long Leases { get; init; }

    /// <summary>Entries that the index names but that are damaged.</summary>
    public long DamagedEntries { get; init; }

    /// <summary>Entries that were replaced or removed, and whose space has not been taken back yet.</summary>
    public long DeadEntries { get; init; }

    /// <summary>Bytes that were read.</summary>
    public long BytesRead { get; init; }

    /// <summary>How long it took.</summary>
    public TimeSpan Duration { get; init; }

    /// <summary>What was noticed, in the order of the file's areas: the first <see cref="VerifyOptions.MaxFindings"/> of it.</summary>
    public required IReadOnlyList<VerifyFinding> Findings { get; init; }

    /// <summary>Findings of damage, listed or not.</summary>
    public long DamageCount { get; init; }

    /// <summary>Findings of leftovers, listed or not.</summary>
    public long LeftoverCount { get; init; }

    /// <summary>Notes, listed or not.</summary>
    public long NoteCount { get; init; }
}
