namespace Cairn.Benchmarks.Server;

/// <summary>The protocol that clients speak.</summary>
internal enum WireProtocol
{
    Memcached,
    Resp,
}

/// <summary>What clients request, and how.</summary>
/// <param name="Name">The name of the row in the report.</param>
/// <param name="Connections">The number of clients, each of which waits for its replies.</param>
/// <param name="Depth">The number of requests that a client sends at once, or the number of keys in one request for many.</param>
internal sealed record Workload(string Name, int Connections, int Depth)
{
    /// <summary>Gets the percentage of requests that set.</summary>
    public int SetPercent { get; init; }

    /// <summary>Gets the length of every value.</summary>
    public int ValueBytes { get; init; } = 100;

    /// <summary>Gets whether no requested key exists.</summary>
    public bool IsMiss { get; init; }

    /// <summary>Gets whether one request names all keys; memcached's protocol only.</summary>
    public bool IsMultiget { get; init; }

    /// <summary>Gets whether clients use memcached's meta commands.</summary>
    public bool IsMeta { get; init; }

    /// <summary>Gets whether clients use memcached's binary protocol.</summary>
    public bool IsBinary { get; init; }

    /// <summary>Gets whether clients connect over a Unix socket instead of TCP.</summary>
    public bool IsUnix { get; init; }

    /// <summary>Returns whether the workload exists in that protocol.</summary>
    public bool Speaks(WireProtocol protocol) => protocol == WireProtocol.Memcached || !(IsMultiget || IsMeta || IsBinary);
}

/// <summary>The required operations per second of processor time, as a multiple of those of each peer.</summary>
/// <param name="Peer">The goal against every other server.</param>
internal sealed record WorkloadGoals(double Peer)
{
    /// <summary>Gets the goal, against memcached, of the event loop for machines without io_uring.</summary>
    public double? Fallback { get; init; }

    /// <summary>Gets the goal against a server on the same engine that answers without reading the request; <see langword="null"/> measures no such
    /// server.</summary>
    public double? Echo { get; init; }
}
