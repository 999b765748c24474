namespace Cairn.HitRate.Traces;

/// <summary>The order in which keys were asked for. Keys are numbered from 0 by first appearance.</summary>
/// <param name="Name">What the trace is called in tables and on the command line.</param>
/// <param name="Requests">One key number per request.</param>
/// <param name="DistinctKeys">How many different keys there are; every request is below it.</param>
internal sealed record Trace(string Name, int[] Requests, int DistinctKeys)
{
    /// <summary>How many unit-size objects a cache of <paramref name="percent"/> % of the distinct keys holds.</summary>
    public int CapacityAt(double percent) => Math.Max(1, (int)(DistinctKeys * percent / 100));
}
