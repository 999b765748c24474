using System.Globalization;
using System.Text;

namespace Cairn.Soak.Pressure;

/// <summary>Formats a result as text.</summary>
internal static class PressureReport
{
    private const double MiB = 1 << 20;

    public static string Of(PressureResult result)
    {
        var text = new StringBuilder();
        text.AppendLine(CultureInfo.InvariantCulture, $"capacity {result.Capacity:N0}/s, rate {result.Rate:N0}/s, idle {result.IdleBytes / MiB:F0} MiB");
        foreach (PressureRound round in result.Rounds)
        {
            text.AppendLine(CultureInfo.InvariantCulture, $"alone    {Line(round.Alone)}");
            text.AppendLine(CultureInfo.InvariantCulture, $"pressed  {Line(round.Pressed)}  server {round.ServerCpu:P0} of a core");
            text.AppendLine(
                CultureInfo.InvariantCulture,
                $"  accepted {round.Crowd.Accepted}, refused {round.Crowd.Refused}, closed later: {round.Crowd.ClosedReaders} slow readers, {round.Crowd.ClosedGreedy} greedy; memory {round.PeakBytes / MiB:F0} MiB at most, {round.LeftBytes / MiB:F0} MiB when they had left");
        }

        text.AppendLine(
            CultureInfo.InvariantCulture,
            $"p99 beside the crowd: {Ratio(result):F2} times what it is alone (median of the rounds)");
        return text.ToString();
    }

    /// <summary>Returns the 99th percentile beside the crowd, divided by that without it. The median of all rounds.</summary>
    public static double Ratio(PressureResult result)
    {
        double[] ratios = [.. result.Rounds.Select(round => round.Pressed.P99Us / round.Alone.P99Us).Order()];
        return ratios[ratios.Length / 2];
    }

    private static string Line(SteadyFigures figures) => string.Create(
        CultureInfo.InvariantCulture,
        $"{figures.Requests} requests, {figures.Failed} failed, p50 {figures.P50Us:F0} us, p99 {figures.P99Us:F0} us, p99.9 {figures.P999Us:F0} us");
}
