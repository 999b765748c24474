using System.Globalization;

namespace Cairn.Benchmarks.Hybrid;

/// <summary>How large the cases of the hybrid cache are.</summary>
/// <param name="Entries">
/// Entries in each first level. 10,000 objects are what a service has in use at a time: more than the processor's own caches hold, and
/// less than the cache that its cores share.
/// </param>
/// <param name="OtherSizes">Numbers of entries at which the plain hits are measured, too.</param>
/// <param name="SharedEntries">Entries in the store file of the cases that read from it.</param>
/// <param name="Operations">Operations per round.</param>
/// <param name="Rounds">Rounds of each case.</param>
internal sealed record HybridScale(int Entries, IReadOnlyList<int> OtherSizes, int SharedEntries, int Operations, int Rounds)
{
    /// <summary>Length of the values that are text.</summary>
    public const int ValueChars = 100;

    public static HybridScale Full { get; } =
        new(Entries: 10_000, OtherSizes: [1_000, 100_000], SharedEntries: 1_000_000, Operations: 2_000_000, Rounds: 9);

    public static HybridScale Quick { get; } =
        new(Entries: 10_000, OtherSizes: [], SharedEntries: 100_000, Operations: 500_000, Rounds: 3);

    /// <summary>The number of entries, as case names spell it.</summary>
    public string Size => Spell(Entries);

    /// <summary>The number of entries in the store file, as case names spell it.</summary>
    public string SharedSize => Spell(SharedEntries);

    /// <summary>A round of gets of keys that are there, all alike.</summary>
    public CustomerRequests Draw(int seed = 1) => CustomerRequests.Draw(Entries, Operations, seed);

    private static string Spell(int entries) => entries % 1_000_000 == 0
        ? string.Create(CultureInfo.InvariantCulture, $"{entries / 1_000_000}M")
        : string.Create(CultureInfo.InvariantCulture, $"{entries / 1_000}k");
}
