namespace Cairn.Benchmarks.Server;

/// <summary>What clients speak.</summary>
internal enum WireProtocol
{
    Memcached,
    Resp,
}

/// <summary>What clients ask for, and how.</summary>
/// <param name="Name">The row of the report.</param>
/// <param name="Connections">Clients, each of which waits for its replies.</param>
/// <param name="Depth">Requests that a client sends at once, or keys of one request for many.</param>
internal sealed record Workload(string Name, int Connections, int Depth)
{
    /// <summary>Of a hundred requests, those that set.</summary>
    public int SetPercent { get; init; }

    /// <summary>All keys in one request; memcached's protocol only.</summary>
    public bool IsMultiget { get; init; }

    /// <summary>memcached's meta commands.</summary>
    public bool IsMeta { get; init; }

    /// <summary>Through a Unix socket, not TCP.</summary>
    public bool IsUnix { get; init; }

    /// <summary>Whether the question makes sense in that protocol.</summary>
    public bool Speaks(WireProtocol protocol) => protocol == WireProtocol.Memcached || !(IsMultiget || IsMeta);
}

/// <summary>How many operations per second of processor time are wanted, as a multiple of a peer's.</summary>
internal sealed record WorkloadGoals(double Memcached)
{
    /// <summary>For the loop that stands in where io_uring is not to be had; against memcached.</summary>
    public double? Fallback { get; init; }

    public double? Redis { get; init; }

    public double? Garnet { get; init; }

    /// <summary>Against whatever the command line names: newer servers, usually.</summary>
    public double Named { get; init; }
}
