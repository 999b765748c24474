using System.Globalization;
using System.Text.Json;
using System.Text.RegularExpressions;
using Cairn.Cli.Tests.Servers;

namespace Cairn.Cli.Tests;

/// <summary>cairn top for a server.</summary>
public sealed class ServerTopTests : ToolTest
{
    private const string Leave = "\e[?25h\e[?1049l";
    private static readonly Regex Escapes = new("\e\\[[0-9;?]*[A-Za-z]");

    private int _gets;
    private int _uptime;
    private bool _isAway;

    [Fact]
    public void Rates_are_those_between_two_looks()
    {
        using ScriptedServer server = Scripted();
        TestConsole console = NewConsole();
        console.Waiting = () => _gets += 300;

        ToolRun run = Run(console, "top", server.Address, "--json", "--count", "2", "--interval", "2s");

        Assert.Equal((0, ""), (run.Code, run.Error));
        Assert.Equal(2, run.JsonLines.Count());
        Assert.All(run.JsonLines, look =>
        {
            Assert.True(look.GetProperty("up").GetBoolean());
            Assert.Equal("memcached 1.2.3", look.GetProperty("name").GetString());
            Assert.Equal(150, look.GetProperty("operationsPerSecond").GetDouble());
            Assert.Equal(150, look.GetProperty("commands").GetProperty("get").GetDouble());
            Assert.Equal(2.0 / 3, look.GetProperty("hitRatio").GetDouble(), 3);
            Assert.Equal((7, 1024, 4096), (Number(look, "items"), Number(look, "memoryBytes"), Number(look, "memoryLimitBytes")));
        });
    }

    // A server of the machine may listen at the default address.
    [Theory]
    [InlineData("top", "--count", "1", "--json")]
    [InlineData("stats", "--json")]
    [InlineData("bench", "--load", "--requests", "1", "--connections", "1", "--json")]
    public void Without_an_address_and_a_store_the_server_is_the_same_for_all_commands(params string[] command)
    {
        TestConsole console = NewConsole();
        console.Environment.Remove("CAIRN_STORE");

        ToolRun run = Run(console, command);

        Assert.Contains("127.0.0.1:11211", run.Output + run.Error, StringComparison.Ordinal);
        Assert.True(run.Code != ExitCode.Server || run.Error.Contains("--store FILE", StringComparison.Ordinal) || command[0] == "bench", run.Error);
    }

    [Fact]
    public void Server_that_goes_away_and_comes_back_is_shown_so()
    {
        using ScriptedServer server = Scripted();
        TestConsole console = NewConsole();
        int waits = 0;
        console.Waiting = () => _isAway = ++waits is 2 or 3;

        ToolRun run = Run(console, "top", server.Address, "--json", "--count", "4");

        Assert.Equal((0, ""), (run.Code, run.Error));
        Assert.Equal([true, false, false, true], run.JsonLines.Select(look => look.GetProperty("up").GetBoolean()));
        Assert.Contains("cannot be reached", run.JsonLines.ElementAt(1).GetProperty("problem").GetString(), StringComparison.Ordinal);
        Assert.Equal(0, run.JsonLines.Last().GetProperty("operationsPerSecond").GetDouble());
    }

    [Fact]
    public void Server_that_was_restarted_counts_from_zero()
    {
        using ScriptedServer server = Scripted();
        (_gets, _uptime) = (1000, 50);
        TestConsole console = NewConsole();
        console.Waiting = () => (_gets, _uptime) = (30, 1);

        ToolRun run = Run(console, "top", server.Address, "--count", "1");

        Assert.EndsWith("restarted", run.Lines[1], StringComparison.Ordinal);
        Assert.Matches(@"Z +0 +- ", run.Lines[1]);
    }

    [Fact]
    public void Without_a_terminal_there_is_a_line_for_each_look()
    {
        using ScriptedServer server = Scripted();

        ToolRun run = Run("top", server.Address, "--count", "21");

        Assert.Equal((0, 23), (run.Code, run.Lines.Length));
        Assert.Equal(2, run.Lines.Count(line => line.StartsWith("time", StringComparison.Ordinal)));
        Assert.DoesNotContain('\e', run.Output);
    }

    [Theory]
    [InlineData(true, 100, 30)]
    [InlineData(true, 100, 8)]
    [InlineData(true, 10, 3)]
    [InlineData(true, 1, 1)]
    [InlineData(false, 100, 30)]
    [InlineData(false, 100, 8)]
    [InlineData(false, 10, 3)]
    [InlineData(false, 1, 1)]
    public void Picture_fits_the_terminal(bool ofServer, int width, int height)
    {
        using ScriptedServer server = Scripted();
        OpenStore().Dispose();
        TestConsole console = NewConsole(isTerminal: true);
        (console.ScreenWidth, console.ScreenHeight) = (width, height);

        ToolRun run = ofServer ? Run(console, "top", server.Address, "--count", "2") : Run(console, "top", "--count", "2");

        Assert.Equal((0, ""), (run.Code, run.Error));
        string[] pictures = run.Output.Split("\e[H")[1..];
        Assert.Equal(2, pictures.Length);
        Assert.All(pictures, picture => Assert.InRange(picture.Split('\n').Length, Math.Min(4, height), height));
        Assert.All(
            pictures.SelectMany(picture => Escapes.Replace(picture, "").TrimEnd().Split('\n')),
            line => Assert.True(line.TrimEnd().Length <= width, $"'{line}' is longer than {width}."));
        if (ofServer && width == 100)
        {
            Assert.Contains("memcached 1.2.3", pictures[0], StringComparison.Ordinal);
        }

        Assert.Contains("q quits"[..Math.Min(width, 7)], pictures[0], StringComparison.Ordinal);
        Assert.EndsWith(Leave, run.Output, StringComparison.Ordinal);
    }

