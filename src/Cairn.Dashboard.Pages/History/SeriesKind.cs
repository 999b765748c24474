namespace Cairn.Dashboard.Pages.History;

/// <summary>The kind of the numbers of a series.</summary>
internal enum SeriesKind
{
    /// <summary>A number that only grows. Pages show its rate.</summary>
    Counter = 0,

    /// <summary>A number that goes up and down.</summary>
    Gauge,
}

/// <summary>One of the sampled numbers.</summary>
/// <param name="Name">The name that pages use.</param>
/// <param name="Kind">The kind of the number.</param>
internal sealed record Series(string Name, SeriesKind Kind);
