namespace Cairn.HitRate.Traces;

/// <summary>The keys of a sequence of requests, in order. Keys are numbered from 0, in the order of their first request.</summary>
/// <param name="Name">The name of the trace in tables and on the command line.</param>
/// <param name="Requests">One key number per request.</param>
/// <param name="DistinctKeys">The number of different keys. Every request is below it.</param>
internal sealed record Trace(string Name, int[] Requests, int DistinctKeys)
{
    /// <summary>Gets the size of each key's object in bytes, from its last request; empty if the trace has no sizes.</summary>
    public int[] Sizes { get; init; } = [];

    /// <summary>Gets the capacities in objects at which tables show the trace.</summary>
    public IReadOnlyList<int> Capacities { get; init; } = [];

    /// <summary>Returns how many objects of size 1 a cache of <paramref name="percent"/> % of the distinct keys holds. At least 1.</summary>
    public int CapacityAt(double percent) => Math.Max(1, (int)(DistinctKeys * percent / 100));

    /// <summary>Returns the requests of some traces one after the other. No two traces have a key in common, except a trace with itself.</summary>
    public static Trace Concat(string name, IEnumerable<Trace> traces)
    {
        var firstKeys = new Dictionary<Trace, int>(ReferenceEqualityComparer.Instance);
        var requests = new List<int>();
        var keys = 0;
        foreach (var trace in traces)
        {
            if (firstKeys.TryAdd(trace, keys))
            {
                keys += trace.DistinctKeys;
            }

            requests.AddRange(trace.Requests.Select(key => key + firstKeys[trace]));
        }

        return new Trace(name, [.. requests], keys);
    }
}
