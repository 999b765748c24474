namespace Cairn;

/// <summary>The result of <see cref="StoreMaintenance.Restore"/>.</summary>
public sealed record RestoreReport
{
    /// <summary>The new store's file.</summary>
    public required string Path { get; init; }

    /// <summary>The number of entries in the new store, in all collections.</summary>
    public long Entries { get; init; }

    /// <summary>Length of the store's file in bytes.</summary>
    public long Bytes { get; init; }

    /// <summary>
    /// The parts that <see cref="StoreMaintenance.Salvage"/> left out because they are damaged or missing. Each text names the file, the byte, and the expected
    /// content. After <see cref="StoreMaintenance.Restore"/> the list contains at most the end of a log that a loss of power has possibly torn.
    /// </summary>
    public IReadOnlyList<string> LeftOut { get; init; } = [];

    /// <summary>The duration of the restore.</summary>
    public TimeSpan Duration { get; init; }
}
