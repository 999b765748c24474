using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Cairn.Cli.Tests.Servers;

namespace Cairn.Cli.Tests;

/// <summary>cairn trace record.</summary>
public sealed class TraceTests : ToolTest
{
    private const int LineBytes = 17;

    private string TracePath => PathOf("recorded.trace");

    [Fact]
    public void Equal_keys_have_equal_hashes_that_do_not_show_the_keys()
    {
        using ScriptedServer server = Watched(Fetch("alice"), Fetch("bob"), Fetch("alice"));

        ToolRun run = Record(server.Address, requests: 3);

        string[] hashes = File.ReadAllLines(TracePath);
        Assert.Equal((0, 3), (run.Code, hashes.Length));
        Assert.Equal(hashes[0], hashes[2]);
        Assert.NotEqual(hashes[0], hashes[1]);
        Assert.All(hashes, hash => Assert.Matches("^[0-9a-f]{16}$", hash));
    }

    [Fact]
    public void Two_recordings_hash_a_key_differently()
    {
        using ScriptedServer server = Watched(Fetch("alice"));

        Record(server.Address, requests: 1);
        string first = File.ReadAllText(TracePath);
        Record(server.Address, requests: 1);

        Assert.NotEqual(first, File.ReadAllText(TracePath));
    }

    [Fact]
    public void Requests_that_the_server_leaves_out_are_counted()
    {
        using ScriptedServer server = Watched(Fetch("alice"), "skipped=7", "ts=1 gid=3 type=item_store key=x status=stored", Fetch("bob"));

        ToolRun run = Record(server.Address, requests: 2, "--json");

        Assert.Equal(2, run.Json.GetProperty("requests").GetInt64());
        Assert.Equal(7, run.Json.GetProperty("skipped").GetInt64());
    }

    [Fact]
    public void Server_that_does_not_report_requests_is_an_error_that_names_its_answer()
    {
        using var served = new ServedStore();

        ToolRun run = Run("trace", "record", $"redis://{served.Resp}", TracePath);

        Assert.Equal(6, run.Code);
        Assert.Contains("MONITOR", run.Error, StringComparison.OrdinalIgnoreCase);
        Assert.False(File.Exists(TracePath));
    }

    [Fact]
    public void Trace_of_a_connection_that_ends_early_has_the_requests_until_then()
    {
        using ScriptedServer server = new(line => line switch
        {
            "version" => "VERSION 1.6.0\r\n",
            "watch fetchers" => "OK\r\n" + Fetch("alice") + "\n" + Fetch("bob") + "\nts=1 gid=3 type=item_g",
            _ => null,
        }) { ClosesAfter = "watch fetchers" };

        ToolRun run = Run("trace", "record", server.Address, TracePath);

        Assert.Equal(6, run.Code);
        Assert.Contains("the connection ended after 2 requests, which are in", run.Error, StringComparison.Ordinal);
        Assert.Equal(2, File.ReadAllLines(TracePath).Length);
    }

    [Fact]
    public void Line_that_is_too_long_is_cut_and_the_next_one_is_read()
    {
        using ScriptedServer server = Watched(Fetch("alice") + new string('x', 5 << 20), Fetch("bob"));

        ToolRun run = Record(server.Address, requests: 2);

        Assert.Equal((0, 2), (run.Code, File.ReadAllLines(TracePath).Distinct().Count()));
    }

    [Fact]
    public void Server_whose_first_line_never_ends_is_not_understood()
    {
        using ScriptedServer server = new(_ => new string('x', 3 << 20)); // Without a line feed.

        ToolRun run = Run("trace", "record", server.Address, TracePath, "--protocol", "memcached");

        Assert.Equal(6, run.Code);
        Assert.Contains("speaks neither RESP nor", run.Error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("cairn")]
    [InlineData("cairn, by RESP")]
    [InlineData("memcached")]
    [InlineData("redis")]
    public async Task Reads_of_a_running_server_are_recorded(string kind)
    {
        using ServedStore? served = kind.StartsWith("cairn", StringComparison.Ordinal) ? new ServedStore() : null;
        using PeerProcess? peer = kind == "memcached" ? PeerProcess.Memcached() : kind == "redis" ? PeerProcess.Redis() : null;
        string address = served?.Memcached ?? peer!.Address;
        bool isRedis = kind == "redis";
        bool readsByResp = kind is "redis" or "cairn, by RESP";

        Task<ToolRun> recording = Task.Run(
            () => Run(["trace", "record", address, TracePath, "--size", $"{10 * LineBytes}B", .. isRedis ? ["--protocol", "resp"] : Array.Empty<string>()]));
        ReadUntilDone(kind == "cairn, by RESP" ? served!.Resp : address, readsByResp, recording);

        ToolRun run = await recording;
        Assert.Equal((0, ""), (run.Code, run.Error));
        string[] hashes = await File.ReadAllLinesAsync(TracePath);
        Assert.Equal(10, hashes.Length);
        Assert.Equal(2, hashes.Distinct().Count());
        Assert.NotEqual(hashes[0], hashes[1]);
    }

    // Reads two keys in turn. The server reports only what it receives after the tool has asked for it.
    private static void ReadUntilDone(string address, bool isResp, Task recording)
    {
        bool isLocal = address.StartsWith("unix:", StringComparison.Ordinal);
        using var socket = new Socket(
            isLocal ? AddressFamily.Unix : AddressFamily.InterNetwork, SocketType.Stream, isLocal ? ProtocolType.Unspecified : ProtocolType.Tcp);
        socket.Connect(isLocal ? new UnixDomainSocketEndPoint(address["unix:".Length..]) : IPEndPoint.Parse(address));
        using var stream = new NetworkStream(socket);
        using var reader = new StreamReader(stream);
        for (int i = 0; !recording.IsCompleted; i++)
        {
            stream.Write(Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"get key{i % 2}\r\n")));
            Assert.Equal(isResp ? "$-1" : "END", reader.ReadLine());
        }
    }

    private ToolRun Record(string address, int requests, params string[] more) =>
        Run(["trace", "record", address, TracePath, "--size", $"{requests * LineBytes}B", .. more]);

    private static string Fetch(string key) => $"ts=1.2 gid=1 type=item_get key={key} status=found clsid=1 cfd=7 size=10";

    // A memcached that reports these lines.
    private static ScriptedServer Watched(params string[] lines) => new(line => line switch
    {
        "version" => "VERSION 1.6.0\r\n",
        "watch fetchers" => "OK\r\n" + string.Concat(lines.Select(reported => reported + "\n")),
        _ => null,
    });
}
