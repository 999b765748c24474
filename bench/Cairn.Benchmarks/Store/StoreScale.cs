using System.Globalization;

namespace Cairn.Benchmarks.Store;

/// <summary>The sizes of the store's cases.</summary>
/// <param name="Entries">The number of entries in each contender.</param>
/// <param name="Operations">The number of operations per round.</param>
/// <param name="SlowOperations">The number of operations per round for peers that take microseconds for each.</param>
/// <param name="Rounds">The number of rounds of each case.</param>
internal sealed record StoreScale(int Entries, int Operations, int SlowOperations, int Rounds)
{
    public const int ValueBytes = 100;

    /// <summary>
    /// The number of passes over the requests in a round of sets. With this number every round includes garbage collections, which occur
    /// about once in two million sets and cost as much as those sets.
    /// </summary>
    public const int SetPasses = 4;

    public static StoreScale Full { get; } = new(Entries: 1_000_000, Operations: 1_000_000, SlowOperations: 200_000, Rounds: 9);

    public static StoreScale Quick { get; } = new(Entries: 100_000, Operations: 100_000, SlowOperations: 10_000, Rounds: 3);

    /// <summary>Gets the scale of ten million entries, at which every lookup misses every processor cache.</summary>
    public static StoreScale TenMillion { get; } = new(Entries: 10_000_000, Operations: 1_000_000, SlowOperations: 0, Rounds: 5);

    /// <summary>Gets the number of entries as case names spell it.</summary>
    public string Size => Entries % 1_000_000 == 0
        ? string.Create(CultureInfo.InvariantCulture, $"{Entries / 1_000_000}M")
        : string.Create(CultureInfo.InvariantCulture, $"{Entries / 1_000}k");

    public Requests Draw(Distribution distribution, int seed = 1) => new(KeyNumbers.Draw(distribution, Entries, Operations, seed));
}
