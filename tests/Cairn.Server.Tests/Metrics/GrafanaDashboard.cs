using System.Text;
using System.Text.Json;

namespace Cairn.Server.Tests.Metrics;

/// <summary>The Grafana dashboard of a server, deploy/grafana/cairn.json. Its queries are listed here; the JSON is generated from them.</summary>
internal static class GrafanaDashboard
{
    private const int Columns = 24;
    private const int PanelWidth = 8;
    private const int PanelHeight = 7;
    private const int RowHeight = 1;

    /// <summary>Gets the rows of the dashboard, each with its panels.</summary>
    public static IReadOnlyList<(string Title, Panel[] Panels)> Rows { get; } =
    [
        ("Requests",
        [
            new("Requests per second", "reqps", ("sum by (protocol, family) (rate(cairn_requests_total{job=\"$job\", instance=~\"$instance\"}[$__rate_interval]))", "{{protocol}} {{family}}")),
            new("Hit ratio of reads", "percentunit", ("sum by (instance) (rate(cairn_lookups_total{job=\"$job\", instance=~\"$instance\", family=\"get\", result=\"hit\"}[$__rate_interval])) / sum by (instance) (rate(cairn_lookups_total{job=\"$job\", instance=~\"$instance\", family=\"get\"}[$__rate_interval]))", "{{instance}}")),
            new("Duration of requests", "s", [.. ((string[])["0.5", "0.95", "0.99", "0.999"]).Select(quantile => (
                $"histogram_quantile({quantile}, sum by (le) (rate(cairn_request_duration_seconds_bucket{{job=\"$job\", instance=~\"$instance\"}}[$__rate_interval])))", $"p{quantile[2..].PadRight(2, '0')}"))]),
            new("Errors per second", "reqps", ("sum by (protocol, result) (rate(cairn_requests_total{job=\"$job\", instance=~\"$instance\", result!=\"ok\"}[$__rate_interval]))", "{{protocol}} {{result}}")),
            new("Slow requests per second", "reqps", Rate("cairn_slow_requests_total")),
            new("Dropped keyspace events per second", "ops", Rate("cairn_keyspace_events_dropped_total")),
            new("Busy share of the workers", "percentunit", ("sum by (instance) (rate(cairn_request_work_seconds_total{job=\"$job\", instance=~\"$instance\"}[$__rate_interval])) / on (instance) cairn_workers{job=\"$job\", instance=~\"$instance\"}", "{{instance}}")),
        ]),
        ("Store",
        [
            new("Entries", "short", Value("cairn_store_entries")),
            new("Size", "bytes", Value("cairn_store_entries_size_bytes", "entries"), Value("cairn_store_expired_size_bytes", "expired"), Value("cairn_store_file_size_bytes", "file"), Value("cairn_store_file_limit_bytes", "limit")),
            new("Evictions and expirations per second", "ops", Rate("cairn_store_evictions_total", "evicted"), Rate("cairn_store_displacements_total", "displaced"), Rate("cairn_store_expirations_total", "expired")),
            new("Writes and removals per second", "ops", Rate("cairn_store_writes_total", "written"), Rate("cairn_store_removals_total", "removed"), Rate("cairn_store_ghost_hits_total", "came back after eviction")),
            new("Segments", "short", ("sum by (instance, state) (cairn_store_segments{job=\"$job\", instance=~\"$instance\"})", "{{instance}} {{state}}")),
            new("Trouble", "short", Rate("cairn_store_declined_writes_total", "declined writes"), Rate("cairn_store_dropped_writes_total", "dropped writes"), Rate("cairn_store_lock_waits_total", "lock waits"), Rate("cairn_store_recoveries_total", "recoveries"), Rate("cairn_store_damaged_entries_total", "damaged entries"), Value("cairn_store_failed_checkpoints", "failed checkpoints")),
            new("Entries of named collections", "short", ("sum by (collection) (cairn_collection_entries{job=\"$job\", instance=~\"$instance\"})", "{{collection}}")),
            new("Size of named collections", "bytes", ("sum by (collection) (cairn_collection_entries_size_bytes{job=\"$job\", instance=~\"$instance\"})", "{{collection}}")),
        ]),
        ("Connections",
        [
            new("Connections", "short", Value("cairn_connections", "open"), Value("cairn_connections_limit", "limit")),
            new("Connections per second", "ops", Rate("cairn_connections_accepted_total", "accepted"), Rate("cairn_connections_refused_total", "refused"), ("sum by (reason) (rate(cairn_connections_closed_total{job=\"$job\", instance=~\"$instance\"}[$__rate_interval]))", "closed: {{reason}}")),
            new("Network", "Bps", Rate("cairn_network_received_bytes_total", "received"), Rate("cairn_network_sent_bytes_total", "sent")),
            new("Buffer memory", "bytes", Value("cairn_buffers_size_bytes", "used"), Value("cairn_buffers_limit_bytes", "limit")),
            new("Failed authentications per second", "ops", Rate("cairn_authentication_failures_total")),
        ]),
        ("Process",
        [
            new("Processors", "short", Rate("process_cpu_seconds_total", "in use"), Value("cairn_workers", "workers")),
            new("Memory", "bytes", Value("process_resident_memory_bytes", "resident"), Value("process_anonymous_memory_bytes", "anonymous")),
            new("Files", "short", Value("process_open_fds", "open"), Value("process_max_fds", "limit")),
            new("Garbage collections per second", "ops", ("sum by (generation) (rate(cairn_gc_collections_total{job=\"$job\", instance=~\"$instance\"}[$__rate_interval]))", "generation {{generation}}")),
            new("Allocation", "Bps", Rate("cairn_gc_allocated_bytes_total")),
            new("Ready, and time since the start", "short", Value("cairn_ready", "ready"), ("(time() - process_start_time_seconds{job=\"$job\", instance=~\"$instance\"}) / 3600", "{{instance}} hours")),
        ]),
    ];

