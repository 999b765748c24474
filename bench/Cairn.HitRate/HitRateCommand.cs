using System.CommandLine;
using System.Globalization;
using Cairn.HitRate.Policies;
using Cairn.HitRate.Traces;
using Spectre.Console;
using static Cairn.HitRate.Figure;

namespace Cairn.HitRate;

/// <summary>Replays traces and prints the hit ratio for each capacity and policy, with the best peer of each row.</summary>
internal static class HitRateCommand
{
    private const int TableWidth = 140;
    private const int CurvePoints = 12;
    private const double CurveFromPercent = 0.2;
    private const double CurveToPercent = 60;

    // The store divides a file into segments, of 32 such entries or more. With few of them its hit ratio says little, so its summary begins at 64.
    private const int FewestEntriesOfStore = 500;
    private const int EntriesOf64Segments = 2048;

    public static RootCommand Create()
    {
        var traces = new Argument<string[]>("TRACE")
        {
            Description = "Names of traces; all that are known by default.",
            Arity = ArgumentArity.ZeroOrMore,
        };
        traces.AcceptOnlyFromAmong([.. TraceFile.Known.Select(file => file.Name)]);
        var folder = new Option<DirectoryInfo?>("--traces") { Description = "The folder that holds TRACE.xz.", HelpName = "DIR" };
        var own = new Option<FileInfo?>("--trace")
        {
            Description = "A trace of your own instead: one key a line, or a key and a size in bytes.",
            HelpName = "FILE",
        };
        var generated = new Option<int?>("--generated")
        {
            Description = "Generated traces of 28 kinds instead, at 0.5, 2, 10 and 30 % of their keys. Parameters are chosen on even seeds, and odd seeds are reported.",
            HelpName = "SEED",
        };
        var programs = new Option<int?>("--programs")
        {
            Description = "Generated traces of eleven kinds of programs instead, at 4, 12, 25 and 45 % of their keys. Even and odd seeds as with --generated.",
            HelpName = "SEED",
        };
        var quick = new Option<bool>("--quick") { Description = "End within a minute: without the store and the optimum." };
        var percents = new Option<double[]>("--percent")
        {
            Description = "Capacities, in percent of the trace's distinct keys. Default: three for each known trace; 1, 5 and 20 for another one.",
            HelpName = "P",
            AllowMultipleArgumentsPerToken = true,
        };
        var curves = new Option<DirectoryInfo?>("--svg")
        {
            Description = "Draw the hit ratio over the capacity instead, as DIR/TRACE.svg.",
            HelpName = "DIR",
        };

        var estimates = new Option<bool>("--estimates")
        {
            Description = "Compare the first level's estimates of its hit ratio with other capacities and policies with replays of them instead.",
        };

        var command = new RootCommand("Replays traces and prints hit ratio by capacity and policy.") { traces, folder, own, generated, programs, quick, percents, curves, estimates };
        command.SetAction(parsed =>
        {
            var named = parsed.GetValue(traces) ?? [];
            var isQuick = parsed.GetValue(quick);
            var chosen = parsed.GetValue(own) is { } file
                ? [TraceFile.ReadOwn(file)]
                : parsed.GetValue(generated) is { } seed ? GeneratedTraces.Of(seed)
                : parsed.GetValue(programs) is { } programSeed ? ProgramTraces.Of(programSeed) : TraceFile.Known
                    .Where(known => named.Length == 0 || named.Contains(known.Name, StringComparer.Ordinal))
                    .Select(known => known.ReadFrom(parsed.GetValue(folder)?.FullName ?? throw new InvalidOperationException("Name the folder of the traces with --traces.")));
            if (parsed.GetValue(curves) is { } target)
            {
                Draw(chosen, target);
            }
            else if (parsed.GetValue(estimates))
            {
                EstimateTable.Print(chosen, parsed.GetValue(percents) ?? []);
            }
            else
            {
                Print(chosen, parsed.GetValue(percents) ?? [], isQuick);
            }
        });
        return command;
    }

    private static void Print(IEnumerable<Trace> traces, double[] percents, bool isQuick)
    {
        var table = new Table().Border(TableBorder.Simple).AddColumn("trace");
        foreach (var heading in (string[])["capacity", "%", "LRU", "SIEVE", "S3-FIFO", "W-TinyLFU", "adaptive", "best peer", "first level", "+/-", "store", "+/-", "optimal"])
        {
            table.AddColumn(new TableColumn(heading).RightAligned());
        }

        var firstLevel = new List<double>();
        var store = new List<double>();
        var sized = new List<Trace>();
        foreach (var trace in traces)
        {
            foreach (var capacity in percents.Length > 0 ? percents.Select(trace.CapacityAt) : trace.Capacities)
            {
                double[] peers = [.. Peers(trace, capacity).Select(policy => Percent(policy, trace))];
                var best = peers.Max();
                var own = Percent(new LocalCachePolicy(capacity, trace.DistinctKeys), trace);
                firstLevel.Add(own - best);
                var ofStore = isQuick || capacity < FewestEntriesOfStore ? double.NaN : OfStore(trace, capacity);
                if (!double.IsNaN(ofStore) && capacity >= EntriesOf64Segments)
                {
                    store.Add(ofStore - best);
                }

                var optimal = isQuick ? double.NaN : Percent(new OptimalPolicy(capacity, trace.Requests, trace.DistinctKeys), trace);
                table.AddRow(
                    [
                        trace.Name, capacity.ToString("#,0", CultureInfo.InvariantCulture), Text(100.0 * capacity / trace.DistinctKeys, "0.0"),
                        .. peers.Append(best).Append(own).Select(percent => Text(percent)), Signed(own - best), Text(ofStore),
                        Signed(ofStore - best), Text(optimal),
                    ]);
            }

            if (trace.Sizes.Length > 0)
            {
                sized.Add(trace);
            }
        }

        // A narrow terminal would truncate the figures. A terminal narrower than the table wraps its lines instead.
        AnsiConsole.Profile.Width = Math.Max(AnsiConsole.Profile.Width, TableWidth);
        AnsiConsole.Write(table);
        Summarize("first level", firstLevel, near: 0.5, far: 2);
        Summarize("store of 64 segments or more", store, near: 1, far: 3);
        sized.ForEach(trace => PrintSizes(trace, percents));
    }

