using System.Globalization;
using System.Net;
using System.Text;

namespace Cairn.Benchmarks.Reporting;

/// <summary>
/// Draws findings of several runs. There is a group of bars for each case, Cairn's beside those of its peers. The length of a bar is the
/// processor time per operation. Each group has its own scale, because a request to a server and a memory lookup have no common one.
/// </summary>
internal sealed class Chart(string title)
{
    private const int Width = 920;
    private const int LabelWidth = 250;
    private const int BarWidth = 480;
    private const int BarHeight = 22;
    private const int Step = 28;

    private readonly StringBuilder _bars = new();
    private readonly List<string> _sources = [];
    private int _y = 90;

    /// <summary>Adds the rows of one case of a report. The peer's time is computed from the subject's time and the ratio.</summary>
    /// <param name="report">The report that contains the case.</param>
    /// <param name="name">The name of the case in the report.</param>
    /// <param name="heading">The heading in the chart.</param>
    /// <param name="isMoreBetter">Whether the ratio is one of operations per second, as for servers, and not one of times.</param>
    /// <param name="labels">The labels of peers whose name in the report is not clear enough for a chart.</param>
    /// <exception cref="InvalidDataException">The report has no such case.</exception>
    public void Add(Report report, string name, string heading, bool isMoreBetter, IReadOnlyDictionary<string, string> labels)
    {
        var rows = report.Rows.Where(row => row.Case == name && row is { Ratio: > 0 } && TimeOf(row) > 0).ToList();
        rows.RemoveAll(row => row.Subject != rows[0].Subject);
        if (rows.Count == 0)
        {
            throw new InvalidDataException($"The report of {report.Command} has no finding of the case '{name}'.");
        }

        List<(string Label, double Ns, string Note)> bars = [("Cairn", rows.Select(row => TimeOf(row)!.Value).Order().ElementAt(rows.Count / 2), "")];
        foreach (var row in rows)
        {
            double ratio = isMoreBetter ? row.Ratio!.Value : 1 / row.Ratio!.Value;
            bars.Add((labels.GetValueOrDefault(row.Against, row.Against), bars[0].Ns * ratio, Invariant($"{ratio:0.0} times")));
        }

        AddText(24, _y, heading, "heading");
        _y += 12;
        double longest = bars.Max(bar => bar.Ns);
        foreach (var (label, ns, note) in bars)
        {
            double length = Math.Max(2, BarWidth * ns / longest);
            AddText(LabelWidth - 10, _y + 16, label, "label");
            _bars.Append(Invariant($"""<rect x="{LabelWidth}" y="{_y}" width="{length:0.#}" height="{BarHeight}" rx="3" class="{(label == "Cairn" ? "own" : "peer")}"/>"""))
                .Append('\n');
            AddText((int)(LabelWidth + length + 8), _y + 16, note.Length == 0 ? Time(ns) : $"{Time(ns)}, {note}", "value");
            _y += Step;
        }

        _y += 30;
        string source = $"{report.Command} on {report.Date}: {report.Machine}";
        if (!_sources.Contains(source, StringComparer.Ordinal))
        {
            _sources.Add(source);
        }
    }

    /// <summary>Returns the chart as SVG, with the source of its figures below it.</summary>
    public string ToSvg()
    {
        var sources = new StringBuilder();
        int y = _y + 4;
        foreach (string source in _sources)
        {
            foreach (string line in Wrapped(source))
            {
                sources.Append(Invariant($"""<text x="24" y="{y}" class="source">{WebUtility.HtmlEncode(line)}</text>""")).Append('\n');
                y += 16;
            }
        }

        return $$"""
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {{Width}} {{y + 8}}" width="{{Width}}" height="{{y + 8}}" role="img" aria-label="{{WebUtility.HtmlEncode(title)}}">
            <style>
            text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1c2524; font-size: 14px; }
            .title { font-size: 18px; font-weight: 600; } .heading { font-weight: 600; } .label { text-anchor: end; }
            .soft, .source, .value { fill: #55625f; } .source { font-size: 11px; }
            .own { fill: #12645c; } .peer { fill: #b9c8c3; }
            </style>
            <rect width="{{Width}}" height="{{y + 8}}" rx="10" fill="#ffffff"/>
            <text x="24" y="32" class="title">{{WebUtility.HtmlEncode(title)}}</text>
            <text x="24" y="52" class="soft">Processor time of an operation: shorter is better. Each group has its own scale.</text>
            <g>
            {{_bars}}{{sources}}</g>
            </svg>

            """;
    }

    private static double? TimeOf(ReportRow row) => row.CpuNs ?? row.WallNs;

    private static string Time(double ns) => ns switch
    {
        < 1_000 => Invariant($"{ns:0} ns"),
        < 1_000_000 => Invariant($"{ns / 1_000:0.0} µs"),
        _ => Invariant($"{ns / 1_000_000:0.0} ms"),
    };

    private static IEnumerable<string> Wrapped(string text)
    {
        const int LineChars = 140;
        while (text.Length > LineChars)
        {
            int end = text.LastIndexOf(' ', LineChars);
            yield return text[..end];
            text = text[(end + 1)..];
        }

        yield return text;
    }

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);

    private void AddText(int x, int y, string text, string kind) =>
        _bars.Append(Invariant($"""<text x="{x}" y="{y}" class="{kind}">{WebUtility.HtmlEncode(text)}</text>""")).Append('\n');
}
