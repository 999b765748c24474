using Cairn.Dashboard.Pages.History;
using Cairn.Server;
using Cairn.Server.Exposition;
using Cairn.Server.Metrics;

namespace Cairn.Dashboard;

/// <summary>
/// Records the activity of a server during the last 24 hours, so that a dashboard can show it when it is opened. Samples the server every
/// five seconds, and every second while a dashboard is open.
/// </summary>
public sealed class DashboardHistory : IDisposable
{
    private static readonly Series[] s_series =
    [
        new("requests", SeriesKind.Counter), new("errors", SeriesKind.Counter), new("hits", SeriesKind.Counter), new("misses", SeriesKind.Counter),
        new("sets", SeriesKind.Counter), new("removals", SeriesKind.Counter), new("evictions", SeriesKind.Counter),
        new("expirations", SeriesKind.Counter), new("received", SeriesKind.Counter), new("sent", SeriesKind.Counter),
        new("connections", SeriesKind.Gauge), new("entries", SeriesKind.Gauge), new("bytes", SeriesKind.Gauge),
        new("segmentBytes", SeriesKind.Gauge), new("p50Ns", SeriesKind.Gauge), new("p95Ns", SeriesKind.Gauge), new("p99Ns", SeriesKind.Gauge),
        new("cpuUs", SeriesKind.Counter),
    ];

    private readonly ServerInsight _server;

    // All latencies at the last sample of each range. Percentiles cover only those since then.
    private readonly LatencyHistogram[] _before = [.. HistoryRange.All.Select(_ => new LatencyHistogram())];

    /// <summary>Begins to sample a server.</summary>
    /// <param name="server">The server.</param>
    public DashboardHistory(ServerInsight server)
        : this(server, TimeProvider.System)
    {
    }

    internal DashboardHistory(ServerInsight server, TimeProvider clock)
    {
        ArgumentNullException.ThrowIfNull(server);
        _server = server;
        Samples = new SampleHistory(s_series, Read, clock);
    }

    internal SampleHistory Samples { get; }

    /// <summary>Stops sampling.</summary>
    public void Dispose() => Samples.Dispose();

    private bool Read(int range, long[] row)
    {
        if (_server.Source is not { } source || _server.IsStopping)
        {
            return false;
        }

        StoreStatistics store = source.Store.GetStatistics();
        long requests = 0;
        long errors = 0;
        long received = 0;
        long sent = 0;
        var latencies = new LatencyHistogram();
        foreach (RequestRecorder recorder in source.Requests.Recorders)
        {
            received += Volatile.Read(ref recorder.BytesReceived);
            sent += Volatile.Read(ref recorder.BytesSent);
            foreach (MeteredCommand command in source.Commands)
            {
                long count = recorder.Requests(command.Id);
                if (count != 0)
                {
                    requests += count;
                    errors += recorder.Errors(command.Id);
                    if (recorder.Latencies(command.Id) is { } some)
                    {
                        latencies.Add(some);
                    }
                }
            }
        }

        var recent = new LatencyHistogram();
        recent.Add(latencies);
        recent.Subtract(_before[range]);
        _before[range] = latencies;
        ((ReadOnlySpan<long>)
        [
            requests, errors, store.Totals.Hits, store.Totals.Misses, store.Totals.Sets, store.Totals.Removals, store.Totals.Evictions, store.Totals.Expirations, received, sent,
            source.Engine.ConnectionCount, store.Totals.Entries, store.Totals.Bytes, store.Totals.SegmentBytes,
            recent.Percentile(0.5), recent.Percentile(0.95), recent.Percentile(0.99), (long)Environment.CpuUsage.TotalTime.TotalMicroseconds,
        ]).CopyTo(row);
        return true;
    }
}
