using Cairn.Protocol;

namespace Cairn.Cli.Clients;

/// <summary>The latencies of a command in the server, in microseconds.</summary>
internal sealed record CommandLatency(double P50, double P99, double P999);

/// <summary>A slow request.</summary>
internal sealed record SlowRequestLine(DateTimeOffset At, TimeSpan Duration, string Text);

/// <summary>A server's own figures: counters since its start, and its present state.</summary>
internal sealed record ServerSample
{
    private const int MostSlowRequests = 5;
    private const int MostCharacters = 60;

    /// <summary>The number of requests by command, since the server was started.</summary>
    public required IReadOnlyDictionary<string, long> Operations { get; init; }

    public required long Hits { get; init; }

    public required long Misses { get; init; }

    public required long BytesReceived { get; init; }

    public required long BytesSent { get; init; }

    public required long Evictions { get; init; }

    public required long Expirations { get; init; }

    public required long Items { get; init; }

    public required long MemoryBytes { get; init; }

    /// <summary>The memory limit in bytes; 0 for none.</summary>
    public required long MemoryLimitBytes { get; init; }

    public required long Connections { get; init; }

    public required TimeSpan Uptime { get; init; }

    /// <summary>The latencies by command; empty if the server does not report them.</summary>
    public IReadOnlyDictionary<string, CommandLatency> Latencies { get; init; } = new Dictionary<string, CommandLatency>(StringComparer.Ordinal);

    /// <summary>The slow requests, the newest first; empty if the server does not report them.</summary>
    public IReadOnlyList<SlowRequestLine> SlowRequests { get; init; } = [];

    /// <summary>Requests the figures of a server.</summary>
    /// <exception cref="ToolException">The server does not report them.</exception>
    public static ServerSample Take(ServerLink link) =>
        link.Protocol == ServerProtocol.Resp ? FromInfo(AskInfo(link), AskSlowRequests(link)) : FromStatistics(link.AskStatistics());

    /// <summary>Reads memcached's statistics.</summary>
    public static ServerSample FromStatistics(IEnumerable<KeyValuePair<string, string>> statistics)
    {
        var values = statistics.DistinctBy(pair => pair.Key, StringComparer.Ordinal).ToDictionary(StringComparer.Ordinal);
        long Number(string name) => NumberOf(values, name);
        return new ServerSample
        {
            Operations = new Dictionary<string, long>(StringComparer.Ordinal)
            {
                ["get"] = Number("cmd_get"),
                ["set"] = Number("cmd_set"),
                ["delete"] = Number("delete_hits") + Number("delete_misses"),
                ["incr"] = Number("incr_hits") + Number("incr_misses"),
                ["decr"] = Number("decr_hits") + Number("decr_misses"),
                ["touch"] = Number("cmd_touch"),
                ["flush_all"] = Number("cmd_flush"),
            },
            Hits = Number("get_hits"),
            Misses = Number("get_misses"),
            BytesReceived = Number("bytes_read"),
            BytesSent = Number("bytes_written"),
            Evictions = Number("evictions"),

            // Counts the expired entries that a get found and those that no client has read.
            Expirations = Number("get_expired") + Number("expired_unfetched"),
            Items = Number("curr_items"),
            MemoryBytes = Number("bytes"),
            MemoryLimitBytes = Number("limit_maxbytes"),
            Connections = Number("curr_connections"),
            Uptime = TimeSpan.FromSeconds(Number("uptime")),
        };
    }

