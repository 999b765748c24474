using Cairn.Cli.Clients;

namespace Cairn.Cli.Reports;

/// <summary>What a server did between two looks at it, per second; or that it was away.</summary>
internal sealed record ServerActivity
{
    public required DateTimeOffset At { get; init; }

    /// <summary>The server at the second look; null if it was away.</summary>
    public ServerSample? Sample { get; private init; }

    /// <summary>Why there is no sample.</summary>
    public string? Absence { get; private init; }

    /// <summary>Whether the server was started between the two looks, so that it counts from the beginning.</summary>
    public bool IsRestarted { get; private init; }

    public IReadOnlyDictionary<string, double> OperationsPerSecond { get; private init; } = new Dictionary<string, double>(StringComparer.Ordinal);

    public double AllPerSecond { get; private init; }

    /// <summary>Hits as a part of the gets in between; null if there were none.</summary>
    public double? HitRatio { get; private init; }

    public double BytesReceivedPerSecond { get; private init; }

    public double BytesSentPerSecond { get; private init; }

    public double EvictionsPerSecond { get; private init; }

    public double ExpirationsPerSecond { get; private init; }

    public static ServerActivity Away(DateTimeOffset at, string reason) => new() { At = at, Absence = reason };

    /// <summary>Compares two looks.</summary>
    /// <param name="before">The first look; null if the server was away, so that nothing is known of what it did.</param>
    /// <param name="after">The second look.</param>
    /// <param name="at">When that was.</param>
    /// <param name="elapsed">The time between them.</param>
    public static ServerActivity Between(ServerSample? before, ServerSample after, DateTimeOffset at, TimeSpan elapsed)
    {
        // Counters that went back were set back, by a restart or a command.
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
