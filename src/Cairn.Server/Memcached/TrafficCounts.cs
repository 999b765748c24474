using Cairn.Server.Connections;
using Cairn.Server.Metrics;

namespace Cairn.Server.Memcached;

/// <summary>Counts that the server keeps from its start, and that memcached reports from the last <c>stats reset</c>.</summary>
/// <param name="Accepted">The number of connections.</param>
/// <param name="Refused">The number of clients that were turned away.</param>
/// <param name="Idle">The number of connections that were closed because they were idle.</param>
/// <param name="Received">The number of bytes received.</param>
/// <param name="Sent">The number of bytes sent.</param>
internal readonly record struct TrafficCounts(long Accepted, long Refused, long Idle, long Received, long Sent)
{
    public static TrafficCounts Of(ServerEngine? engine, ServerMetrics metrics) => new(
        engine?.AcceptedCount ?? 1, engine?.RefusedCount ?? 0, engine?.EndedCount(CloseReason.Idle) ?? 0,
        metrics.Total(recorder => recorder.BytesReceived), metrics.Total(recorder => recorder.BytesSent));

    public TrafficCounts Minus(in TrafficCounts other) => new(
        Accepted - other.Accepted, Refused - other.Refused, Idle - other.Idle, Received - other.Received, Sent - other.Sent);
}