    /// <summary>Reads the text of INFO.</summary>
    public static ServerSample FromInfo(string info, IReadOnlyList<SlowRequestLine> slowRequests)
    {
        var values = new Dictionary<string, string>(StringComparer.Ordinal);
        var operations = new Dictionary<string, long>(StringComparer.Ordinal);
        var latencies = new Dictionary<string, CommandLatency>(StringComparer.Ordinal);
        long items = 0;
        foreach (string line in info.Split('\n', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries))
        {
            int colon = line.IndexOf(':', StringComparison.Ordinal);
            if (colon < 0)
            {
                continue;
            }

            const string Command = "cmdstat_";
            const string Latency = "latency_percentiles_usec_";
            string name = line[..colon];
            string value = line[(colon + 1)..];
            if (name.StartsWith(Command, StringComparison.Ordinal))
            {
                operations[name[Command.Length..]] = NumberOf(Parts(value), "calls");
            }
            else if (name.StartsWith(Latency, StringComparison.Ordinal))
            {
                Dictionary<string, string> parts = Parts(value);
                latencies[name[Latency.Length..]] = new CommandLatency(RealOf(parts, "p50"), RealOf(parts, "p99"), RealOf(parts, "p99.9"));
            }
            else if (name.StartsWith("db", StringComparison.Ordinal) && value.StartsWith("keys=", StringComparison.Ordinal))
            {
                items += NumberOf(Parts(value), "keys");
            }
            else
            {
                values[name] = value;
            }
        }

        return new ServerSample
        {
            // A server without figures by command at least has a total.
            Operations = operations.Count > 0
                ? operations
                : new Dictionary<string, long>(StringComparer.Ordinal) { ["all"] = NumberOf(values, "total_commands_processed") },
            Hits = NumberOf(values, "keyspace_hits"),
            Misses = NumberOf(values, "keyspace_misses"),
            BytesReceived = NumberOf(values, "total_net_input_bytes"),
            BytesSent = NumberOf(values, "total_net_output_bytes"),
            Evictions = NumberOf(values, "evicted_keys"),
            Expirations = NumberOf(values, "expired_keys"),
            Items = items,
            MemoryBytes = NumberOf(values, "used_memory"),
            MemoryLimitBytes = NumberOf(values, "maxmemory"),
            Connections = NumberOf(values, "connected_clients"),
            Uptime = TimeSpan.FromSeconds(NumberOf(values, "uptime_in_seconds")),
            Latencies = latencies,
            SlowRequests = slowRequests,
        };
    }

    private static string AskInfo(ServerLink link)
    {
        var reader = new RespReplyReader(link.Ask("INFO", "ALL"));
        return reader.Read() && !reader.IsError
            ? Encoding.UTF8.GetString(reader.Value)
            : throw new ToolException(ExitCode.Server, $"the server does not report its figures: {Encoding.UTF8.GetString(reader.Value)}");
    }

    // The fields of an entry: number, time in seconds, duration in microseconds, arguments, client. A server without a slow log is not an
    // error.
    private static List<SlowRequestLine> AskSlowRequests(ServerLink link)
    {
        var requests = new List<SlowRequestLine>();
        var reader = new RespReplyReader(link.Ask("SLOWLOG", "GET", MostSlowRequests.ToString(CultureInfo.InvariantCulture)));
        if (!reader.Read() || reader.IsError)
        {
            return requests;
        }

        for (int left = reader.Count; left > 0 && reader.Read(); left--)
        {
            int fields = reader.Count;
            if (fields < 4 || !reader.Read() || !reader.Read() || !reader.TryGetInt64(out long seconds)
                || !reader.Read() || !reader.TryGetInt64(out long microseconds) || !reader.Read())
            {
                break;
            }

            var words = new List<string>();
            for (int arguments = reader.Count; arguments > 0 && reader.Read(); arguments--)
            {
                words.Add(Output.KeyText.Escape(reader.Value));
            }

            string text = string.Join(' ', words);
            requests.Add(new SlowRequestLine(
                DateTimeOffset.FromUnixTimeSeconds(seconds),
                TimeSpan.FromMicroseconds(microseconds),
                text.Length > MostCharacters ? string.Concat(text.AsSpan(0, MostCharacters - 1), "…") : text));
            for (int i = 4; i < fields && reader.Read(); i++)
            {
                reader.Skip();
            }
        }

        return requests;
    }

    private static Dictionary<string, string> Parts(string text) => text.Split(',')
        .Select(part => part.Split('=', 2))
        .Where(part => part.Length == 2)
        .DistinctBy(part => part[0], StringComparer.Ordinal)
        .ToDictionary(part => part[0], part => part[1], StringComparer.Ordinal);

    private static long NumberOf(Dictionary<string, string> values, string name) =>
        values.TryGetValue(name, out string? text) && long.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long number) ? number : 0;

    private static double RealOf(Dictionary<string, string> values, string name) =>
        values.TryGetValue(name, out string? text) && double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out double number) ? number : 0;
}
