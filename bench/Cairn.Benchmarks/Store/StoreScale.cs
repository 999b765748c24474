using System.Globalization;

namespace Cairn.Benchmarks.Store;

/// <summary>How large the cases of the store are.</summary>
/// <param name="Entries">Entries in each contender.</param>
/// <param name="Operations">Operations per round.</param>
/// <param name="SlowOperations">Operations per round of peers that take microseconds each.</param>
/// <param name="Rounds">Rounds of each case.</param>
internal sealed record StoreScale(int Entries, int Operations, int SlowOperations, int Rounds)
{
    public const int ValueBytes = 100;

    /// <summary>
    /// How often a round of sets goes over its requests: often enough that every round has its share of collections, which
    /// come every other million sets and cost as much as those.
    /// </summary>
    public const int SetPasses = 4;

    public static StoreScale Full { get; } = new(Entries: 1_000_000, Operations: 1_000_000, SlowOperations: 200_000, Rounds: 9);

    public static StoreScale Quick { get; } = new(Entries: 100_000, Operations: 100_000, SlowOperations: 10_000, Rounds: 3);

    /// <summary>Ten million entries: the size at which every lookup misses every processor cache.</summary>
    public static StoreScale TenMillion { get; } = new(Entries: 10_000_000, Operations: 1_000_000, SlowOperations: 0, Rounds: 5);

    /// <summary>The number of entries, as case names spell it.</summary>
    public string Size => Entries % 1_000_000 == 0
        ? string.Create(CultureInfo.InvariantCulture, $"{Entries / 1_000_000}M")
        : string.Create(CultureInfo.InvariantCulture, $"{Entries / 1_000}k");

    public Requests Draw(Distribution distribution, int seed = 1) => new(KeyNumbers.Draw(distribution, Entries, Operations, seed));
}
