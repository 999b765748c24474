using Cairn.HitRate;

namespace Cairn.Benchmarks.Reporting;

/// <summary>
/// Draws findings of several runs. There is a group of bars for each case, Cairn's beside those of its peers. The length of a bar is the
/// processor time per operation. Each group has its own scale, because a request to a server and a memory lookup have no common one.
/// </summary>
internal sealed class Chart(string title)
{
    private const int BarsLeft = 238;
    private const int BarsWidth = 262;
    private const int BarHeight = 18;
    private const int Step = 24;

    private readonly Picture _picture = new(title, "Processor time of an operation: shorter is better. Each group has its own scale.");
    private readonly List<string> _sources = [];
    private readonly List<string> _machines = [];

    /// <summary>Adds the rows of one case of a report.</summary>
    /// <param name="report">The report that contains the case.</param>
    /// <param name="name">The name of the case in the report.</param>
    /// <param name="heading">The heading in the chart.</param>
    /// <param name="labels">The labels of peers whose name in the report is not clear enough for a chart.</param>
    /// <exception cref="InvalidDataException">The report has no such case.</exception>
    public void Add(Report report, string name, string heading, IReadOnlyDictionary<string, string> labels)
    {
        IReadOnlyList<PeerTime> rows = PeerTime.Of(report, name);
        List<(string Label, double Ns, string Note)> bars = [("Cairn", rows.Select(row => row.OwnNs).Order().ElementAt(rows.Count / 2), "")];
        bars.AddRange(rows.Select(row =>
            (labels.GetValueOrDefault(row.Peer, row.Peer), bars[0].Ns * row.Times, Picture.Invariant($", {row.Times:0.0} times"))));

        _picture.Heading(heading);
        _picture.Y += 12;
        double longest = bars.Max(bar => bar.Ns);
        foreach (var (label, ns, note) in bars)
        {
            double length = Math.Max(2, BarsWidth * ns / longest);
            _picture.Text(BarsLeft - 10, _picture.Y + 14, label, "label");
            _picture.Bar(BarsLeft, _picture.Y, length, BarHeight, label == "Cairn" ? "own" : "peer");
            _picture.Text(BarsLeft + length + 8, _picture.Y + 14, Picture.Time(ns) + note, "value");
            _picture.Y += Step;
        }

        _picture.Y += 28;
        _picture.Describe($"{heading}: {string.Join(", ", bars.Select(bar => $"{bar.Label} {Picture.Time(bar.Ns)}"))}.");
        _sources.Add($"{report.Command} on {report.Date}");
        _machines.Add(report.Machine);
    }

    /// <summary>Returns the chart as SVG, with the source of its figures below it.</summary>
    public string ToSvg() => _picture.ToSvg(_sources.Concat(_machines).Distinct(StringComparer.Ordinal));
}
