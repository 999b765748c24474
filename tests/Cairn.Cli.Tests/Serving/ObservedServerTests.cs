using System.Net;
using System.Net.Sockets;
using System.Text;
using Cairn.Cli.Serving;
using Cairn.Server;

namespace Cairn.Cli.Tests.Serving;

/// <summary>The log and the metrics of a server process. A collector receives the metrics too.</summary>
public sealed class ObservedServerTests : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly TestDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Nothing_of_the_web_server_is_loaded_before_the_first_client_of_http_comes()
    {
        using ToolProcess process = ToolProcess.Start(
            "serve", "--store", _directory["a.cairn"], "--capacity", "8MiB", "--memcached", "127.0.0.1:0", "--resp", "off", "--http", "127.0.0.1:0");
        string address = WhereItListens(process, "http");
        WhereItListens(process, "memcached");
        string mapsFile = $"/proc/{process.Id}/maps";

        Assert.DoesNotContain("AspNetCore", await File.ReadAllTextAsync(mapsFile), StringComparison.Ordinal);
        Assert.DoesNotContain("OpenTelemetry", await File.ReadAllTextAsync(mapsFile), StringComparison.Ordinal);
        using var http = new HttpClient();
        string metrics = await http.GetStringAsync(new Uri($"http://{address}/metrics"));

        Assert.Contains("\ncairn_ready 1\n", metrics, StringComparison.Ordinal);
        Assert.Contains("AspNetCore", await File.ReadAllTextAsync(mapsFile), StringComparison.Ordinal);
        process.Signal(ToolProcess.Terminate);
        Assert.Equal(ExitCode.Done, process.WaitForExit().Code);
    }

    [Fact]
    public async Task Collector_is_sent_the_figures_when_the_server_ends_at_the_latest()
    {
        using var collector = new TcpListener(IPAddress.Loopback, 0);
        collector.Start();
        await using CairnServer server = await CairnServer.StartAsync(new ServerOptions
        {
            StorePath = _directory["b.cairn"], CapacityBytes = 8 << 20, Memcached = "127.0.0.1:0", Resp = null, Workers = 1,
        });
        using (var client = new TcpClient())
        {
            await client.ConnectAsync(IPEndPoint.Parse(server.Addresses[0].Value));
            await client.GetStream().WriteAsync("get none\r\nget none\r\n"u8.ToArray());
            await client.GetStream().ReadExactlyAsync(new byte[10]);
        }

        ServerInsight insight = server.Insight;
        var endpoint = new Uri($"http://{collector.LocalEndpoint}");
        Task telling = Task.Run(() => Telemetry.Start(insight, endpoint, _ => null).Dispose());
        (string head, byte[] body) = await ReceiveAsync(collector).WaitAsync(Patience);
        await telling;

        Assert.StartsWith("POST /v1/metrics HTTP/1.1", head, StringComparison.Ordinal);
        Assert.Contains("application/x-protobuf", head, StringComparison.Ordinal);
        OtlpMetrics metrics = OtlpMetrics.Parse(body);
        Assert.Equal("cairn", metrics.Resource["service.name"]);
        Assert.Equal(ServerInsight.MeterName, metrics.Scope);
        Assert.Equal(2, metrics.Values["cairn.requests{command=get,family=get,protocol=memcached,result=ok}"]);
        Assert.Equal(2, metrics.Values["cairn.lookups{family=get,protocol=memcached,result=miss}"]);
        Assert.Equal(1, metrics.Values["cairn.ready{}"]);
        Assert.Equal("By", metrics.Units["cairn.network.received"]);
    }

    [Fact]
    public async Task Missing_collector_is_logged_and_stops_nothing()
    {
        var lines = new System.Collections.Concurrent.ConcurrentQueue<string>();
        using var closed = new TcpListener(IPAddress.Loopback, 0);
        closed.Start();
        var endpoint = new Uri($"http://{closed.LocalEndpoint}");
        closed.Stop();
        await using CairnServer server = await CairnServer.StartAsync(
            new ServerOptions
            {
                StorePath = _directory["c.cairn"], CapacityBytes = 8 << 20, Memcached = "127.0.0.1:0", Resp = null, Workers = 1,
            },
            new WarningLogger(lines.Enqueue));

        using (Telemetry.Start(server.Insight, endpoint, _ => null))
        {
        }

        Assert.Contains(lines, line => line.StartsWith("Figures cannot be sent by OTLP", StringComparison.Ordinal));
        Assert.True(server.Insight.GetHealth().IsReady);
    }

    private static string WhereItListens(ToolProcess process, string listener)
    {
        string start = $"Listening for {listener} on ";
        string line;
        do
        {
            line = process.ReadErrorLine();
            Assert.NotEqual("", line); // An empty line means that the server has ended.
        }
        while (!line.Contains(start, StringComparison.Ordinal));
        return line[(line.IndexOf(start, StringComparison.Ordinal) + start.Length)..].TrimEnd('.');
    }

    // Receives one HTTP/1.1 request with a content length.
    private static async Task<(string Head, byte[] Body)> ReceiveAsync(TcpListener listener)
    {
        const string Length = "\r\nContent-Length: ";
        using TcpClient client = await listener.AcceptTcpClientAsync();
        NetworkStream stream = client.GetStream();
        var head = new StringBuilder();
        var letter = new byte[1];
        while (!head.ToString().EndsWith("\r\n\r\n", StringComparison.Ordinal))
        {
            await stream.ReadExactlyAsync(letter);
            head.Append((char)letter[0]);
        }

        string text = head.ToString();
        int start = text.IndexOf(Length, StringComparison.OrdinalIgnoreCase) + Length.Length;
        var body = new byte[int.Parse(text[start..text.IndexOf('\r', start)], System.Globalization.CultureInfo.InvariantCulture)];
        await stream.ReadExactlyAsync(body);
        await stream.WriteAsync("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"u8.ToArray());
        return (text, body);
    }
}
