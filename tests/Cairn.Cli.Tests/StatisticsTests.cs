using System.Text.Json;

namespace Cairn.Cli.Tests;

/// <summary>stats, top and bigkeys.</summary>
public sealed class StatisticsTests : ToolTest
{
    public StatisticsTests()
    {
        CreateStore();
        Run("set", "book:42", "Dune");
        Run("set", "empty", "");
        Run("set", "--collection", "sessions", "alice", "token");
        Run("get", "book:42");
        Run("get", "absent");
    }

    [Fact]
    public void Stats_show_what_the_store_holds_and_has_done()
    {
        ToolRun run = Run("stats");

        Assert.Equal(0, run.Code);
        Assert.Contains("1 hits, 1 misses, hit ratio 50.0 %", run.Output, StringComparison.Ordinal);
        Assert.Contains("sessions", run.Output, StringComparison.Ordinal);
        Assert.DoesNotContain("partition", run.Output, StringComparison.Ordinal);
    }

    [Fact]
    public void Json_of_stats_has_every_counter_and_every_collection()
    {
        JsonElement json = Run("stats", "--json").Json;

        Assert.Equal((3, 3, 1, 1), (Number(json, "entries"), Number(json, "sets"), Number(json, "hits"), Number(json, "misses")));
        Assert.Equal(0.5, json.GetProperty("hitRatio").GetDouble());
        Assert.Equal(
            ["=2", "sessions=1"],
            json.GetProperty("collections").EnumerateArray().Select(c => $"{c.GetProperty("name").GetString()}={Number(c, "entries")}"));
        Assert.False(json.TryGetProperty("partitions", out _));
        Assert.False(json.TryGetProperty("sizes", out _));
    }

    [Fact]
    public void Partitions_add_up_to_the_whole()
    {
        JsonElement json = Run("stats", "--json", "--partitions").Json;

        List<JsonElement> partitions = [.. json.GetProperty("partitions").EnumerateArray()];
        Assert.NotEmpty(partitions);
        foreach (string counter in (string[])["entries", "bytes", "hits", "misses", "sets"])
        {
            Assert.Equal(Number(json, counter), partitions.Sum(partition => Number(partition, counter)));
        }

        IEnumerable<string> table = Run("stats", "--partitions").Lines
            .SkipWhile(line => !line.StartsWith("partition", StringComparison.Ordinal));
        Assert.Equal(partitions.Count + 1, table.Count());
    }

    [Fact]
    public void Sizes_count_every_value()
    {
        JsonElement sizes = Run("stats", "--json", "--sizes").Json.GetProperty("sizes");

        Assert.Equal((3, 9), (Number(sizes, "entries"), Number(sizes, "valueBytes")));
        Assert.Contains("3 values with 9 B in all", Run("stats", "--sizes").Output, StringComparison.Ordinal);
    }

    [Fact]
    public void Watched_stats_come_as_often_as_asked()
    {
        ToolRun run = Run("stats", "--watch", "--count", "3", "--interval", "10s", "--json");

        Assert.Equal(3, run.JsonLines.Count());
        Assert.Equal(TimeSpan.FromSeconds(20), Clock.GetUtcNow() - new ManualClock().GetUtcNow());
    }

    [Fact]
    public void Watched_stats_end_with_an_interruption()
    {
        TestConsole console = NewConsole();
        console.Waiting = console.Interrupt;

        ToolRun run = Run(console, "stats", "--watch", "--json");

        Assert.Equal(ExitCode.Interrupted, run.Code);
        Assert.Single(run.Lines);
    }

    [Fact]
    public void Top_shows_rates_between_two_samples()
    {
        TestConsole console = NewConsole();
        using CairnStore store = OpenStore();
        CairnCollection cache = store.DefaultCollection;
        console.Waiting = () =>
        {
            for (int i = 0; i < 30; i++)
            {
                cache.Set("key", "value"u8);
                cache.Contains("key");
                cache.Get(i % 3 == 0 ? "absent" : "key");
            }
        };

        // The opening in this test counts its reads when its statistics are requested.
        console.Waiting += () => store.GetStatistics();
        ToolRun run = Run(console, "top", "--json", "--count", "2", "--interval", "2s");

        Assert.Equal(2, run.JsonLines.Count());
        Assert.All(run.JsonLines, look =>
        {
            Assert.Equal(15, look.GetProperty("setsPerSecond").GetDouble());
            Assert.Equal(15, look.GetProperty("getsPerSecond").GetDouble());
            Assert.Equal(2.0 / 3, look.GetProperty("hitRatio").GetDouble(), 3);
            Assert.Equal(2, Number(look, "openings"));
        });
    }

    [Fact]
    public void Top_without_a_terminal_prints_a_line_for_each_look()
    {
        ToolRun run = Run("top", "--count", "21");

        Assert.Equal(0, run.Code);
        Assert.Equal(23, run.Lines.Length);
        Assert.Equal(2, run.Lines.Count(line => line.StartsWith("time", StringComparison.Ordinal)));
        Assert.DoesNotContain('\e', run.Output);
    }

    [Theory]
    [InlineData('q')]
    [InlineData('\e')]
    public void Top_on_a_terminal_shows_a_picture_until_a_key_ends_it(char key)
    {
        TestConsole console = NewConsole(isTerminal: true);
        int waits = 0;
        console.Waiting = () =>
        {
            if (++waits == 25)
            {
                console.Keys.Enqueue('x');
                console.Keys.Enqueue(key);
            }
        };

        ToolRun run = Run(console, "top");

        Assert.Equal((0, ""), (run.Code, run.Error));
        Assert.StartsWith("\e[?1049h\e[?25l", run.Output, StringComparison.Ordinal);
        Assert.EndsWith("\e[?25h\e[?1049l", run.Output, StringComparison.Ordinal);
        Assert.Equal(2, run.Output.Split("\e[H").Length - 1);
        Assert.Contains("hit ratio", run.Output, StringComparison.Ordinal);
        Assert.Contains("sessions", run.Output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(ExitCode.Interrupted, 0)]
    [InlineData(ExitCode.Terminated, ExitCode.Terminated)]
    public void Interruption_is_how_one_leaves_top_and_it_cleans_up(int signal, int code)
    {
        TestConsole console = NewConsole(isTerminal: true);
        console.Signal = signal;
        console.Waiting = console.Interrupt;

        ToolRun run = Run(console, "top");

        Assert.Equal(code, run.Code);
        Assert.EndsWith("\e[?25h\e[?1049l", run.Output, StringComparison.Ordinal);
    }

    [Fact]
    public void Bigkeys_lists_the_longest_first()
    {
        ToolRun text = Run("bigkeys", "--count", "2");
        JsonElement json = Run("bigkeys", "--count", "2", "--json").Json;

        Assert.Contains("5 B  alice    sessions", text.Output, StringComparison.Ordinal);
        Assert.Equal(
            """[{"key":"alice","collection":"sessions","valueBytes":5},{"key":"book:42","valueBytes":4}]""",
            json.GetProperty("biggest").GetRawText());
        Assert.Equal(3, Number(json.GetProperty("sizes"), "entries"));
    }

    [Theory]
    [InlineData("stats", "--count", "1")]
    [InlineData("stats", "--watch", "--interval", "1ms")]
    [InlineData("top", "--interval", "2d")]
    [InlineData("bigkeys", "--count", "10001")]
    [InlineData("stats", "key")]
    public void Mistake_is_a_usage_error(params string[] args)
    {
        Assert.Equal(ExitCode.Usage, Run(args).Code);
    }

    private static long Number(JsonElement json, string name) => json.GetProperty(name).GetInt64();
}
