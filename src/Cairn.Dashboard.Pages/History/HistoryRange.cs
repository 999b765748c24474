namespace Cairn.Dashboard.Pages.History;

/// <summary>How far back samples are kept, and how close they are.</summary>
/// <param name="Name">As pages ask for it.</param>
/// <param name="Interval">From one sample to the next.</param>
/// <param name="Length">How far back they go.</param>
internal sealed record HistoryRange(string Name, TimeSpan Interval, TimeSpan Length)
{
    /// <summary>The ranges that are kept, the finest first.</summary>
    public static IReadOnlyList<HistoryRange> All { get; } =
    [
        new("5m", TimeSpan.FromSeconds(1), TimeSpan.FromMinutes(5)),
        new("1h", TimeSpan.FromSeconds(10), TimeSpan.FromHours(1)),
        new("24h", TimeSpan.FromMinutes(2), TimeSpan.FromHours(24)),
    ];

    /// <summary>How many samples are kept: one more than there are intervals, because rates are differences.</summary>
    public int Capacity => (int)(Length / Interval) + 1;

    /// <summary>The place of a range in <see cref="All"/>; -1 if there is none of that name.</summary>
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
