using System.Globalization;
using Cairn.Eviction.Dueling;
using Cairn.HitRate.Policies;
using Cairn.HitRate.Traces;
using Spectre.Console;
using static Cairn.HitRate.Figure;

namespace Cairn.HitRate;

/// <summary>
/// Compares the first level's estimates of its hit ratio with another capacity or policy with the hit ratio of a first level that has them, from the
/// request on that makes the level evict for the first time.
/// </summary>
internal static class EstimateTable
{
    // The sampled keys depend on the hashes, so an estimate of one cache can be good by chance.
    private const int Seeds = 3;
    private const double GoalPoints = 2;

    public static void Print(IEnumerable<Trace> traces, double[] percents)
    {
        var table = new Table().Border(TableBorder.Simple).AddColumn("trace");
        string[] headings =
            ["capacity", "hits", .. ShadowSet.Scales.Select(scale => $"x {Text(scale, "0.#")}: true / estimated"), .. ShadowSet.Scales.Select(scale => $"worst x {Text(scale, "0.#")}"), "worst policy"];
        foreach (var heading in headings)
        {
            table.AddColumn(new TableColumn(heading).RightAligned());
        }

        var errors = new List<double>();
        var averages = new List<double>();
        var ofPolicies = new List<double>();
        var within = 0;
        foreach (var trace in traces)
        {
            foreach (var capacity in percents.Length > 0 ? percents.Select(trace.CapacityAt) : trace.Capacities)
            {
                var candidates = QueuePolicy.Candidates.Count;
                var full = FirstRequestOfFullLevel(trace, capacity);
                double[] truth =
                [
                    .. QueuePolicy.Candidates.Select(policy => HitPercent(new LocalCachePolicy(capacity, trace.DistinctKeys, policy: policy), trace, full)),
                    .. ShadowSet.Scales.Select(scale => HitPercent(new LocalCachePolicy(Math.Max(1, (int)(capacity * scale)), trace.DistinctKeys), trace, full)),
                ];
                var estimated = new double[truth.Length];
                var worst = new double[truth.Length];
                var margins = new double[truth.Length];
                var hits = 0.0;
                for (var seed = 1; seed <= Seeds; seed++)
                {
                    var level = new LocalCachePolicy(capacity, trace.DistinctKeys, seed);
                    var percent = HitPercent(level, trace, full);
                    hits += percent / Seeds;
                    for (var i = 0; i < truth.Length; i++)
                    {
                        var estimate = Math.Clamp(percent + (100 * level.Gained[i] / (trace.Requests.Length - full)), 0, 100);
                        estimated[i] += estimate / Seeds;
                        worst[i] = Math.Abs(estimate - truth[i]) > Math.Abs(worst[i]) ? estimate - truth[i] : worst[i];
                        var margin = 100 * level.Margins[i] / (trace.Requests.Length - full);
                        margins[i] += margin / Seeds;
                        within += i >= candidates && Math.Abs(estimate - truth[i]) <= Math.Max(margin, GoalPoints) ? 1 : 0;
                    }
                }

                errors.AddRange(worst.Skip(candidates));
                averages.AddRange(Enumerable.Range(candidates, ShadowSet.Scales.Count).Select(i => estimated[i] - truth[i]));
                ofPolicies.AddRange(worst.Take(candidates));
                table.AddRow(
                    [
                        trace.Name, Text(capacity, "#,0"), Text(hits),
                        .. Enumerable.Range(candidates, ShadowSet.Scales.Count).Select(i => $"{Text(truth[i])} / {Text(estimated[i])} ± {Text(margins[i], "0.0")}"),
                        .. worst.Skip(candidates).Select(error => Signed(error)), Signed(worst.Take(candidates).MaxBy(Math.Abs)),
                    ]);
            }
        }

        AnsiConsole.Profile.Width = Math.Max(AnsiConsole.Profile.Width, 200);
        AnsiConsole.Write(table);
        Summarize("other capacities, the average of the seeds of each row", averages);
        Summarize("other capacities, the worst of the seeds of each row", errors);
        Summarize("other policies, the worst of the seeds of each row", ofPolicies);
        AnsiConsole.WriteLine(string.Create(
            CultureInfo.InvariantCulture, $"other capacities: {within} of {errors.Count * Seeds} estimates are within {GoalPoints} points or within their interval"));
    }

    private static void Summarize(string subject, List<double> errors) => AnsiConsole.WriteLine(string.Create(
        CultureInfo.InvariantCulture,
        $"{subject}: {errors.Count(error => Math.Abs(error) <= GoalPoints)} of {errors.Count} within {GoalPoints} points, {errors.Average(Math.Abs):0.00} on average, {errors.MaxBy(Math.Abs):+0.00;-0.00} at worst"));

    // Estimates begin when the level is full. A smaller level would have evicted before.
    private static int FirstRequestOfFullLevel(Trace trace, int capacity)
    {
        var keys = new HashSet<int>();
        var full = Array.FindIndex(trace.Requests, key => keys.Add(key) && keys.Count > capacity);
        return full < 0 ? 0 : full;
    }

    private static double HitPercent(LocalCachePolicy level, Trace trace, int full)
    {
        var hits = 0;
        for (var i = 0; i < trace.Requests.Length; i++)
        {
            hits += level.Request(trace.Requests[i]) && i >= full ? 1 : 0;
        }

        return 100.0 * hits / (trace.Requests.Length - full);
    }
}
