using System.Text.Json;

namespace Cairn.Benchmarks.Reporting;

/// <summary>
/// Draws the chart at the top of README.md from the findings in bench/results. <c>bench/run chart</c> creates it again. docs/benchmarks.md
/// says which areas to run before.
/// </summary>
internal static class ReadmeChart
{
    public const string Command = "chart";

    private static readonly Dictionary<string, string> Labels = new(StringComparer.Ordinal)
    {
        ["IMemoryCache"] = "Microsoft's IMemoryCache",
        ["MapDB mmap, no commit"] = "MapDB, memory-mapped",
    };

    // The file of findings, the case, its heading, whether a ratio above 1 is better for Cairn, and a peer to leave out.
    // memcached 1.6.18 sends the replies to pipelined requests one at a time. Later versions collect them, so its row is left out.
    private static readonly (string File, string Case, string Heading, bool IsMoreBetter, string? LeftOut)[] Groups =
    [
        ("server.json", "get, 50 connections", "A server answers a get, one at a time from each of 50 clients", true, null),
        ("server.json", "get, pipeline 16", "A server answers a get, 16 requests in flight", true, "memcached 1.6.18"),
        ("hybrid.json", "hit, shared object, 10k", "HybridCache finds an object in its process", false, null),
        ("store.json", "get, int to int, 1M", "A persistent map finds one of 1M entries (elapsed time)", false, null),
    ];

    /// <summary>Writes the chart to docs/images/chart.svg below <paramref name="root"/>, the repository's root.</summary>
    public static int Write(string root)
    {
        var chart = new Chart("What an operation costs");
        foreach (var (file, name, heading, isMoreBetter, leftOut) in Groups)
        {
            string path = Path.Combine(root, "bench", "results", file);
            using var source = File.OpenRead(path);
            var report = JsonSerializer.Deserialize(source, ReportJsonContext.Default.Report) ?? throw new InvalidDataException($"{path} holds nothing.");
            chart.Add(report with { Rows = [.. report.Rows.Where(row => row.Against != leftOut)] }, name, heading, isMoreBetter, Labels);
        }

        File.WriteAllText(Path.Combine(root, "docs", "images", "chart.svg"), chart.ToSvg());
        return 0;
    }
}
