using System.Globalization;

namespace Cairn.Soak.Drift;

/// <summary>A figure that must not grow from piece to piece.</summary>
/// <param name="Name">The name of the figure in the report.</param>
/// <param name="Unit">The unit of the figure.</param>
/// <param name="Read">Returns the figure from a summary.</param>
/// <param name="AllowedPerDay">The largest allowed growth in 24 hours, in the figure's unit.</param>
/// <param name="AllowedShare">The largest allowed growth in 24 hours, as a share of the figure's median. The larger allowance counts.</param>
internal sealed record DriftRule(string Name, string Unit, Func<ServerSummary, double> Read, double AllowedPerDay, double AllowedShare)
{
    /// <summary>Gets all figures that are watched.</summary>
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

/// <summary>The result of one figure of one server over all pieces.</summary>
/// <param name="Rule">The figure.</param>
/// <param name="Server">The name of the server.</param>
/// <param name="Values">One value for each piece.</param>
/// <param name="PerDay">The estimated growth in 24 hours, with its interval.</param>
/// <param name="Allowed">The largest allowed growth in 24 hours.</param>
internal sealed record DriftFinding(DriftRule Rule, string Server, IReadOnlyList<double> Values, SenSlope PerDay, double Allowed)
{
    /// <summary>
    /// Gets whether the figure drifts: the estimate exceeds the allowance, and the whole interval is above zero. A few pieces on a noisy machine
    /// prove nothing. So a figure does not drift before the interval is narrow enough.
    /// </summary>
    public bool IsDrift => PerDay.Slope > Allowed && PerDay.Low > 0;

    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"{Rule.Name} of '{Server}' grows by {PerDay.Slope:N2} {Rule.Unit} a day (95 %: {PerDay.Low:N2} to {PerDay.High:N2}); {Allowed:N2} is allowed");
}

/// <summary>Finds figures that grow over the pieces of a soak test.</summary>
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
