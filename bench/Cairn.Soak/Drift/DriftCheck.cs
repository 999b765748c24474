using System.Globalization;

namespace Cairn.Soak.Drift;

/// <summary>A figure that may not grow from piece to piece.</summary>
/// <param name="Name">What the report calls it.</param>
/// <param name="Unit">Its unit.</param>
/// <param name="Read">Takes it from a summary.</param>
/// <param name="AllowedPerDay">By how much it may grow in 24 hours, in its unit.</param>
/// <param name="AllowedShare">The same as a share of the figure's median. The larger of both counts.</param>
internal sealed record DriftRule(string Name, string Unit, Func<ServerSummary, double> Read, double AllowedPerDay, double AllowedShare)
{
    /// <summary>Every figure that is watched.</summary>
    public static IReadOnlyList<DriftRule> All { get; } =
    [
        new("memory when idle", "MiB", server => server.IdleAnonymousBytes / (double)(1 << 20), 16, 0.2),
        new("memory under load", "MiB", server => server.LoadedAnonymousBytes / (double)(1 << 20), 16, 0.2),
        new("descriptors when idle", "", server => server.IdleDescriptors, 2, 0),
        new("threads when idle", "", server => server.IdleThreads, 4, 0),
        new("mappings when idle", "", server => server.IdleMappings, 40, 0.05),
        new("median latency", "ms", server => server.P50Ms, 0.05, 0.5),
        new("p99 latency", "ms", server => server.P99Ms, 0.5, 0.5),
        new("longest restart", "ms", server => server.LongestRestartMs, 200, 0.5),
    ];
}

/// <summary>What the pieces say of one figure of one server.</summary>
/// <param name="Rule">The figure.</param>
/// <param name="Server">Whose.</param>
/// <param name="Values">One for each piece.</param>
/// <param name="PerDay">Estimated growth in 24 hours, with its interval.</param>
/// <param name="Allowed">How much it may grow in 24 hours.</param>
internal sealed record DriftFinding(DriftRule Rule, string Server, IReadOnlyList<double> Values, SenSlope PerDay, double Allowed)
{
    /// <summary>
    /// Whether the figure drifts: the estimate is over the allowance, and the whole interval is above zero. A few pieces on a noisy machine prove
    /// nothing, so nothing is claimed before the interval is narrow enough.
    /// </summary>
    public bool IsDrift => PerDay.Slope > Allowed && PerDay.Low > 0;

    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"{Rule.Name} of '{Server}' grows by {PerDay.Slope:N2} {Rule.Unit} a day (95 %: {PerDay.Low:N2} to {PerDay.High:N2}); {Allowed:N2} is allowed");
}

/// <summary>Looks for figures that grow over the pieces of a soak test.</summary>
internal static class DriftCheck
{
    private const double SecondsPerDay = 86_400;

    public static IReadOnlyList<DriftFinding> Of(IReadOnlyList<PieceSummary> pieces)
    {
        var findings = new List<DriftFinding>();
        foreach (string server in pieces.SelectMany(piece => piece.Servers).Select(server => server.Name).Distinct(StringComparer.Ordinal))
        {
            findings.AddRange(DriftRule.All.Select(rule => Of(pieces, server, rule)));
        }

        return findings;
    }

    private static DriftFinding Of(IReadOnlyList<PieceSummary> pieces, string server, DriftRule rule)
    {
        var points = new List<(double X, double Y)>(pieces.Count);
        double days = 0;
        foreach (PieceSummary piece in pieces)
        {
            days += piece.Seconds / SecondsPerDay;
            if (piece.Servers.FirstOrDefault(other => other.Name == server) is { } summary && !double.IsNaN(rule.Read(summary)))
            {
                points.Add((days, rule.Read(summary)));
            }
        }

        double[] values = [.. points.Select(point => point.Y)];
        double[] sorted = [.. values.Order()];
        double median = sorted.Length == 0 ? 0 : sorted[sorted.Length / 2];
        return new DriftFinding(rule, server, values, SenSlope.Of(points), Math.Max(rule.AllowedPerDay, rule.AllowedShare * median));
    }
}
