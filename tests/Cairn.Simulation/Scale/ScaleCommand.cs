using System.Diagnostics;
using System.Globalization;
using System.Text.Json;

namespace Cairn.Simulation.Scale;

/// <summary>Measures the curves of docs/scale.md: <c>scale [--quick] [--only TEXT] [--json FILE]</c>.</summary>
internal static class ScaleCommand
{
    private static readonly JsonSerializerOptions s_json = new() { WriteIndented = true, PropertyNamingPolicy = JsonNamingPolicy.CamelCase };

    public static int Run(string[] args)
    {
        string? json = ValueOf(args, "--json");
        string? only = ValueOf(args, "--only");
        int known = args.Count(arg => arg == "--quick") + (json is null ? 0 : 2) + (only is null ? 0 : 2);
        if (known != args.Length)
        {
            bool isHelp = args is ["--help" or "-h"];
            (isHelp ? Console.Out : Console.Error).WriteLine(
                "Usage: bench/run scale [--quick] [--only TEXT] [--json FILE]\n\n"
                + "  --quick       up to 100 machines\n"
                + "  --only TEXT   only the points whose description has this text: \"track keys\", \"Machines = 100,\", \"OutageMs = 0\"\n"
                + "  --json FILE   also write the findings to this file; bench/run chart draws those of bench/results/scale.json");
            return isHelp ? 0 : 2;
        }

        var watch = Stopwatch.StartNew();
        List<ScaleRow> rows = [];
        Console.Out.WriteLine(
            "way                    machines calls changes  messages  bytes per  commands  server   tracked  hits    stale reads                        factory runs  read p99");
        Console.Out.WriteLine(
            "                               changing     /s     /change    change       /s      busy     pairs           ratio    p50     p99   longest ms   per change      ms");
        foreach (ScaleCase scale in Cases(args.Contains("--quick")))
        {
            if (only is null || scale.ToString().Contains(only, StringComparison.OrdinalIgnoreCase) || scale.Name.Contains(only, StringComparison.OrdinalIgnoreCase))
            {
                ScaleRow row = ScaleRun.Run(scale);
                rows.Add(row);
                Console.Out.WriteLine(Describe(scale, row));
                if (json is not null)
                {
                    File.WriteAllText(json, JsonSerializer.Serialize(rows, s_json) + "\n");
                }
            }
        }

        Console.Out.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{rows.Count} points in {watch.Elapsed.TotalSeconds:0} s"));
        return 0;
    }

    /// <summary>Returns the points of all curves.</summary>
    public static IEnumerable<ScaleCase> Cases(bool isQuick)
    {
        int[] sizes = isQuick ? [1, 10, 100] : [1, 3, 10, 30, 100, 300, 1_000];
        foreach (Telling telling in Enum.GetValues<Telling>())
        {
            foreach (double changes in isQuick || telling == Telling.Publish ? [1] : (double[])[0.1, 1, 10])
            {
                foreach (int size in sizes)
                {
                    yield return new ScaleCase(telling, size, changes);
                }
            }
        }

        foreach (Telling telling in (Telling[])[Telling.Publish, Telling.TrackPrefixes])
        {
            foreach (int shards in isQuick ? [3] : (int[])[3, 10, 30, 100])
            {
                yield return new ScaleCase(telling, Machines: 100, ChangePercent: 1, shards);
            }
        }

        foreach (int outageMs in (int[])[0, 3_000])
        {
            foreach (int size in isQuick ? [100] : (int[])[10, 100, 1_000])
            {
                yield return new ScaleCase(Telling.TrackPrefixes, size, ChangePercent: 0.1, OutageMs: outageMs);
            }
        }
    }

    private static string Describe(ScaleCase scale, ScaleRow row)
    {
        string line = string.Create(
            CultureInfo.InvariantCulture,
            $"{scale.Name,-22} {row.Machines,8} {row.ChangePercent,5} % {row.ChangesPerSecond,8:0.0} {row.MessagesPerChange,9:0.0} {row.BytesPerChange,10:0} {row.CommandsPerSecond,9:0} {row.Busy,8:P1} {row.Tracked,8} "
            + $"{row.HitRatio,7:P1} {row.StaleRatio,8:P3} {row.StaleP50Ms,7:0.0} {row.StaleP99Ms,7:0.0} {row.StaleLongestMs,9:0.0} {row.FactoryRunsPerChange,12:0.00} {row.ReadP99Ms,10:0.0}");
        return row.Recovery is not { } recovery ? line : line + string.Create(
            CultureInfo.InvariantCulture,
            $"\n    back after {recovery.OutageMs} ms: all receive after {recovery.ReceivingMs:0} ms, hit ratio as before after {recovery.HitRatioMs:0} ms; most connections in 10 ms {recovery.ConnectionsIn10Ms}, "
            + $"commands in 100 ms {recovery.CommandsIn100Ms} (before {recovery.CommandsIn100MsBefore}), busy {recovery.BusyMs:0} ms of 5 s, {recovery.FactoryRuns} factory runs, longest read {recovery.LongestReadMs:0} ms");
    }

    private static string? ValueOf(string[] args, string option) =>
        Array.IndexOf(args, option) is >= 0 and var at && at + 1 < args.Length ? args[at + 1] : null;
}
