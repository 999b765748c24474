namespace Cairn.Cli.Reports;

/// <summary>The activity of a store between two samples, per second.</summary>
internal sealed record Activity
{
    public required DateTimeOffset At { get; init; }

    /// <summary>Gets the statistics of the second sample.</summary>
    public required StoreStatistics Statistics { get; init; }

    public double GetsPerSecond { get; private init; }

    /// <summary>Gets the ratio of hits to gets between the samples; null if there were no gets.</summary>
    public double? HitRatio { get; private init; }

    public double SetsPerSecond { get; private init; }

    public double RemovalsPerSecond { get; private init; }

    public double EvictionsPerSecond { get; private init; }

    public double ExpirationsPerSecond { get; private init; }

    /// <summary>Compares two samples. If a counter was reset in between, its rate is 0 and not negative.</summary>
    public static Activity Between(StoreStatistics before, StoreStatistics after, DateTimeOffset at, TimeSpan elapsed)
    {
        double seconds = Math.Max(elapsed.TotalSeconds, 1e-3);
        long hits = Math.Max(0, after.Totals.Hits - before.Totals.Hits);
        long gets = hits + Math.Max(0, after.Totals.Misses - before.Totals.Misses);
        double Rate(Func<PartitionStatistics, long> counter) => Math.Max(0, counter(after.Totals) - counter(before.Totals)) / seconds;
        return new Activity
        {
            At = at,
            Statistics = after,
            GetsPerSecond = gets / seconds,
            HitRatio = gets == 0 ? null : (double)hits / gets,
            SetsPerSecond = Rate(totals => totals.Sets),
            RemovalsPerSecond = Rate(totals => totals.Removals),
            EvictionsPerSecond = Rate(totals => totals.Evictions),
            ExpirationsPerSecond = Rate(totals => totals.Expirations),
        };
    }
}
