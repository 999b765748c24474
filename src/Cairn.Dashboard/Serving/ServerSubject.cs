using System.Text.Json;
using Cairn.Dashboard.Pages.Access;
using Cairn.Dashboard.Pages.History;
using Cairn.Dashboard.Pages.Keys;
using Cairn.Dashboard.Pages.Reports;
using Cairn.Server;
using Cairn.Server.Connections;
using Cairn.Server.Exposition;
using Cairn.Server.Logging;
using Cairn.Server.Metrics;
using Cairn.Server.Resp;
using Cairn.Server.Resp.Hashes;
using Microsoft.Extensions.Logging;

namespace Cairn.Dashboard.Serving;

/// <summary>A server as the subject of a dashboard.</summary>
internal sealed class ServerSubject : IDashboardSubject
{
    private const int MostClients = 500;
    private const int MostSlow = 128;
    private const int MostHot = 50;

    // Percentiles cover the requests since a view at least this long ago, and at most twice as long ago.
    private static readonly TimeSpan s_window = TimeSpan.FromMinutes(1);

    private readonly ServerInsight _server;
    private readonly SampleHistory _history;
    private readonly Lock _lock = new();
    private Dictionary<int, LatencyHistogram> _before = [];
    private Dictionary<int, LatencyHistogram> _latest = [];
    private long _beforeAt;
    private long _latestAt;

    public ServerSubject(ServerInsight server, SampleHistory history)
    {
        _server = server;
        _history = history;
        _beforeAt = _latestAt = server.Clock.GetTimestamp();
        Keys = server.Source is { } source ? new KeyBrowser(source.Store, ReadHash) : null;
    }

    public string Kind => "server";

    public string Title => _server.Source?.Store.Path ?? "";

    public string Version => ServerInsight.Version;

    public IReadOnlyList<string> Channels { get; } = [""];

    public KeyBrowser? Keys { get; }

    public IReadOnlyList<string> ViewsFor(DashboardUser user) =>
        user.SeesOthers ? ["overview", "commands", "memory", "keys", "hot", "slow", "clients"]
        : user.KeyPrefix.Length > 0 ? ["overview", "commands", "keys"]
        : ["overview", "commands", "memory", "keys"];

    public SampleHistory? HistoryOf(string channel) => channel.Length == 0 ? _history : null;

    public void WriteNow(Utf8JsonWriter writer, string channel)
    {
        if (_server.Source is not { } source)
        {
            return;
        }

        ServerHealth health = _server.GetHealth();
        writer.WriteBoolean("isReady"u8, health.IsReady);
        writer.WriteString("health"u8, health.Reason);
        StoreReport.WriteNow(writer, source.Store.GetStatistics());
        var process = ProcessFigures.Take();
        writer.WriteStartObject("server"u8);
        writer.WriteNumber("connections"u8, source.Engine.ConnectionCount);
        writer.WriteNumber("connectionLimit"u8, source.Engine.Limits.MaxConnections);
        writer.WriteNumber("workers"u8, source.Engine.WorkerCount);
        writer.WriteString("io"u8, source.Engine.Io.ToString().ToLowerInvariant());
        writer.WriteNumber("startedMs"u8, (long)(process.StartUnixSeconds * 1000));
        writer.WriteNumber("processBytes"u8, process.AnonymousBytes ?? process.ResidentBytes);
        writer.WriteNumber("slowRequests"u8, source.Requests.SlowLog.Total);
        writer.WriteNumber("watchers"u8, source.Memcached.Watch.Figures.Watchers);
        writer.WriteEndObject();
    }

    public bool TryWriteView(string view, Utf8JsonWriter writer, DashboardUser user)
    {
        if (_server.Source is not { } source)
        {
            return false;
        }

        switch (view)
        {
            case "commands":
                WriteCommands(writer, source);
                return true;
            case "hot":
                WriteHot(writer, source);
                return true;
            case "slow":
                WriteSlow(writer, source);
                return true;
            case "clients":
                WriteClients(writer, source);
                return true;
            default:
                return false;
        }
    }

    public void LogError(string message) => _server.Logger.Write(LogLevel.Error, message);

    /// <summary>Reads the fields of a hash, or the members of a set. The values of a sorted set are its scores.</summary>
    internal static int ReadHash(EntryInfo info, ReadOnlySpan<byte> bytes, FieldVisitor visitor)
    {
        var hash = new HashView(bytes);
        Span<byte> score = stackalloc byte[SortedSetRange.TextBytes];
        for (int i = 0; i < hash.Count && hash.TryGet(i, out ReadOnlySpan<byte> field, out ReadOnlySpan<byte> value); i++)
        {
            visitor(field, RespTypes.Of(info) == RespType.SortedSet ? SortedSetRange.Format(value, score) : value);
        }

        return hash.Count;
    }

