using System.Globalization;

namespace Cairn.Benchmarks.Map;

/// <summary>The sizes of the map cases.</summary>
/// <param name="Entries">The number of integers in each map.</param>
/// <param name="DurablePuts">The number of puts per round in cases in which each put waits for the disk.</param>
/// <param name="LoggedEntries">The number of entries in the log that is replayed.</param>
/// <param name="Rounds">The number of rounds of each case.</param>
internal sealed record MapScale(int Entries, int DurablePuts, int LoggedEntries, int Rounds)
{
    /// <summary>The number of tasks that write at the same time in the durable cases.</summary>
    public const int WritingTasks = 16;

    public static MapScale Full { get; } = new(Entries: 100_000, DurablePuts: 4_000, LoggedEntries: 1_000_000, Rounds: 25);

    public static MapScale Quick { get; } = new(Entries: 100_000, DurablePuts: 500, LoggedEntries: 100_000, Rounds: 5);

    /// <summary>Gets the number of entries as case names spell it.</summary>
    public string Size => string.Create(CultureInfo.InvariantCulture, $"{Entries / 1_000}k");
}
