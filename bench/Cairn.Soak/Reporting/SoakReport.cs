using System.Globalization;
using System.Text;
using Cairn.Soak.Drift;
using Cairn.Soak.Measuring;

namespace Cairn.Soak.Reporting;

/// <summary>Formats everything in a folder as text: totals, faults, curves, and drifting figures.</summary>
internal static class SoakReport
{
    public static string Of(SoakFolder folder)
    {
        IReadOnlyList<PieceSummary> pieces = folder.Pieces();
        var text = new StringBuilder();
        Line($"{pieces.Count} pieces, {folder.State.Age} in all, seed {folder.State.Seed}");
        Line($"{pieces.Sum(piece => piece.Requests):N0} requests, {pieces.Sum(piece => piece.Connections):N0} passing connections, {pieces.Sum(piece => piece.Kills)} kills");
        string[] faults = [.. pieces.SelectMany(piece => piece.Faults.Select(fault => $"piece {piece.Number}: {fault}"))];
        Line($"{faults.Length} faults");
        foreach (string fault in faults)
        {
            Line($"  {fault}");
        }

        ServerSample[] samples = [.. folder.Samples()];
        foreach (IGrouping<string, ServerSample> server in samples.Where(sample => !sample.IsIdle).GroupBy(sample => sample.Server))
        {
            Line($"");
            Line($"Under load, server '{server.Key}', {server.Count()} samples from the first to the last:");
            Curve("memory beside the store, MiB", server.Select(sample => sample.Process.AnonymousBytes / (double)(1 << 20)));
            Curve("descriptors", server.Select(sample => (double)sample.Process.Descriptors));
            Curve("threads", server.Select(sample => (double)sample.Process.Threads));
            Curve("store file, MiB", server.Select(sample => sample.FileBytes / (double)(1 << 20)));
            Curve("median latency, ms", server.Select(sample => sample.P50Ms));
            Curve("p99 latency, ms", server.Select(sample => sample.P99Ms));
        }

        Line($"");
        Line($"Growth from piece to piece (Sen's slope, 95 % interval, a day):");
        foreach (DriftFinding finding in DriftCheck.Of(pieces))
        {
            string first = finding.Values.Count == 0 ? "-" : finding.Values[0].ToString("N2", CultureInfo.InvariantCulture);
            string last = finding.Values.Count == 0 ? "-" : finding.Values[^1].ToString("N2", CultureInfo.InvariantCulture);
            Line($"  {(finding.IsDrift ? "DRIFT " : "ok    ")}{finding.Server,-7} {finding.Rule.Name,-24} {first,9} -> {last,9} {finding.Rule.Unit,-4} {finding.PerDay.Slope,10:N2} ({finding.PerDay.Low:N2} to {finding.PerDay.High:N2}); allowed {finding.Allowed:N2}");
        }

        return text.ToString();

        void Line(FormattableString line) => text.AppendLine(line.ToString(CultureInfo.InvariantCulture));

        void Curve(string name, IEnumerable<double> series)
        {
            double[] values = [.. series.Where(value => !double.IsNaN(value))];
            if (values.Length > 0)
            {
                Line($"  {name,-28} {Sparkline.Of(values, 0, values.Max())}  least {values.Min():N2}, most {values.Max():N2}, last {values[^1]:N2}");
            }
        }
    }
}
