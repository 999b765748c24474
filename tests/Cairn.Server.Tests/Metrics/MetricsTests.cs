using System.Diagnostics.Metrics;
using System.Net;
using Cairn.Server.Exposition;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Metrics;

/// <summary>/metrics shows the work that was done, in the format that Prometheus reads.</summary>
public sealed class MetricsTests
{
    [RequiresToolFact(ServedMetrics.Parser)]
    public async Task Figures_are_those_of_what_was_done()
    {
        await using ServedMetrics server = await ServedMetrics.StartAsync();
        using TestClient memcached = server.Connect("memcached");
        using TestClient resp = server.Connect("resp");
        const string MemcachedRequests = "set a 0 0 1\r\n1\r\nget a\r\nget a none\r\nincr a 5\r\nincr none 1\r\ndelete none\r\nbad\r\nappend a 0 0 1\r\nx\r\nincr a 1\r\ntouch a 100\r\n";
        string[] respRequests = ["SET b 1", "GET b", "GET none", "MGET b none none", "HSET h f v", "HGET h f", "HGET b f", "NONSENSE", "GET", "DEL b", "EXPIRE h 10", "PUBLISH c m", "MULTI", "INCR n", "EXEC"];

        Exchange(memcached, MemcachedRequests, "version\r\n", "VERSION");
        Exchange(resp, string.Concat(respRequests.Select(request => request + "\r\n")), "ECHO end\r\n", "end");
        Dictionary<string, double> figures = await server.ScrapeAsync();

        AssertRequests("memcached", "get", "get", ok: 2);
        AssertRequests("memcached", "set", "set", ok: 1);
        AssertRequests("memcached", "set", "append", ok: 1);
        AssertRequests("memcached", "arithmetic", "incr", ok: 2, error: 1);
        AssertRequests("memcached", "delete", "delete", ok: 1);
        AssertRequests("memcached", "touch", "touch", ok: 1);
        AssertRequests("memcached", "other", "unknown", ok: 0, rejected: 1);
        AssertRequests("resp", "set", "set", ok: 1);
        AssertRequests("resp", "get", "get", ok: 2, rejected: 1);
        AssertRequests("resp", "get", "mget", ok: 1);
        AssertRequests("resp", "hash", "hset", ok: 1);
        AssertRequests("resp", "hash", "hget", ok: 1, error: 1);
        AssertRequests("resp", "other", "unknown", ok: 0, rejected: 1);
        AssertRequests("resp", "delete", "del", ok: 1);
        AssertRequests("resp", "touch", "expire", ok: 1);
        AssertRequests("resp", "pub_sub", "publish", ok: 1);
        AssertRequests("resp", "transaction", "exec", ok: 1);
        AssertRequests("resp", "arithmetic", "incr", ok: 1);
        Assert.Equal((2, 1), Lookups("memcached", "get"));
        Assert.Equal((1, 1), Lookups("memcached", "arithmetic"));
        Assert.Equal((0, 1), Lookups("memcached", "delete"));
        Assert.Equal((1, 0), Lookups("memcached", "touch"));
        Assert.Equal((2, 3), Lookups("resp", "get"));
        Assert.Equal(
            MemcachedRequests.Length + respRequests.Sum(request => request.Length + 2) + (2 * ("version\r\n".Length + "ECHO end\r\n".Length)),
            figures["cairn_network_received_bytes_total"]);
        Assert.Equal(2, figures["cairn_connections"]);
        Assert.Equal(2, figures["cairn_connections_accepted_total"]);
        Assert.Equal(3, figures["cairn_store_entries"]); // a, h and n.
        Assert.Equal(1, figures["cairn_ready"]);
        Assert.Equal(2, figures["cairn_request_duration_seconds_count{family=get,protocol=memcached}"]);
        Assert.Equal(2, figures["cairn_request_duration_seconds_bucket{family=get,le=+Inf,protocol=memcached}"]);
        Assert.InRange(figures["cairn_request_duration_seconds_sum{family=get,protocol=memcached}"], 1e-9, 60);
        Assert.InRange(figures["cairn_request_work_seconds_total{family=hash,protocol=resp}"], 1e-9, 60);
        Assert.InRange(figures["process_cpu_seconds_total"], 0.001, 1e6);

        void AssertRequests(string protocol, string family, string command, int ok, int error = 0, int rejected = 0)
        {
            Assert.Equal(
                (command, ok, error, rejected),
                (command, figures[Name("ok")], figures[Name("error")], figures[Name("rejected")]));

            string Name(string result) => $"cairn_requests_total{{command={command},family={family},protocol={protocol},result={result}}}";
        }

        (double Hits, double Misses) Lookups(string protocol, string family) =>
            (figures[$"cairn_lookups_total{{family={family},protocol={protocol},result=hit}}"],
                figures[$"cairn_lookups_total{{family={family},protocol={protocol},result=miss}}"]);
    }

