namespace Cairn.Cli.Load;

/// <summary>The result of a load.</summary>
internal sealed record LoadResult
{
    public required LoadPlan Plan { get; init; }

    public required string ServerName { get; init; }

    public required string Protocol { get; init; }

    /// <summary>Gets the counters of the measurement, without warm-up, loading and removal of the keys.</summary>
    public required LoadCounters Counters { get; init; }

    public required TimeSpan Elapsed { get; init; }

    /// <summary>Gets the processor time of this process during the measurement.</summary>
    public required TimeSpan ProcessorTime { get; init; }

    /// <summary>Gets a value that says whether the load ran to its planned end.</summary>
    public required bool IsComplete { get; init; }

    /// <summary>Gets all errors of the server during the whole run, the most frequent first.</summary>
    public required IReadOnlyList<KeyValuePair<string, long>> Errors { get; init; }

    public required long LostConnections { get; init; }

    /// <summary>Gets the number of requests without a reply during the whole run.</summary>
    public required long LostRequests { get; init; }

    /// <summary>Gets the number of values that did not match their keys during the whole run.</summary>
    public required long WrongValues { get; init; }

    public double PerSecond(long count) => Elapsed > TimeSpan.Zero ? count / Elapsed.TotalSeconds : 0;

    /// <summary>Gets the ratio of hits to gets; null without gets.</summary>
    public double? HitRatio => Counters.Gets == 0 ? null : (double)Counters.Hits / Counters.Gets;

    /// <summary>Gets a value that says whether every request had a correct reply.</summary>
    public bool IsFlawless => Errors.Count == 0 && LostConnections == 0 && WrongValues == 0;
}
