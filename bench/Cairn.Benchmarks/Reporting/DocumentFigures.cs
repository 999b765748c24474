using System.Text.Json;
using System.Text.RegularExpressions;
using Cairn.HitRate;

namespace Cairn.Benchmarks.Reporting;

/// <summary>
/// Writes the charts and tables of the documents from the findings in bench/results. <c>bench/run chart</c> creates them again. docs/benchmarks.md
/// says which areas to run before. A table is between two comments, and the first one names the file of findings, the cases, and how the names of the
/// peers begin: <c>&lt;!-- figures: server.json | get, pipeline 16 | meta get, pipeline 16 | by memcached --&gt;</c>. Without peers it has all.
/// <c>&lt;!-- findings: store.json, embedded.json --&gt;</c> has all findings with their goals. <c>&lt;!-- table: native --&gt;</c> has a table of
/// bench/results/tables, in which the figures are recorded as a program without such a report printed them.
/// </summary>
internal static partial class DocumentFigures
{
    public const string Command = "chart";

    private static readonly Dictionary<string, string> _labels = new(StringComparer.Ordinal)
    {
        ["IMemoryCache"] = "Microsoft's IMemoryCache",
        ["Microsoft's HybridCache 10.11.0"] = "Microsoft's 10.11.0",
        ["MapDB mmap, no commit"] = "MapDB, memory-mapped",
    };

    // The file of findings, the case, its heading, and a peer to leave out.
    // memcached 1.6.18 sends the replies to pipelined requests one at a time. Later versions collect them, so its row is left out.
    private static readonly (string File, string Case, string Heading, string? LeftOut)[] _groups =
    [
        ("server.json", "get, 50 connections", "A server answers a get, one at a time from each of 50 clients", null),
        ("server.json", "get, pipeline 16", "A server answers a get, 16 requests in flight", "memcached 1.6.18"),
        ("hybrid.json", "hit, shared object, 10k", "HybridCache finds an object in its process", null),
        ("store.json", "get, int to int, 1M", "A persistent map finds one of 1M entries (elapsed time)", null),
    ];

    /// <summary>Writes all charts and tables below <paramref name="root"/>, the repository's root.</summary>
    public static int Write(string root)
    {
        foreach (var (path, text) in Create(root))
        {
            File.WriteAllText(path, text);
        }

        return 0;
    }

    /// <summary>Returns the paths of all charts, and of the documents with such tables, with the text that each file must have.</summary>
    public static IEnumerable<(string Path, string Text)> Create(string root)
    {
        var chart = new Chart("What an operation costs");
        foreach (var (file, name, heading, leftOut) in _groups)
        {
            Report report = Read(root, file);
            chart.Add(report with { Rows = [.. report.Rows.Where(row => row.Against != leftOut)] }, name, heading, _labels);
        }

        string documents = Path.Combine(root, "docs");
        yield return (Path.Combine(documents, "images", "chart.svg"), chart.ToSvg());
        yield return (Path.Combine(documents, "images", "formats.svg"), FormatsChart.ToSvg(Read(root, "formats.json")));
        foreach ((string Path, string Text) file in CreateScale(root, documents))
        {
            yield return file;
        }

        string[] folders = [root, documents, Path.Combine(documents, "how-to"), Path.Combine(documents, "compare"), Path.Combine(root, "samples", "Bookshop")];
        foreach (string document in folders.SelectMany(folder => Directory.EnumerateFiles(folder, "*.md")))
        {
            string text = File.ReadAllText(document);
            string filled = TableMarks().Replace(text, match => Filled(root, match));
            filled = FindingsMarks().Replace(filled, match => Between(match, FindingsTable.Of(match.Groups["file"].Captures.SelectMany(file => Read(root, file.Value).Rows))));
            filled = RecordedMarks().Replace(filled, match => Between(match, RecordedTable.Read(root, match.Groups["name"].Value)));
            if (TableMarks().IsMatch(text) || FindingsMarks().IsMatch(text) || RecordedMarks().IsMatch(text))
            {
                yield return (document, filled);
            }
        }
    }

    private static IEnumerable<(string Path, string Text)> CreateScale(string root, string documents)
    {
        using var findings = JsonDocument.Parse(File.ReadAllText(Path.Combine(root, "bench", "results", "scale.json")));
        yield return (Path.Combine(documents, "images", "scale.svg"), ScaleChart.ToSvg(findings.RootElement));
        string page = Path.Combine(documents, "scale.md");
        yield return (page, ScaleMarks().Replace(File.ReadAllText(page), match => Between(match, ScaleChart.Table(findings.RootElement, match.Groups["table"].Value))));
    }

    private static string Filled(string root, Match match)
    {
        Report report = Read(root, match.Groups["file"].Value);
        string[] cases = [.. match.Groups["case"].Captures.Select(capture => capture.Value)];
        string[] peers = [.. match.Groups["peer"].Captures.Select(capture => capture.Value)];
        return Between(match, report.Area == "formats" ? FormatsChart.Table(report, cases[0]) : PeerTable(report, cases, peers));
    }

    private static string Between(Match match, IEnumerable<string> lines) => $"{match.Groups["begin"].Value}\n{string.Join('\n', lines)}\n\n<!-- end of figures -->";

    private static IEnumerable<string> PeerTable(Report report, string[] cases, string[] peers)
    {
        yield return "| case | Cairn | the other | time by the ratio | ratio |";
        yield return "|---|---|---|---|---|";
        foreach (string name in cases)
        {
            foreach (PeerTime row in PeerTime.Of(report, name))
            {
                if (peers.Length == 0 || peers.Any(peer => row.Peer.StartsWith(peer, StringComparison.Ordinal)))
                {
                    yield return Picture.Invariant($"| {name} | {Picture.Time(row.OwnNs)} | {row.Peer} | {Picture.Time(row.PeerNs)} | {row.Times:0.00} |");
                }
            }
        }
    }

    private static Report Read(string root, string file)
    {
        string path = Path.Combine(root, "bench", "results", file);
        using var source = File.OpenRead(path);
        return JsonSerializer.Deserialize(source, ReportJsonContext.Default.Report) ?? throw new InvalidDataException($"{path} holds nothing.");
    }

    [GeneratedRegex(@"(?<begin><!-- scale: (?<table>\w+) -->\n).*?<!-- end of figures -->", RegexOptions.Singleline)]
    private static partial Regex ScaleMarks();

    [GeneratedRegex(@"(?<begin><!-- findings: (?<file>[\w.-]+)(, (?<file>[\w.-]+))* -->\n).*?<!-- end of figures -->", RegexOptions.Singleline)]
    private static partial Regex FindingsMarks();

    [GeneratedRegex(@"(?<begin><!-- table: (?<name>[\w-]+) -->\n).*?<!-- end of figures -->", RegexOptions.Singleline)]
    private static partial Regex RecordedMarks();

    [GeneratedRegex(
        @"(?<begin><!-- figures: (?<file>[\w.]+)( \| (?<case>(?!by )[^|\n]+?))+( \| by (?<peer>[^|,\n]+?)(, (?<peer>[^|,\n]+?))*)? -->\n).*?<!-- end of figures -->",
        RegexOptions.Singleline)]
    private static partial Regex TableMarks();
}
