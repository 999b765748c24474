using System.Text.Json;

namespace Cairn.Benchmarks.Reporting;

/// <summary>
/// The chart at the top of README.md, of the findings that lie in bench/results. <c>bench/run chart</c> makes it anew; what to run before is
/// in docs/benchmarks.md.
/// </summary>
internal static class ReadmeChart
{
    public const string Command = "chart";

    private static readonly Dictionary<string, string> Labels = new(StringComparer.Ordinal)
    {
        ["IMemoryCache"] = "Microsoft's IMemoryCache",
        ["MapDB mmap, no commit"] = "MapDB, memory-mapped",
    };

    // File of findings, case, heading, and whether a ratio above 1 speaks for Cairn.
    private static readonly (string File, string Case, string Heading, bool IsMoreBetter)[] Groups =
    [
        ("server.json", "get, 50 connections", "A server answers a get, one at a time from each of 50 clients", true),
        ("server.json", "get, pipeline 16", "A server answers a get, 16 requests in flight", true),
        ("hybrid.json", "hit, shared object, 10k", "HybridCache finds an object in its process", false),
        ("store.json", "get, int to int, 1M", "A persistent map finds one of 1M entries (elapsed time)", false),
    ];

    /// <summary>Writes the chart to docs/images/chart.svg; the folder is the repository's root.</summary>
    public static int Write(string root)
    {
        var chart = new Chart("What an operation costs");
        foreach (var (file, name, heading, isMoreBetter) in Groups)
        {
            string path = Path.Combine(root, "bench", "results", file);
            using var source = File.OpenRead(path);
            var report = JsonSerializer.Deserialize(source, ReportJsonContext.Default.Report) ?? throw new InvalidDataException($"{path} holds nothing.");
            chart.Add(report, name, heading, isMoreBetter, Labels);
        }

        File.WriteAllText(Path.Combine(root, "docs", "images", "chart.svg"), chart.ToSvg());
        return 0;
    }
}
