using System.Diagnostics;

namespace Cairn.Soak.Measuring;

/// <summary>The latencies of the requests since the last sample. Threads add them, and the sampler takes them.</summary>
internal sealed class LatencyWindow
{
    private readonly Lock _lock = new();
    private List<long> _ticks = [];

    /// <param name="dueTicks">The time at which the request was due. A client that is behind its schedule sends the next requests late too.</param>
    public void Add(long dueTicks)
    {
        long ticks = Stopwatch.GetTimestamp() - dueTicks;
        lock (_lock)
        {
            _ticks.Add(ticks);
        }
    }

    /// <summary>Returns the figures of the latencies that were added since the last call.</summary>
    public (int Count, double P50Ms, double P99Ms) Take()
    {
        List<long> ticks;
        lock (_lock)
        {
            (ticks, _ticks) = (_ticks, new List<long>(_ticks.Count));
        }

        ticks.Sort();
        return (ticks.Count, At(ticks, 0.5), At(ticks, 0.99));
    }

    private static double At(List<long> sorted, double share) => sorted.Count == 0
        ? double.NaN
        : Stopwatch.GetElapsedTime(0, sorted[Math.Min((int)(share * sorted.Count), sorted.Count - 1)]).TotalMilliseconds;
}
