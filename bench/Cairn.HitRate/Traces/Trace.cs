namespace Cairn.HitRate.Traces;

/// <summary>The keys of a sequence of requests, in order. Keys are numbered from 0, in the order of their first request.</summary>
/// <param name="Name">The name of the trace in tables and on the command line.</param>
/// <param name="Requests">One key number per request.</param>
/// <param name="DistinctKeys">The number of different keys. Every request is below it.</param>
internal sealed record Trace(string Name, int[] Requests, int DistinctKeys)
{
    /// <summary>Returns how many objects of size 1 a cache of <paramref name="percent"/> % of the distinct keys holds. At least 1.</summary>
    public int CapacityAt(double percent) => Math.Max(1, (int)(DistinctKeys * percent / 100));
}
