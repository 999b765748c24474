using System.Diagnostics;
using System.Net;
using System.Text.Json;
using Cairn.Dashboard;
using Cairn.Server.Tests.Testing;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Tests.Metrics;

/// <summary>A server with all features. Independent parsers read its figures.</summary>
internal sealed class ServedMetrics : IAsyncDisposable
{
    /// <summary>The parser of Prometheus' own Python client.</summary>
    public const string Parser = "/usr/lib/python3/dist-packages/prometheus_client/parser.py";

    private const string Script = """
        import json, sys
        from prometheus_client.parser import text_string_to_metric_families as families
        json.dump([[f.name, f.type, f.documentation, s.name, s.labels, s.value] for f in families(sys.stdin.read()) for s in f.samples], sys.stdout)
        """;

    private readonly StoreDirectory _directory;
    private readonly HttpClient _http = new();

    private ServedMetrics(CairnServer server, StoreDirectory directory)
    {
        Server = server;
        _directory = directory;
    }

    public CairnServer Server { get; }

    public static async Task<ServedMetrics> StartAsync(
        int workers = 1, Func<ServerOptions, ServerOptions>? configure = null, ILogger? log = null)
    {
        var directory = new StoreDirectory();
        var options = new ServerOptions
        {
            StorePath = directory.FilePath,
            CapacityBytes = 32 << 20,
            Memcached = "127.0.0.1:0",
            Resp = "127.0.0.1:0",
            Http = "127.0.0.1:0",
            Workers = workers,
        };
        return new ServedMetrics(
            await CairnServer.StartAsync(configure?.Invoke(options) ?? options, log, insight => new CairnDashboard(insight)), directory);
    }

    public TestClient Connect(string listener) => TestClient.Connect(IPEndPoint.Parse(AddressOf(listener)));

    public Task<HttpResponseMessage> GetAsync(string path) => _http.GetAsync(new Uri($"http://{AddressOf("http")}{path}"));

    public Task<HttpResponseMessage> SendAsync(HttpMethod method, string path) =>
        _http.SendAsync(new HttpRequestMessage(method, new Uri($"http://{AddressOf("http")}{path}")));

    /// <summary>Returns every sample at /metrics by name and labels, ordered by label name: name{a=1,b=2}.</summary>
    public async Task<Dictionary<string, double>> ScrapeAsync()
    {
        using HttpResponseMessage response = await GetAsync("/metrics");
        Assert.Equal("text/plain; version=0.0.4; charset=utf-8", response.Content.Headers.ContentType!.ToString());
        return await ParseAsync(await response.Content.ReadAsStringAsync());
    }

    public static async Task<Dictionary<string, double>> ParseAsync(string metrics)
    {
        var samples = new Dictionary<string, double>(StringComparer.Ordinal);
        foreach (JsonElement sample in await ParseSamplesAsync(metrics))
        {
            string labels = string.Join(
                ',',
                sample[4].EnumerateObject().OrderBy(label => label.Name, StringComparer.Ordinal).Select(label => $"{label.Name}={label.Value.GetString()}"));
            samples.Add(sample[3].GetString() + (labels.Length == 0 ? "" : $"{{{labels}}}"), sample[5].GetDouble());
        }

        return samples;
    }

    /// <summary>Returns for each sample the family's name, type and help, and the sample's own name, labels and value.</summary>
    public static async Task<JsonElement[]> ParseSamplesAsync(string metrics)
    {
        using Process python = Process.Start(new ProcessStartInfo("/usr/bin/python3", ["-c", Script])
        {
            UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true,
        })!;
        Task<string> errors = python.StandardError.ReadToEndAsync();
        Task<string> output = python.StandardOutput.ReadToEndAsync();
        await python.StandardInput.WriteAsync(metrics);
        python.StandardInput.Close();
        await python.WaitForExitAsync();
        Assert.Equal("", await errors);
        return [.. JsonDocument.Parse(await output).RootElement.EnumerateArray()];
    }

    public async ValueTask DisposeAsync()
    {
        _http.Dispose();
        await Server.DisposeAsync();
        _directory.Dispose();
    }

    private string AddressOf(string listener) => Server.Addresses.First(address => address.Key == listener).Value;
}
