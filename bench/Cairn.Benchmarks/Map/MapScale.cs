using System.Globalization;

namespace Cairn.Benchmarks.Map;

/// <summary>How large the cases of maps are.</summary>
/// <param name="Entries">Integers in each map.</param>
/// <param name="DurablePuts">Puts per round where each waits for the disk.</param>
/// <param name="LoggedEntries">Entries in the log that is replayed.</param>
/// <param name="Rounds">Rounds of each case.</param>
internal sealed record MapScale(int Entries, int DurablePuts, int LoggedEntries, int Rounds)
{
    /// <summary>How many tasks write at the same time where the disk is shared.</summary>
    public const int WritingTasks = 16;

    public static MapScale Full { get; } = new(Entries: 100_000, DurablePuts: 4_000, LoggedEntries: 1_000_000, Rounds: 25);

    public static MapScale Quick { get; } = new(Entries: 100_000, DurablePuts: 500, LoggedEntries: 100_000, Rounds: 5);

    /// <summary>The number of entries, as case names spell it.</summary>
    public string Size => string.Create(CultureInfo.InvariantCulture, $"{Entries / 1_000}k");
}
