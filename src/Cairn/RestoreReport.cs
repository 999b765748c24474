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

    /// <summary>How long it took.</summary>
    public TimeSpan Duration { get; init; }
}