    private void WriteCommands(Utf8JsonWriter writer, MetricSource source)
    {
        lock (_lock)
        {
            RequestRecorder[] recorders = [.. source.Requests.Recorders];
            var now = new Dictionary<int, LatencyHistogram>();
            writer.WriteStartArray("commands"u8);
            foreach (MeteredCommand command in source.Commands)
            {
                long requests = recorders.Sum(recorder => recorder.Requests(command.Id));
                long rejected = recorders.Sum(recorder => recorder.Rejected(command.Id));
                if (requests == 0 && rejected == 0)
                {
                    continue;
                }

                LatencyHistogram latencies = source.Requests.LatenciesOf(command.Id);
                now.Add(command.Id, latencies);
                writer.WriteStartObject();
                writer.WriteString("protocol"u8, command.Protocol);
                writer.WriteString("name"u8, command.Name);
                writer.WriteString("family"u8, command.Family.ToString().ToLowerInvariant());
                writer.WriteNumber("requests"u8, requests);
                writer.WriteNumber("errors"u8, recorders.Sum(recorder => recorder.Errors(command.Id)));
                writer.WriteNumber("rejected"u8, rejected);
                writer.WriteNumber("busyNs"u8, recorders.Sum(recorder => recorder.BusyNs(command.Id)));
                WriteLatencies(writer, LatencyOf(latencies, command.Id));
                writer.WriteEndObject();
            }

            writer.WriteEndArray();
            TimeProvider clock = _server.Clock;
            writer.WriteNumber("windowMs"u8, (long)clock.GetElapsedTime(_beforeAt).TotalMilliseconds);
            if (clock.GetElapsedTime(_latestAt) > s_window)
            {
                (_before, _beforeAt) = (_latest, _latestAt);
                (_latest, _latestAt) = (now, clock.GetTimestamp());
            }
        }
    }

    // Returns the latencies since the window began.
    private LatencyHistogram LatencyOf(LatencyHistogram all, int command)
    {
        var recent = new LatencyHistogram();
        recent.Add(all);
        if (_before.TryGetValue(command, out LatencyHistogram? before))
        {
            recent.Subtract(before);
        }

        return recent;
    }

    private static void WriteLatencies(Utf8JsonWriter writer, LatencyHistogram latencies)
    {
        writer.WriteNumber("recent"u8, latencies.Count);
        writer.WriteNumber("p50Ns"u8, latencies.Percentile(0.5));
        writer.WriteNumber("p95Ns"u8, latencies.Percentile(0.95));
        writer.WriteNumber("p99Ns"u8, latencies.Percentile(0.99));
        writer.WriteNumber("p999Ns"u8, latencies.Percentile(0.999));
        writer.WriteNumber("maxNs"u8, latencies.MaxNs);
    }

    private static void WriteHot(Utf8JsonWriter writer, MetricSource source)
    {
        FrequentKeys frequent = source.Requests.Keys.Watch(MostHot);
        writer.WriteNumber("samples"u8, frequent.Samples);
        writer.WriteNumber("watchedMs"u8, (long)frequent.Watched.TotalMilliseconds);
        writer.WriteNumber("confidence"u8, ShareEstimate.Confidence);
        writer.WriteNumber("leastShare"u8, ShareEstimate.LeastShare);
        writer.WriteStartArray("keys"u8);
        foreach (FrequentKey key in frequent.Keys)
        {
            writer.WriteStartObject();
            KeyBrowser.WriteKey(writer, key.Key);
            writer.WriteNumber("share"u8, (double)key.Least / frequent.Samples);
            writer.WriteNumber("shareAtLeast"u8, ShareEstimate.Lowest(key.Least, frequent.Samples));
            writer.WriteNumber("shareAtMost"u8, ShareEstimate.Highest(key.Most, frequent.Samples));
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
    }

    private static void WriteSlow(Utf8JsonWriter writer, MetricSource source)
    {
        SlowLog log = source.Requests.SlowLog;
        writer.WriteNumber("total"u8, log.Total);
        if (log.ThresholdNs != SlowLog.Off)
        {
            writer.WriteNumber("thresholdNs"u8, log.ThresholdNs);
        }

        writer.WriteStartArray("requests"u8);
        foreach (SlowRequest request in log.Latest(MostSlow))
        {
            writer.WriteStartObject();
            writer.WriteNumber("id"u8, request.Id);
            writer.WriteNumber("atMs"u8, request.At.ToUnixTimeMilliseconds());
            writer.WriteNumber("durationNs"u8, (long)request.Duration.TotalNanoseconds);
            writer.WriteString("protocol"u8, request.Protocol);
            writer.WriteString("client"u8, request.Client);
            writer.WriteString("clientName"u8, request.ClientName);
            writer.WriteStartArray("arguments"u8);
            foreach (byte[] argument in request.Arguments)
            {
                writer.WriteStringValue(KeyBrowser.Readable(argument));
            }

            writer.WriteEndArray();
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
    }

    private static void WriteClients(Utf8JsonWriter writer, MetricSource source)
    {
        writer.WriteNumber("total"u8, source.Engine.ConnectionCount);
        writer.WriteNumber("accepted"u8, source.Engine.AcceptedCount);
        writer.WriteNumber("refused"u8, source.Engine.RefusedCount);
        writer.WriteStartArray("clients"u8);
        foreach (ClientConnection connection in source.Engine.Connections.OrderBy(connection => connection.Id).Take(MostClients))
        {
            writer.WriteStartObject();
            writer.WriteNumber("id"u8, connection.Id);
            writer.WriteString("listener"u8, connection.ListenerName);
            writer.WriteString("address"u8, connection.RemoteText);
            writer.WriteNumber("ageMs"u8, (long)connection.Age.TotalMilliseconds);
            writer.WriteNumber("idleMs"u8, (long)connection.IdleTime.TotalMilliseconds);
            writer.WriteNumber("received"u8, connection.BytesReceived);
            writer.WriteNumber("sent"u8, connection.BytesSent);
            writer.WriteBoolean("isEncrypted"u8, connection.IsEncrypted);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
    }
}
