namespace Cairn.Dashboard.Pages.History;

/// <summary>What the numbers of a series are.</summary>
internal enum SeriesKind
{
    /// <summary>Only grows: its rate is what is shown.</summary>
    Counter = 0,

    /// <summary>Goes up and down.</summary>
    Gauge,
}

/// <summary>One of the numbers that are looked at again and again.</summary>
/// <param name="Name">As the pages know it.</param>
/// <param name="Kind">What it is.</param>
internal sealed record Series(string Name, SeriesKind Kind);
