using System.Net;
using System.Net.Sockets;
using System.Text.Json;
using System.Xml.Linq;
using Cairn.Cli.Tests.Servers;

namespace Cairn.Cli.Tests;

/// <summary>The comparison of formats, over everything that it can go over.</summary>
public sealed class SerializersTests : ToolTest
{
    private static readonly string[] Formats = ["json", "xml", "binary", "protobuf"];

    [Fact]
    public void Formats_are_compared_over_a_store_and_nothing_stays()
    {
        CreateStore();

        ToolRun run = Run("serializers", "--store", StorePath, "-n", "200", "--duration", "1ms", "--json");

        AssertComparison(run, 200);
        using CairnStore store = OpenStore();
        Assert.Equal(0, store.GetStatistics().Entries);
    }

    [Fact]
    public void Formats_are_compared_over_our_server()
    {
        using var served = new ServedStore();

        ToolRun run = Run("serializers", "--redis", served.Resp, "-n", "200", "--duration", "1ms", "--json");

        AssertComparison(run, 200);
    }

    [RequiresToolFact("redis-server")]
    public void Formats_are_compared_over_Redis()
    {
        int port = FreePort();
        using PeerProcess peer = PeerProcess.Redis("--port", $"{port}", "--bind", "127.0.0.1");

        ToolRun run = Run("serializers", "--redis", $"127.0.0.1:{port}", "-n", "200", "--duration", "1ms", "--json");

        AssertComparison(run, 200);
    }

    [Fact]
    public void Table_and_bars_name_every_format()
    {
        CreateStore();

        ToolRun run = Run("serializers", "--store", StorePath, "-n", "50", "--duration", "1ms");

        Assert.Equal((0, ""), (run.Code, run.Error));
        Assert.All(
            ["JSON", "XML", "binary XML", "protobuf", "JSON + Brotli", "XML + Brotli", "binary XML + Brotli", "protobuf + Brotli"],
            name => Assert.Equal(2, run.Lines.Count(line => line.StartsWith($"  {name}  ", StringComparison.Ordinal))));
        Assert.Contains("s serialize, w write, r read, d deserialize", run.Output, StringComparison.Ordinal);
    }

    [Fact]
    public void Chart_is_a_picture_with_a_bar_for_every_format_and_number_of_records()
    {
        CreateStore();
        string path = Path.Combine(Path.GetDirectoryName(StorePath)!, "formats.svg");

        ToolRun run = Run("serializers", "--store", StorePath, "-n", "200", "--duration", "1ms", "--chart", path);

        Assert.Equal((0, ""), (run.Code, run.Error));
        XElement picture = XDocument.Load(path).Root!;
        XNamespace svg = "http://www.w3.org/2000/svg";
        Assert.Equal(svg + "svg", picture.Name);
        string[] texts = [.. picture.Elements(svg + "text").Select(text => text.Value)];
        Assert.Equal(2, texts.Count(text => text == "protobuf + Brotli"));
        Assert.Contains(texts, text => text.StartsWith("200 records", StringComparison.Ordinal));

        // The background, the legend, and four parts of eight bars twice.
        Assert.Equal(1 + 4 + (2 * 8 * 4), picture.Elements(svg + "rect").Count());
    }

    [Fact]
    public void Values_that_are_too_long_for_the_store_are_refused_with_what_to_do()
    {
        CreateStore();

        ToolRun run = Run("serializers", "--store", StorePath, "-n", "50000", "--duration", "1ms");

        Assert.Equal(2, run.Code);
        Assert.Contains("too long for a value of the store", run.Error, StringComparison.Ordinal);
        using CairnStore store = OpenStore();
        Assert.Equal(0, store.GetStatistics().Entries);
    }

    [Fact]
    public void Server_that_is_not_there_is_an_error_that_names_it()
    {
        ToolRun run = Run("serializers", "--redis", "127.0.0.1:1", "--duration", "1ms");

        Assert.Equal(6, run.Code);
        Assert.Contains("127.0.0.1:1", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Server_and_store_together_are_refused()
    {
        ToolRun run = Run("serializers", "--redis", "127.0.0.1:1", "--store", StorePath);

        Assert.Equal(2, run.Code);
        Assert.Contains("--redis and --store exclude each other", run.Error, StringComparison.Ordinal);
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }

    private static void AssertComparison(ToolRun run, int records)
    {
        Assert.Equal((0, ""), (run.Code, run.Error));
        JsonElement[] comparisons = [.. run.Json.GetProperty("comparisons").EnumerateArray()];
        Assert.Equal([50, records], comparisons.Select(comparison => comparison.GetProperty("records").GetInt32()));
        foreach (JsonElement comparison in comparisons)
        {
            JsonElement[] trials = [.. comparison.GetProperty("formats").EnumerateArray()];
            Assert.Equal(Formats.SelectMany(format => new[] { format, format }), trials.Select(trial => trial.GetProperty("format").GetString()));
            Assert.All(trials, trial => Assert.InRange(trial.GetProperty("totalUs").GetDouble(), 0.001, 1e9));

            // protobuf is the shortest and XML the longest, and compression saves.
            long[] bytes = [.. trials.Select(trial => trial.GetProperty("bytes").GetInt64())];
            Assert.True(bytes[6] < bytes[0] && bytes[6] < bytes[4] && bytes[0] < bytes[2], string.Join(' ', bytes));
            Assert.All([0, 2, 4, 6], plain => Assert.True(bytes[plain + 1] < bytes[plain], string.Join(' ', bytes)));
        }
    }
}
