using System.Text;
using Cairn.Server.Connections;
using Cairn.Server.Memcached;
using Cairn.Server.Metrics;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Memcached;

/// <summary>Statistics, listing of keys, authentication and shutdown.</summary>
public class ManagementTests
{
    private static readonly string[] s_traffic = ["total_connections", "idle_kicks", "rejected_connections", "bytes_read", "bytes_written"];

    [Fact]
    public void Statistics_count_what_was_asked()
    {
        using var session = new SessionUnderTest();
        session.Send("set a 0 0 1\r\n1\r\nget a\r\nget b\r\nmg a v\r\nincr a 1\r\ndelete a\r\ndelete a\r\ncas a 0 0 1 1\r\n1\r\ntouch a 1\r\nflush_all\r\n");

        Dictionary<string, string> stats = Read(session.Send("stats\r\n"));

        Assert.Equal("3", stats["cmd_get"]);
        Assert.Equal("2", stats["get_hits"]);
        Assert.Equal("1", stats["get_misses"]);
        Assert.Equal("2", stats["cmd_set"]);
        Assert.Equal("1", stats["incr_hits"]);
        Assert.Equal("1", stats["delete_hits"]);
        Assert.Equal("1", stats["delete_misses"]);
        Assert.Equal("1", stats["cas_misses"]);
        Assert.Equal("1", stats["touch_misses"]);
        Assert.Equal("1", stats["cmd_flush"]);
        Assert.Equal("1", stats["cmd_meta"]);
        Assert.Equal("0", stats["curr_items"]);
        Assert.Equal("RESET\r\n", session.Send("stats reset\r\n"));
        Assert.Equal("0", Read(session.Send("stats\r\n"))["cmd_get"]);
    }

    [Fact]
    public async Task Reset_also_sets_the_counts_of_connections_and_bytes_to_zero()
    {
        var clock = new ManualClock(hasTimers: true);
        using var metrics = new ServerMetrics();
        await using StoreServer server = await StoreServer.StartAsync(
            memcached: new MemcachedOptions { Metrics = metrics },
            configure: options => options with { Metrics = metrics, Clock = clock, Limits = options.Limits with { IdleTimeout = TimeSpan.FromSeconds(10) } });
        using TestClient idle = server.Connect(WireProtocol.Memcached);
        Assert.StartsWith("STAT", Ask(idle, "stats\r\n", "pid"), StringComparison.Ordinal);
        clock.Advance(TimeSpan.FromSeconds(11));
        server.Engine.Wake();
        Assert.Equal("", idle.ReadToEnd());
        idle.Dispose();
        Eventually.Equal(1, () => server.Engine.EndedCount(CloseReason.Idle));
        using TestClient client = server.Connect(WireProtocol.Memcached);

        string[] before = [.. s_traffic.Select(name => Ask(client, "stats\r\n", name))];
        client.Send("stats reset\r\n");
        Assert.Equal("RESET\r", client.ReadLine());
        string[] after = [.. s_traffic.Select(name => Ask(client, "stats\r\n", name))];

        Assert.Equal(["STAT total_connections 2", "STAT idle_kicks 1"], before[..2]);
        Assert.Equal(["STAT total_connections 0", "STAT idle_kicks 0", "STAT rejected_connections 0"], after[..3]);
        Assert.All(after[3..].Zip(before[3..]), pair => Assert.True(NumberOf(pair.First) < NumberOf(pair.Second), $"{pair.First}, before {pair.Second}"));

        static long NumberOf(string line) => long.Parse(line.Split(' ')[2], System.Globalization.CultureInfo.InvariantCulture);

        static string Ask(TestClient client, string request, string name)
        {
            client.Send(request);
            string found = "";
            while (client.ReadLine().TrimEnd() is var line && line != "END")
            {
                found = line.StartsWith($"STAT {name} ", StringComparison.Ordinal) ? line : found;
            }

            return found;
        }
    }

