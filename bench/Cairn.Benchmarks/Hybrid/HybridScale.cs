using System.Globalization;

namespace Cairn.Benchmarks.Hybrid;

/// <summary>The sizes of the hybrid cache's cases.</summary>
/// <param name="Entries">
/// The number of entries in each first level. 10,000 objects are the working set of a typical service. They are more than the private caches of a
/// core hold, and less than the cache that the cores share.
/// </param>
/// <param name="HitSizes">The numbers of entries at which all forms of hits are measured; a core's private caches hold 1,000.</param>
/// <param name="OtherSizes">Further numbers of entries at which the plain hits are measured.</param>
/// <param name="SharedEntries">The number of entries in the store file of the cases that read from it.</param>
/// <param name="Operations">The number of operations per round.</param>
/// <param name="Rounds">The number of rounds of each case.</param>
internal sealed record HybridScale(int Entries, IReadOnlyList<int> HitSizes, IReadOnlyList<int> OtherSizes, int SharedEntries, int Operations, int Rounds)
{
    /// <summary>The length of text values, in characters.</summary>
    public const int ValueChars = 100;

    public static HybridScale Full { get; } =
        new(Entries: 10_000, HitSizes: [1_000, 10_000], OtherSizes: [1_000, 100_000], SharedEntries: 1_000_000, Operations: 2_000_000, Rounds: 9);

    public static HybridScale Quick { get; } =
        new(Entries: 10_000, HitSizes: [10_000], OtherSizes: [], SharedEntries: 100_000, Operations: 500_000, Rounds: 3);

    /// <summary>Gets the number of entries as case names spell it.</summary>
    public string Size => Spell(Entries);

    /// <summary>Gets the number of entries in the store file as case names spell it.</summary>
    public string SharedSize => Spell(SharedEntries);

    /// <summary>Draws a round of gets of existing keys, with equal probabilities.</summary>
    public CustomerRequests Draw(int seed = 1) => CustomerRequests.Draw(Entries, Operations, seed);

    private static string Spell(int entries) => entries % 1_000_000 == 0
        ? string.Create(CultureInfo.InvariantCulture, $"{entries / 1_000_000}M")
        : string.Create(CultureInfo.InvariantCulture, $"{entries / 1_000}k");
}
