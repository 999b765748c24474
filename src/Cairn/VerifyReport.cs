namespace Cairn;

/// <summary>The result of <see cref="StoreMaintenance.Verify"/>.</summary>
/// <remarks>If the store is in use, the counts do not belong to one moment.</remarks>
public sealed record VerifyReport
{
    /// <summary>The store's file.</summary>
    public required string Path { get; init; }

    /// <summary>Length of the file in bytes.</summary>
    public long FileBytes { get; init; }

    /// <summary>Gets whether no damage was found.</summary>
    public bool IsSound => DamageCount == 0;

    /// <summary>
    /// Whether processes had the store open during the verification. Differences that their work explains are not reported as damage. Data that cannot be
    /// compared while it changes, such as a partition's lists and counters, can be left out. A note says so.
    /// </summary>
    public bool WasInUse { get; init; }

    /// <summary>The number of openings of the store when the verification ended. A process can have several.</summary>
    public int Openings { get; init; }

    /// <summary>The number of partitions of the store. 0 if its layout could not be read; then nothing else was read.</summary>
    public int Partitions { get; init; }

    /// <summary>The number of segments that exist.</summary>
    public int Segments { get; init; }

    /// <summary>The number of named collections.</summary>
    public int Collections { get; init; }

    /// <summary>The number of slots of the index.</summary>
    public long IndexSlots { get; init; }

    /// <summary>The number of entries that a read finds: in the index, not damaged, not expired and not cleared.</summary>
    public long Entries { get; init; }

    /// <summary>The number of expired entries that are not removed yet.</summary>
    public long ExpiredEntries { get; init; }

    /// <summary>The number of entries that were cleared with their collection and are not removed yet.</summary>
    public long ClearedEntries { get; init; }

    /// <summary>The number of leases on keys without a value.</summary>
    public long Leases { get; init; }

    /// <summary>The number of damaged entries in the index.</summary>
    public long DamagedEntries { get; init; }

    /// <summary>The number of replaced or removed entries whose space is not reused yet.</summary>
    public long DeadEntries { get; init; }

    /// <summary>The number of bytes that were read.</summary>
    public long BytesRead { get; init; }

    /// <summary>The duration of the verification.</summary>
    public TimeSpan Duration { get; init; }

    /// <summary>The first <see cref="VerifyOptions.MaxFindings"/> findings, in the order of the file's areas.</summary>
    public required IReadOnlyList<VerifyFinding> Findings { get; init; }

    /// <summary>The number of findings of damage, listed or not.</summary>
    public long DamageCount { get; init; }

    /// <summary>The number of findings of leftovers, listed or not.</summary>
    public long LeftoverCount { get; init; }

    /// <summary>The number of notes, listed or not.</summary>
    public long NoteCount { get; init; }
}
