namespace Cairn.Dashboard.Pages.History;

/// <summary>A period for which samples are kept, with their interval.</summary>
/// <param name="Name">The name that pages use in requests.</param>
/// <param name="Interval">The time between two samples.</param>
/// <param name="Length">The length of the period.</param>
internal sealed record HistoryRange(string Name, TimeSpan Interval, TimeSpan Length)
{
    /// <summary>Gets all ranges, the one with the shortest interval first.</summary>
    public static IReadOnlyList<HistoryRange> All { get; } =
    [
        new("5m", TimeSpan.FromSeconds(1), TimeSpan.FromMinutes(5)),
        new("1h", TimeSpan.FromSeconds(10), TimeSpan.FromHours(1)),
        new("24h", TimeSpan.FromMinutes(2), TimeSpan.FromHours(24)),
    ];

    /// <summary>Gets the number of samples: one more than the number of intervals, because rates are differences.</summary>
    public int Capacity => (int)(Length / Interval) + 1;

    /// <summary>Returns the index of a range in <see cref="All"/>; -1 if there is no range of that name.</summary>
    public static int IndexOf(string name)
    {
        int index = All.Count - 1;
        while (index >= 0 && All[index].Name != name)
        {
            index--;
        }

        return index;
    }
}