    [Theory]
    [InlineData("stats settings", "item_size_max")]
    [InlineData("stats items", "items:1:number")]
    [InlineData("stats slabs", "active_slabs")]
    [InlineData("stats sizes", "sizes_status")]
    public void Statistics_have_their_parts(string command, string name)
    {
        using var session = new SessionUnderTest();
        session.Send("set a 0 0 1\r\n1\r\n");

        Assert.Contains(name, Read(session.Send(command + "\r\n")).Keys);
    }

    [Theory]
    [InlineData("stats detail", "CLIENT_ERROR usage: stats detail on|off|dump\r\n")]
    [InlineData("stats nothing", "ERROR\r\n")]
    [InlineData("stats conns", "END\r\n")]
    [InlineData("stats extstore", "END\r\n")]
    [InlineData("lru_crawler metadump 64", "BADCLASS invalid class id\r\n")]
    [InlineData("lru_crawler metadump 63", "END\r\n")]
    [InlineData("lru_crawler metadump x", "BADCLASS invalid class id\r\n")]
    [InlineData("lru_crawler crawl all", "OK\r\n")]
    [InlineData("lru_crawler sleep x", "CLIENT_ERROR bad command line format\r\n")]
    [InlineData("lru_crawler", "ERROR\r\n")]
    [InlineData("lru_crawler sleep 1000001", "CLIENT_ERROR sleep must be one second or less\r\n")]
    [InlineData("lru_crawler tocrawl 5", "OK\r\n")]
    [InlineData("lru_crawler crawl 64", "BADCLASS invalid class id\r\n")]
    [InlineData("lru_crawler metadump all more", "ERROR\r\n")]
    [InlineData("lru tune 50 40 0.1 2.0", "ERROR hot and warm pcts must not exceed 80\r\n")]
    [InlineData("lru tune 50 20 0 2.0", "ERROR hot/warm age factors must be greater than 0\r\n")]
    [InlineData("lru mode flat", "OK\r\n")]
    [InlineData("lru mode round", "ERROR\r\n")]
    [InlineData("lru temp_ttl -1", "OK\r\n")]
    [InlineData("slabs automove invalid", "CLIENT_ERROR bad command line format\r\n")]
    [InlineData("slabs automove 3", "ERROR\r\n")]
    [InlineData("slabs automove ratio 0.5", "OK\r\n")]
    [InlineData("slabs automove ratio", "ERROR\r\n")]
    [InlineData("slabs reassign invalid1 invalid2", "CLIENT_ERROR bad command line format\r\n")]
    [InlineData("slabs reassign 1 1", "SAME src and dst class are identical\r\n")]
    [InlineData("slabs reassign 1 100", "BADCLASS invalid src or dst class id\r\n")]
    [InlineData("slabs reassign 1 2", "NOSPARE source class has no spare pages\r\n")]
    [InlineData("slabs reassign 1", "ERROR\r\n")]
    [InlineData("cache_memlimit 7", "MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m\r\n")]
    [InlineData("cache_memlimit 1000000001", "MEMLIMIT_ADJUST_FAILED input value is megabytes not bytes\r\n")]
    [InlineData("watch", "CLIENT_ERROR watch commands not allowed\r\n")]
    [InlineData("shutdown", "ERROR: shutdown not enabled\r\n")]
    [InlineData("lru tune 10 25 0.1 2.0", "OK\r\n")]
    [InlineData("lru bad", "ERROR\r\n")]
    [InlineData("slabs automove 0", "OK\r\n")]
    [InlineData("slabs", "ERROR\r\n")]
    public void Command_is_answered(string command, string reply)
    {
        using var session = new SessionUnderTest();

        Assert.Equal(reply, session.Send(command + "\r\n"));
    }

    [Fact]
    public void Detail_counts_by_the_beginning_of_keys()
    {
        using var session = new SessionUnderTest();

        session.Send("stats detail on\r\nset user:1 0 0 1\r\n1\r\nget user:1\r\nget user:2\r\ndelete user:1\r\nget plain\r\n");

        Assert.Equal("PREFIX user get 2 hit 1 set 1 del 1\r\nEND\r\n", session.Send("stats detail dump\r\n"));
    }

