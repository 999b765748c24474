using Cairn.Cli.Clients;

namespace Cairn.Cli.Reports;

/// <summary>The activity of a server between two samples, per second, or the reason why it did not answer.</summary>
internal sealed record ServerActivity
{
    public required DateTimeOffset At { get; init; }

    /// <summary>Gets the second sample; null if the server did not answer.</summary>
    public ServerSample? Sample { get; private init; }

    /// <summary>Gets the reason if there is no sample.</summary>
    public string? Absence { get; private init; }

    /// <summary>Gets a value that says whether the server was restarted between the samples, which resets its counters.</summary>
    public bool IsRestarted { get; private init; }

    public IReadOnlyDictionary<string, double> OperationsPerSecond { get; private init; } = new Dictionary<string, double>(StringComparer.Ordinal);

    public double AllPerSecond { get; private init; }

    /// <summary>Gets the ratio of hits to gets between the samples; null if there were no gets.</summary>
    public double? HitRatio { get; private init; }

    public double BytesReceivedPerSecond { get; private init; }

    public double BytesSentPerSecond { get; private init; }

    public double EvictionsPerSecond { get; private init; }

    public double ExpirationsPerSecond { get; private init; }

    public static ServerActivity Away(DateTimeOffset at, string reason) => new() { At = at, Absence = reason };

    /// <summary>Compares two samples.</summary>
    /// <param name="before">The first sample; null if the server did not answer then, so that all rates are 0.</param>
    /// <param name="after">The second sample.</param>
    /// <param name="at">The time of the second sample.</param>
    /// <param name="elapsed">The time between the samples.</param>
    public static ServerActivity Between(ServerSample? before, ServerSample after, DateTimeOffset at, TimeSpan elapsed)
    {
        // A counter that became smaller was reset, by a restart or a command.
        bool isRestarted = before is not null && after.Uptime < before.Uptime;
        ServerSample earlier = before is null || isRestarted ? after : before;
        double seconds = Math.Max(elapsed.TotalSeconds, 1e-3);
        double Rate(long earlierCount, long count) => Math.Max(0, count - earlierCount) / seconds;
        var rates = after.Operations.ToDictionary(
            pair => pair.Key, pair => Rate(earlier.Operations.GetValueOrDefault(pair.Key), pair.Value), StringComparer.Ordinal);
        long hits = Math.Max(0, after.Hits - earlier.Hits);
        long gets = hits + Math.Max(0, after.Misses - earlier.Misses);
        return new ServerActivity
        {
            At = at,
            Sample = after,
            IsRestarted = isRestarted,
            OperationsPerSecond = rates,
            AllPerSecond = rates.Values.Sum(),
            HitRatio = gets == 0 ? null : (double)hits / gets,
            BytesReceivedPerSecond = Rate(earlier.BytesReceived, after.BytesReceived),
            BytesSentPerSecond = Rate(earlier.BytesSent, after.BytesSent),
            EvictionsPerSecond = Rate(earlier.Evictions, after.Evictions),
            ExpirationsPerSecond = Rate(earlier.Expirations, after.Expirations),
        };
    }
}
