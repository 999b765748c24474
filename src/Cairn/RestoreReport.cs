namespace Cairn;

/// <summary>What <see cref="CairnStore.Restore"/> made.</summary>
public sealed record RestoreReport
{
    /// <summary>The new store's file.</summary>
    public required string Path { get; init; }

    /// <summary>Entries that are in the new store, in all collections.</summary>
    public long Entries { get; init; }

    /// <summary>Length of the store's file in bytes.</summary>
    public long Bytes { get; init; }

    /// <summary>
    /// What <see cref="CairnStore.Salvage"/> left out because it is damaged or missing: each with the file, the byte, and what was expected there. From
    /// <see cref="CairnStore.Restore"/>, at most the end of a log that a loss of power may have torn.
    /// </summary>
    public IReadOnlyList<string> LeftOut { get; init; } = [];

    /// <summary>How long it took.</summary>
    public TimeSpan Duration { get; init; }
}
