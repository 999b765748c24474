namespace Cairn.Benchmarks.Reporting;

/// <summary>The time of one operation by Cairn and by one peer, from the same rounds.</summary>
/// <param name="Peer">The name and version of the peer.</param>
/// <param name="OwnNs">Cairn's time per operation: processor time, or elapsed time where only that was measured.</param>
/// <param name="Times">The peer's time divided by Cairn's.</param>
internal sealed record PeerTime(string Peer, double OwnNs, double Times)
{
    public double PeerNs => OwnNs * Times;

    /// <summary>Returns one row for each peer of a case, for the first subject of the case.</summary>
    /// <exception cref="InvalidDataException">The report has no such case.</exception>
    public static IReadOnlyList<PeerTime> Of(Report report, string name)
    {
        List<ReportRow> rows = [.. report.Rows.Where(row => row.Case == name && row is { Ratio: > 0 } && (row.CpuNs ?? row.WallNs) > 0)];
        if (rows.Count == 0)
        {
            throw new InvalidDataException($"The report of {report.Command} has no finding of the case '{name}'.");
        }

        // Reports of servers have ratios of requests per second of processor time. The others have ratios of times.
        return [.. rows.Where(row => row.Subject == rows[0].Subject)
            .Select(row => new PeerTime(row.Against, (row.CpuNs ?? row.WallNs)!.Value, report.Area == "server" ? row.Ratio!.Value : 1 / row.Ratio!.Value))];
    }
}
