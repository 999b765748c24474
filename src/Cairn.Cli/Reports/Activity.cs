namespace Cairn.Cli.Reports;

/// <summary>What a store did between two looks at it, per second.</summary>
internal sealed record Activity
{
    public required DateTimeOffset At { get; init; }

    /// <summary>The store at the second look.</summary>
    public required StoreStatistics Statistics { get; init; }

    public double GetsPerSecond { get; private init; }

    /// <summary>Hits as a part of the gets in between; null if there were none.</summary>
    public double? HitRatio { get; private init; }

    public double SetsPerSecond { get; private init; }

    public double RemovalsPerSecond { get; private init; }

    public double EvictionsPerSecond { get; private init; }

    public double ExpirationsPerSecond { get; private init; }

    /// <summary>Compares two looks. A store that was emptied in between has done nothing, rather than less than nothing.</summary>
    public static Activity Between(StoreStatistics before, StoreStatistics after, DateTimeOffset at, TimeSpan elapsed)
    {
        double seconds = Math.Max(elapsed.TotalSeconds, 1e-3);
        long hits = Math.Max(0, after.Hits - before.Hits);
        long gets = hits + Math.Max(0, after.Misses - before.Misses);
        double Rate(Func<StoreStatistics, long> counter) => Math.Max(0, counter(after) - counter(before)) / seconds;
        return new Activity
        {
            At = at,
            Statistics = after,
            GetsPerSecond = gets / seconds,
            HitRatio = gets == 0 ? null : (double)hits / gets,
            SetsPerSecond = Rate(statistics => statistics.Sets),
            RemovalsPerSecond = Rate(statistics => statistics.Removals),
            EvictionsPerSecond = Rate(statistics => statistics.Evictions),
            ExpirationsPerSecond = Rate(statistics => statistics.Expirations),
        };
    }
}