    [RequiresToolFact(ServedMetrics.Parser)]
    public async Task Figures_of_all_workers_add_up()
    {
        const int Clients = 9;
        const int Requests = 40;
        await using ServedMetrics server = await ServedMetrics.StartAsync(workers: 3);
        TestClient[] clients = [.. Enumerable.Range(0, Clients).Select(_ => server.Connect("memcached"))];

        foreach (TestClient client in clients)
        {
            Exchange(client, string.Concat(Enumerable.Repeat("get none\r\n", Requests)), "version\r\n", "VERSION");
        }

        Dictionary<string, double> figures = await server.ScrapeAsync();
        Array.ForEach(clients, client => client.Dispose());

        Assert.Equal(Clients * Requests, figures["cairn_requests_total{command=get,family=get,protocol=memcached,result=ok}"]);
        Assert.Equal(Clients * Requests, figures["cairn_lookups_total{family=get,protocol=memcached,result=miss}"]);
        Assert.Equal(Clients * Requests, figures["cairn_request_duration_seconds_count{family=get,protocol=memcached}"]);
        Assert.Equal(Clients, figures["cairn_connections_accepted_total"]);
        Assert.Equal(3, figures["cairn_workers"]);
    }

    [RequiresToolFact(ServedMetrics.Parser)]
    public async Task Every_figure_has_its_type_its_help_and_its_name_s_form()
    {
        await using ServedMetrics server = await ServedMetrics.StartAsync();
        using TestClient client = server.Connect("memcached");
        Exchange(client, "get none\r\n", "version\r\n", "VERSION");
        using HttpResponseMessage response = await server.GetAsync("/metrics");
        string text = await response.Content.ReadAsStringAsync();

        var families = (await ServedMetrics.ParseSamplesAsync(text))
            .Select(sample => (Name: sample[0].GetString()!, Type: sample[1].GetString()!, Help: sample[2].GetString()!, Sample: sample[3].GetString()!))
            .ToList();

        Assert.All(families, family => Assert.NotEqual("", family.Help));
        Assert.All(families, family => Assert.Contains(family.Type, (string[])["counter", "gauge", "histogram"]));
        Assert.All(families.Where(family => family.Type == "counter"), family => Assert.EndsWith("_total", family.Sample, StringComparison.Ordinal));
        Assert.All(MetricTable.All, family => Assert.Contains($"# TYPE {family.PrometheusName} ", text, StringComparison.Ordinal));
        Assert.Equal(MetricTable.All.Count, MetricTable.All.Select(family => family.PrometheusName).Distinct(StringComparer.Ordinal).Count());
    }

    [RequiresToolFact(ServedMetrics.Parser)]
    public async Task Name_with_anything_in_it_is_read_as_it_is()
    {
        const string Name = "quote \" backslash \\ line\nend {}, and ü";
        string text = $"# HELP m {PrometheusText.Escape("a\\b\nc", isLabel: false)}\n# TYPE m gauge\nm{{name=\"{PrometheusText.Escape(Name, isLabel: true)}\"}} 1\n";

        var sample = Assert.Single(await ServedMetrics.ParseSamplesAsync(text));

        Assert.Equal(Name, sample[4].GetProperty("name").GetString());
        Assert.Equal("a\\b\nc", sample[2].GetString());
    }