    [Fact]
    public void Detail_counts_from_the_start_with_a_delimiter_of_its_own()
    {
        using var session = new SessionUnderTest(options => options with { PrefixDelimiter = '/' });

        session.Send("get user/1\r\nget user:2\r\n");

        Assert.Equal("PREFIX user get 1 hit 0 set 0 del 0\r\nEND\r\n", session.Send("stats detail dump\r\n"));
        Dictionary<string, string> settings = Read(session.Send("stats settings\r\n"));
        Assert.Equal("/", settings["stat_key_prefix"]);
        Assert.Equal("yes", settings["detail_enabled"]);
    }

    [Fact]
    public void Tuning_is_shown_in_the_settings()
    {
        using var session = new SessionUnderTest();

        session.Send("lru tune 10 25 0.1 3\r\nlru mode flat\r\nlru temp_ttl 30\r\nslabs automove 0\r\nslabs automove ratio 0.5\r\n");
        Assert.Equal(
            "OK\r\nCLIENT_ERROR lru crawler disabled\r\nCLIENT_ERROR lru crawler disabled\r\n",
            session.Send("lru_crawler disable\r\nlru_crawler crawl all\r\nlru_crawler metadump all\r\n"));

        Dictionary<string, string> settings = Read(session.Send("stats settings\r\n"));
        Assert.Equal(
            ["10", "25", "0.10", "3.00", "no", "yes", "30", "0", "0.50", "no"],
            new[] { "hot_lru_pct", "warm_lru_pct", "hot_max_factor", "warm_max_factor", "lru_segmented", "temp_lru", "temporary_ttl", "slab_automove", "slab_automove_ratio", "lru_crawler" }
                .Select(name => settings[name]));
    }

    [Fact]
    public void Requests_beyond_the_budget_of_a_turn_count_as_a_yield()
    {
        using var session = new SessionUnderTest();
        session.Add("get a\r\nget b\r\nget c\r\n"u8);

        session.Execute(budget: 2);
        session.Execute(budget: 2);
        session.Read();

        Assert.Equal("1", Read(session.Send("stats\r\n"))["conn_yields"]);
    }

    [Fact]
    public void Prefixes_beyond_the_limit_are_not_counted_until_the_counts_are_reset()
    {
        using var session = new SessionUnderTest();
        session.Send("stats detail on\r\n");
        session.Send(string.Concat(Enumerable.Range(0, 10_000).Select(i => $"get p{i}:k\r\n")));

        Assert.Equal("END\r\n", session.Send("get further:k\r\n"));
        string dump = session.Send("stats detail dump\r\n");
        Assert.DoesNotContain("further", dump, StringComparison.Ordinal);
        Assert.Equal(10_001, dump.Count(c => c == '\n'));
        session.Send("stats reset\r\nget further:k\r\n");
        Assert.Equal("PREFIX further get 1 hit 0 set 0 del 0\r\nEND\r\n", session.Send("stats detail dump\r\n"));
    }

    [Fact]
    public void Metadump_lists_every_key_while_the_client_reads()
    {
        using var session = new SessionUnderTest();
        var keys = Enumerable.Range(0, 5000).Select(i => $"key/{i}").ToHashSet(StringComparer.Ordinal);
        foreach (string key in keys)
        {
            session.Send($"set {key} 0 100 1\r\n1\r\n");
        }

        session.Add("lru_crawler metadump all\r\nmn\r\n"u8);
        var reply = new StringBuilder();
        for (int turn = 0; turn < 100_000 && !reply.ToString().EndsWith("MN\r\n", StringComparison.Ordinal); turn++)
        {
            session.Execute(budget: 10);
            Assert.InRange(session.Output.UnsentBytes, 0, 80_000);
            reply.Append(session.Read());
        }

        string[] lines = reply.ToString().Split('\n');
        long expiry = session.Clock.Now.ToUnixTimeSeconds() + 100;
        Assert.Equal(["END\r", "MN\r", ""], lines[^3..]);
        Assert.Equal(
            keys.Order(StringComparer.Ordinal),
            lines[..^3].Select(line => Uri.UnescapeDataString(line.Split(' ')[0][4..])).Order(StringComparer.Ordinal));
        Assert.All(lines[..^3], line => Assert.Contains($" exp={expiry} ", line, StringComparison.Ordinal));
    }