    // With objects of different size, a policy trades hits of objects for hits of bytes.
    private static void PrintSizes(Trace trace, double[] percents)
    {
        var table = new Table().Border(TableBorder.Simple).AddColumn($"{trace.Name}, sizes");
        foreach (var heading in (string[])["bytes", "%", "LRU", "GDSF", "AdaptSize", "first level"])
        {
            table.AddColumn(new TableColumn(heading + (heading is "bytes" or "%" ? "" : ": objects / bytes")).RightAligned());
        }

        var all = trace.Sizes.Sum(size => (long)size);
        foreach (var percent in percents.Length > 0 ? percents : [1.0, 10])
        {
            var capacity = Math.Max(1, (long)(all * percent / 100));
            ICachePolicy[] policies =
            [
                new SizedLruPolicy(capacity, trace.Sizes), new GdsfPolicy(capacity, trace.Sizes), new AdaptSizePolicy(capacity, trace.Sizes),
                new LocalCachePolicy(capacity, trace.Sizes),
            ];
            table.AddRow(
                [
                    "", capacity.ToString("#,0", CultureInfo.InvariantCulture), Text(percent, "0.0"),
                    .. policies.Select(policy =>
                    {
                        using (policy)
                        {
                            var replay = Replay.Run(policy, trace);
                            return $"{Text(replay.HitPercent)} / {Text(replay.ByteHitPercent)}";
                        }
                    }),
                ]);
        }

        AnsiConsole.Write(table);
    }

    private static void Draw(IEnumerable<Trace> traces, DirectoryInfo folder)
    {
        folder.Create();
        foreach (var trace in traces)
        {
            var chart = new CurveChart($"{trace.Name}: hit ratio over capacity, in percent of {trace.DistinctKeys.ToString("#,0", CultureInfo.InvariantCulture)} keys");
            double[] percents = [.. Enumerable.Range(0, CurvePoints).Select(i =>
                CurveFromPercent * Math.Pow(CurveToPercent / CurveFromPercent, (double)i / (CurvePoints - 1)))];
            (string Name, Func<int, ICachePolicy> Create)[] policies =
            [
                ("LRU", capacity => new LruPolicy(capacity, trace.DistinctKeys)),
                ("S3-FIFO", capacity => new S3FifoPolicy(capacity, trace.DistinctKeys)),
                ("W-TinyLFU, adaptive", capacity => new WindowTinyLfuPolicy(capacity, trace.DistinctKeys, isAdaptive: true)),
                ("first level", capacity => new LocalCachePolicy(capacity, trace.DistinctKeys)),
                ("optimal", capacity => new OptimalPolicy(capacity, trace.Requests, trace.DistinctKeys)),
            ];
            foreach (var (name, create) in policies)
            {
                chart.Add(name, [.. percents.Select(percent => (percent, Percent(create(trace.CapacityAt(percent)), trace)))]);
            }

            var path = Path.Combine(folder.FullName, trace.Name + ".svg");
            File.WriteAllText(path, chart.ToSvg());
            AnsiConsole.WriteLine(path);
        }
    }

    private static void Summarize(string subject, List<double> differences, double near, double far)
    {
        if (differences.Count > 0)
        {
            AnsiConsole.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"{subject}, against the best peer of each row: {differences.Average():+0.00;-0.00} points on average, {differences.Min():+0.00;-0.00} at worst; "
                + $"{differences.Count(difference => difference >= -near)} of {differences.Count} rows within {near}, {differences.Count(difference => difference < -far)} more than {far} below"));
        }
    }

    private static ICachePolicy[] Peers(Trace trace, int capacity) =>
    [
        new LruPolicy(capacity, trace.DistinctKeys), new SievePolicy(capacity, trace.DistinctKeys), new S3FifoPolicy(capacity, trace.DistinctKeys),
        new WindowTinyLfuPolicy(capacity, trace.DistinctKeys, isAdaptive: false), new WindowTinyLfuPolicy(capacity, trace.DistinctKeys, isAdaptive: true),
    ];

    private static double OfStore(Trace trace, int capacity) => Percent(
        new CairnStorePolicy(Path.GetTempPath(), CairnStorePolicy.CapacityFor(Path.GetTempPath(), capacity), countsEntries: false), trace);

    private static double Percent(ICachePolicy policy, Trace trace)
    {
        using (policy)
        {
            return Replay.Run(policy, trace).HitPercent;
        }
    }
}