    [Fact]
    public async Task Meter_has_the_same_figures_as_the_text()
    {
        await using ServedMetrics server = await ServedMetrics.StartAsync();
        using TestClient client = server.Connect("memcached");
        Exchange(client, "get none\r\nget none\r\n", "version\r\n", "VERSION");
        using Meter meter = server.Server.Insight.CreateMeter();
        var seen = new Dictionary<string, double>(StringComparer.Ordinal);
        var units = new Dictionary<string, string?>(StringComparer.Ordinal);
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, itself) =>
        {
            if (ReferenceEquals(instrument.Meter, meter))
            {
                units[instrument.Name] = instrument.Unit;
                itself.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<double>((instrument, value, tags, _) =>
            seen[$"{instrument.Name}{{{string.Join(',', tags.ToArray().Select(tag => $"{tag.Key}={tag.Value}"))}}}"] = value);
        listener.Start();

        listener.RecordObservableInstruments();

        Assert.Equal(2, seen["cairn.requests{protocol=memcached,family=get,command=get,result=ok}"]);
        Assert.Equal(2, seen["cairn.request.duration.count{protocol=memcached,family=get}"]);
        Assert.Equal(2, seen["cairn.request.duration.bucket{protocol=memcached,family=get,le=+Inf}"]);
        Assert.Equal(1, seen["cairn.connections{}"]);
        Assert.Equal("By", units["cairn.network.received"]);
        Assert.All(
            MetricTable.All.Where(family => family.Kind != MetricKind.Histogram),
            family => Assert.Contains(family.Name, units.Keys));
    }

    [Fact]
    public void Document_has_the_same_description_of_every_figure_as_the_server()
    {
        string document = File.ReadAllText(FindDocument());

        Assert.All(MetricTable.All, family => Assert.Contains(
            $"| `{family.PrometheusName}` | `{family.Name}` | {family.Kind.ToString().ToLowerInvariant()} | {family.Help} |", document, StringComparison.Ordinal));
        Assert.Equal(MetricTable.All.Count, document.Split('\n').Count(line => line.StartsWith("| `cairn_", StringComparison.Ordinal) || line.StartsWith("| `process_", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task Slow_requests_are_counted_and_kept()
    {
        await using ServedMetrics server = await ServedMetrics.StartAsync(configure: options => options with { SlowThreshold = TimeSpan.Zero });
        using TestClient client = server.Connect("memcached");

        Exchange(client, "get some-key\r\n", "version\r\n", "VERSION");

        var text = new System.Buffers.ArrayBufferWriter<byte>();
        server.Server.Insight.WriteMetrics(text);
        Assert.Contains("\ncairn_slow_requests_total 3\n", System.Text.Encoding.UTF8.GetString(text.WrittenSpan), StringComparison.Ordinal);
    }

    // A latency is recorded after the reply was sent: a second exchange sees the latencies of the first.
    private static void Exchange(TestClient client, string requests, string last, string lastReply)
    {
        client.Send(requests);
        client.Send(last);
        while (!client.ReadLine().StartsWith(lastReply, StringComparison.Ordinal))
        {
        }

        client.Send(last);
        while (!client.ReadLine().StartsWith(lastReply, StringComparison.Ordinal))
        {
        }
    }

    private static string FindDocument()
    {
        string directory = AppContext.BaseDirectory;
        while (!File.Exists(Path.Combine(directory, "docs", "reference", "metrics.md")))
        {
            directory = Path.GetDirectoryName(directory) ?? throw new FileNotFoundException("docs/reference/metrics.md");
        }

        return Path.Combine(directory, "docs", "reference", "metrics.md");
    }
}