    [Fact]
    public void Mgdump_lists_keys_as_requests()
    {
        using var session = new SessionUnderTest();
        session.Send("set a 0 0 1\r\n1\r\nms IGE= 1 b\r\n1\r\n");

        string reply = "";
        session.Add("lru_crawler mgdump all\r\n"u8);
        while (!reply.EndsWith("EN\r\n", StringComparison.Ordinal))
        {
            session.Execute(budget: 1);
            reply += session.Read();
        }

        Assert.Equal(["EN", "mg IGE= b", "mg a"], reply.Split("\r\n", StringSplitOptions.RemoveEmptyEntries).Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Client_must_name_user_and_password_first()
    {
        var credentials = MemcachedCredentials.Parse("alice:secret\nbob:other:word\n", "users");
        using var session = new SessionUnderTest(options => options with { Credentials = credentials });

        Assert.Equal("CLIENT_ERROR unauthenticated\r\n", session.Send("get a\r\n"));
        Assert.Equal("CLIENT_ERROR authentication failure\r\n", session.Send("set a 0 0 11\r\nalice wrong\r\n"));
        Assert.Equal("CLIENT_ERROR authentication failure\r\n", session.Send("set a 0 0 9\r\nbob other\r\n"));
        Assert.Equal("CLIENT_ERROR bad authentication token format\r\n", session.Send("set a 0 0 5\r\nalice\r\n"));
        Assert.Equal("STORED\r\n", session.Send("set a 0 0 14\r\nbob other:word\r\n"));
        Assert.Equal("END\r\n", session.Send("get a\r\n"));
    }

    [Fact]
    public void Client_that_is_not_known_cannot_make_the_server_hold_much()
    {
        var credentials = MemcachedCredentials.Parse("alice:secret", "users");
        using var session = new SessionUnderTest(options => options with { Credentials = credentials });

        session.Send("set a 0 0 1000000\r\n" + new string('x', 500_000));

        Assert.Equal(0, session.RestBytes);
    }

    [Fact]
    public void File_may_have_eight_users_and_no_more()
    {
        string eight = string.Concat(Enumerable.Range(0, 8).Select(i => $"user{i}:secret\n"));

        Assert.True(MemcachedCredentials.Parse(eight, "users").Check("user7"u8, "secret"u8));
        Assert.Equal(
            "'users' must have 1 to 8 users, and has 9.",
            Assert.Throws<ServerException>(() => MemcachedCredentials.Parse(eight + "user8:secret", "users")).Message);
    }

    [Theory]
    [InlineData("")]
    [InlineData("alice")]
    public void File_of_users_without_a_user_is_refused(string text) =>
        Assert.Throws<ServerException>(() => MemcachedCredentials.Parse(text, "users"));

    [Theory]
    [InlineData("shutdown", false)]
    [InlineData("shutdown graceful", true)]
    public void Shutdown_is_passed_on_where_it_is_allowed(string command, bool isGraceful)
    {
        bool? wasGraceful = null;
        using var session = new SessionUnderTest(options => options with { Shutdown = graceful => wasGraceful = graceful });

        session.Send(command + "\r\n");

        Assert.Equal(isGraceful, wasGraceful);
        Assert.True(session.Session.IsEnded);
    }

    private static Dictionary<string, string> Read(string reply)
    {
        string[] lines = reply.Split("\r\n");
        Assert.Equal(["END", ""], lines[^2..]);
        return lines[..^2].Select(line => line.Split(' ', 3)).ToDictionary(words => words[1], words => words[2], StringComparer.Ordinal);
    }
}
