using System.CommandLine;
using System.Globalization;
using Cairn.HitRate.Policies;
using Cairn.HitRate.Traces;
using Spectre.Console;

namespace Cairn.HitRate;

/// <summary>Replays traces and prints the hit ratio for each capacity and policy.</summary>
internal static class HitRateCommand
{
    private const int TableWidth = 120;

    public static RootCommand Create()
    {
        var traces = new Argument<string[]>("TRACE")
        {
            Description = "Names of traces; all that are known by default.",
            Arity = ArgumentArity.ZeroOrMore,
        };
        traces.AcceptOnlyFromAmong([.. TraceFile.Known.Select(file => file.Name)]);
        var folder = new Option<DirectoryInfo>("--traces")
        {
            Description = "The folder that holds TRACE.xz.",
            HelpName = "DIR",
            Required = true,
        };
        var percents = new Option<double[]>("--percent")
        {
            Description = "Capacities, in percent of the trace's distinct keys.",
            HelpName = "P",
            AllowMultipleArgumentsPerToken = true,
            DefaultValueFactory = _ => [1, 10],
        };

        var command = new RootCommand("Replays traces and prints hit ratio by capacity and policy.") { traces, folder, percents };
        command.SetAction(parsed =>
        {
            var named = parsed.GetValue(traces) ?? [];
            var chosen = TraceFile.Known.Where(file => named.Length == 0 || named.Contains(file.Name, StringComparer.Ordinal));
            Print(chosen, parsed.GetRequiredValue(folder).FullName, parsed.GetRequiredValue(percents));
        });
        return command;
    }

    private static void Print(IEnumerable<TraceFile> files, string folder, IReadOnlyList<double> percents)
    {
        var table = new Table().Border(TableBorder.Simple).AddColumn("trace");
        foreach (var heading in new[] { "keys", "capacity", "LRU", "SIEVE", "S3-FIFO", "W-TinyLFU", "adaptive", "store", "first level", "optimal" })
        {
            table.AddColumn(new TableColumn(heading).RightAligned());
        }

        foreach (var trace in files.Select(file => file.ReadFrom(folder)))
        {
            foreach (var percent in percents)
            {
                var capacity = trace.CapacityAt(percent);
                var capacityBytes = CairnStorePolicy.CapacityFor(Path.GetTempPath(), capacity);
                table.AddRow(
                    trace.Name,
                    Text(trace.DistinctKeys),
                    Text(capacity),
                    Percent(new LruPolicy(capacity, trace.DistinctKeys), trace),
                    Percent(new SievePolicy(capacity, trace.DistinctKeys), trace),
                    Percent(new S3FifoPolicy(capacity, trace.DistinctKeys), trace),
                    Percent(new WindowTinyLfuPolicy(capacity, trace.DistinctKeys, isAdaptive: false), trace),
                    Percent(new WindowTinyLfuPolicy(capacity, trace.DistinctKeys, isAdaptive: true), trace),
                    Percent(new CairnStorePolicy(Path.GetTempPath(), capacityBytes, countsEntries: false), trace),
                    Percent(new LocalCachePolicy(capacity, trace.DistinctKeys), trace),
                    Percent(new OptimalPolicy(capacity, trace.Requests, trace.DistinctKeys), trace));
            }
        }

        // A narrow terminal would truncate the figures. A terminal narrower than the table wraps its lines instead.
        AnsiConsole.Profile.Width = Math.Max(AnsiConsole.Profile.Width, TableWidth);
        AnsiConsole.Write(table);
    }

    private static string Percent(ICachePolicy policy, Trace trace)
    {
        using (policy)
        {
            return Replay.Run(policy, trace).HitPercent.ToString("0.00", CultureInfo.InvariantCulture);
        }
    }

    private static string Text(int number) => number.ToString("#,0", CultureInfo.InvariantCulture);
}