    [Fact]
    public void Keys_and_a_changed_size_redraw_the_picture_at_once()
    {
        using ScriptedServer server = Scripted();
        _gets = 10;
        TestConsole console = NewConsole(isTerminal: true);
        int waits = 0;
        console.Waiting = () =>
        {
            waits++;
            if (waits == 6)
            {
                console.ScreenWidth = 60;
            }

            if ("h+ ↓ q" is var keys && waits <= keys.Length)
            {
                console.Keys.Enqueue(keys[waits - 1]);
            }
        };

        ToolRun run = Run(console, "top", server.Address, "--interval", "1h");

        Assert.Equal((0, ""), (run.Code, run.Error));
        string[] pictures = run.Output.Split("\e[H")[1..];
        Assert.Equal(6, pictures.Length);
        Assert.Contains("space pauses", pictures[1], StringComparison.Ordinal);
        Assert.Contains("every 7200 s", pictures[2], StringComparison.Ordinal);
        Assert.Contains("PAUSED", pictures[3], StringComparison.Ordinal);
        Assert.Contains("│ get ", pictures[3], StringComparison.Ordinal);
        Assert.DoesNotContain("│ get ", pictures[4], StringComparison.Ordinal);
        Assert.DoesNotContain("PAUSED", pictures[5], StringComparison.Ordinal);
    }

    [RequiresToolFact("memcached")]
    public void Top_shows_the_figures_of_memcached()
    {
        using PeerProcess peer = PeerProcess.Memcached();

        AssertTells(peer.Address, "set");
    }

    [RequiresToolFact("redis-server")]
    public void Top_shows_latencies_and_the_slow_log_of_Redis()
    {
        using PeerProcess peer = PeerProcess.Redis("--slowlog-log-slower-than", "0");

        JsonElement look = AssertTells(peer.Address, "set");
        TestConsole console = NewConsole(isTerminal: true);
        ToolRun picture = Run(console, "top", peer.Address, "--count", "1");

        Assert.True(look.GetProperty("latenciesUs").TryGetProperty("set", out _));
        Assert.Contains("p99.9", picture.Output, StringComparison.Ordinal);
        Assert.Contains("slow", picture.Output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Top_shows_the_figures_of_Cairn(bool isResp)
    {
        using var served = new ServedStore();

        JsonElement look = AssertTells(isResp ? served.Resp : served.Memcached, "set");

        Assert.Equal(isResp, look.GetProperty("latenciesUs").TryGetProperty("set", out _));
    }

    [Fact]
    public void Server_that_is_not_there_at_first_is_an_error()
    {
        ToolRun run = Run(NewConsole(isTerminal: true), "top", $"unix:{PathOf("absent.sock")}");

        Assert.Equal((ExitCode.Server, ""), (run.Code, run.Output));
        Assert.Contains("cannot be reached", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Server_and_store_at_once_are_a_mistake() =>
        Assert.Equal(ExitCode.Usage, Run("top", "11211", "--store", StorePath).Code);

    private static long Number(JsonElement json, string name) => json.GetProperty(name).GetInt64();

    // Loads the server between two readings.
    private JsonElement AssertTells(string address, string command)
    {
        TestConsole console = NewConsole();
        console.Waiting = () => Assert.Equal(
            0, Run("bench", address, "--requests", "50", "--set-percent", "100", "--keys", "20", "--connections", "2", "--keep", "--json").Code);

        ToolRun run = Run(console, "top", address, "--json", "--count", "1", "--interval", "10s");

        Assert.Equal((0, ""), (run.Code, run.Error));
        Assert.InRange(run.Json.GetProperty("commands").GetProperty(command).GetDouble(), 5, 5.1);
        Assert.InRange(Number(run.Json, "items"), 10, 20);
        Assert.InRange(Number(run.Json, "connections"), 1, 10);
        Assert.NotEqual(0, run.Json.GetProperty("bytesReceivedPerSecond").GetDouble());
        return run.Json;
    }

    private ScriptedServer Scripted() => new(line => _isAway ? null : line switch
    {
        "version" => "VERSION 1.2.3\r\n",
        "stats" => string.Create(
            CultureInfo.InvariantCulture,
            $"STAT cmd_get {_gets}\r\nSTAT cmd_set 5\r\nSTAT get_hits {_gets / 3 * 2}\r\nSTAT get_misses {_gets - (_gets / 3 * 2)}\r\nSTAT curr_items 7\r\nSTAT bytes 1024\r\nSTAT limit_maxbytes 4096\r\nSTAT uptime {_uptime}\r\nEND\r\n"),
        _ => "ERROR\r\n",
    });
}