    /// <summary>Returns the JSON that Grafana imports.</summary>
    public static string ToJson()
    {
        using var stream = new MemoryStream();
        using (var writer = new Utf8JsonWriter(stream, new JsonWriterOptions { Indented = true, Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping }))
        {
            Write(writer);
        }

        return Encoding.UTF8.GetString(stream.ToArray()) + "\n";
    }

    private static (string Query, string Legend) Rate(string metric, string name = "") =>
        ($"sum by (instance) (rate({metric}{{job=\"$job\", instance=~\"$instance\"}}[$__rate_interval]))", Legend(name));

    private static (string Query, string Legend) Value(string metric, string name = "") =>
        ($"{metric}{{job=\"$job\", instance=~\"$instance\"}}", Legend(name));

    private static string Legend(string name) => name.Length == 0 ? "{{instance}}" : $"{{{{instance}}}} {name}";

    private static void Write(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteString("uid", "cairn-server");
        json.WriteString("title", "Cairn");
        json.WriteStartArray("tags");
        json.WriteStringValue("cairn");
        json.WriteEndArray();
        json.WriteNumber("schemaVersion", 38);
        json.WriteString("refresh", "30s");
        json.WriteStartObject("time");
        json.WriteString("from", "now-1h");
        json.WriteString("to", "now");
        json.WriteEndObject();
        WriteVariables(json);
        json.WriteStartArray("panels");
        int id = 0;
        int top = 0;
        foreach ((string title, Panel[] panels) in Rows)
        {
            WritePanel(json, ++id, "row", title, (0, top, Columns, RowHeight));
            json.WriteEndObject();
            top += RowHeight;
            for (int i = 0; i < panels.Length; i++)
            {
                (int line, int column) = Math.DivRem(i, Columns / PanelWidth);
                WriteGraph(json, ++id, panels[i], (column * PanelWidth, top + (line * PanelHeight), PanelWidth, PanelHeight));
            }

            top += (panels.Length + (Columns / PanelWidth) - 1) / (Columns / PanelWidth) * PanelHeight;
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void WriteVariables(Utf8JsonWriter json)
    {
        json.WriteStartObject("templating");
        json.WriteStartArray("list");
        json.WriteStartObject();
        json.WriteString("name", "datasource");
        json.WriteString("label", "Data source");
        json.WriteString("type", "datasource");
        json.WriteString("query", "prometheus");
        json.WriteEndObject();
        WriteQueryVariable(json, "job", "Job", "label_values(cairn_ready, job)", isMulti: false);
        WriteQueryVariable(json, "instance", "Server", "label_values(cairn_ready{job=\"$job\"}, instance)", isMulti: true);
        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void WriteQueryVariable(Utf8JsonWriter json, string name, string label, string query, bool isMulti)
    {
        json.WriteStartObject();
        json.WriteString("name", name);
        json.WriteString("label", label);
        json.WriteString("type", "query");
        WriteSource(json);
        json.WriteString("query", query);
        json.WriteNumber("refresh", 2);
        json.WriteBoolean("multi", isMulti);
        json.WriteBoolean("includeAll", isMulti);
        json.WriteEndObject();
    }

    private static void WriteGraph(Utf8JsonWriter json, int id, Panel panel, (int X, int Y, int Width, int Height) place)
    {
        WritePanel(json, id, "timeseries", panel.Title, place);
        WriteSource(json);
        json.WriteStartObject("fieldConfig");
        json.WriteStartObject("defaults");
        json.WriteString("unit", panel.Unit);
        json.WriteNumber("min", 0);
        json.WriteEndObject();
        json.WriteStartArray("overrides");
        json.WriteEndArray();
        json.WriteEndObject();
        json.WriteStartArray("targets");
        for (int i = 0; i < panel.Queries.Length; i++)
        {
            json.WriteStartObject();
            json.WriteString("refId", $"{(char)('A' + i)}");
            json.WriteString("expr", panel.Queries[i].Query);
            json.WriteString("legendFormat", panel.Queries[i].Legend);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void WritePanel(Utf8JsonWriter json, int id, string type, string title, (int X, int Y, int Width, int Height) place)
    {
        json.WriteStartObject();
        json.WriteNumber("id", id);
        json.WriteString("type", type);
        json.WriteString("title", title);
        json.WriteStartObject("gridPos");
        json.WriteNumber("x", place.X);
        json.WriteNumber("y", place.Y);
        json.WriteNumber("w", place.Width);
        json.WriteNumber("h", place.Height);
        json.WriteEndObject();
    }

    private static void WriteSource(Utf8JsonWriter json)
    {
        json.WriteStartObject("datasource");
        json.WriteString("type", "prometheus");
        json.WriteString("uid", "${datasource}");
        json.WriteEndObject();
    }

    /// <summary>A graph of one or more queries.</summary>
    internal sealed record Panel(string Title, string Unit, params (string Query, string Legend)[] Queries);
}
