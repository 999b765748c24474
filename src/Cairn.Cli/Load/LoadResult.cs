namespace Cairn.Cli.Load;

/// <summary>What came of a load.</summary>
internal sealed record LoadResult
{
    public required LoadPlan Plan { get; init; }

    public required string ServerName { get; init; }

    public required string Protocol { get; init; }

    /// <summary>Of what was measured; without warming up, filling and removing.</summary>
    public required LoadCounters Counters { get; init; }

    public required TimeSpan Elapsed { get; init; }

    /// <summary>Processor time of this process, meanwhile.</summary>
    public required TimeSpan ProcessorTime { get; init; }

    /// <summary>Whether it ran to the end that was asked for.</summary>
    public required bool IsComplete { get; init; }

    /// <summary>Errors of the server from beginning to end, the most frequent first.</summary>
    public required IReadOnlyList<KeyValuePair<string, long>> Errors { get; init; }

    public required long LostConnections { get; init; }

    /// <summary>Requests without an answer, from beginning to end.</summary>
    public required long LostRequests { get; init; }

    /// <summary>Values that were not those of their keys, from beginning to end.</summary>
    public required long WrongValues { get; init; }

    public double PerSecond(long count) => Elapsed > TimeSpan.Zero ? count / Elapsed.TotalSeconds : 0;

    /// <summary>Hits as a part of the gets; null without gets.</summary>
    public double? HitRatio => Counters.Gets == 0 ? null : (double)Counters.Hits / Counters.Gets;

    /// <summary>Whether every request got a right answer.</summary>
    public bool IsFlawless => Errors.Count == 0 && LostConnections == 0 && WrongValues == 0;
}
