using System.Globalization;
using System.Text;
using Cairn.Server.Resp;
using Cairn.Server.Resp.Commands;

namespace Cairn.Server.Tests.Resp;

/// <summary>Commands that report on the server and configure it.</summary>
public class ServerCommandTests
{
    [Fact]
    public void Every_command_has_docs()
    {
        IEnumerable<CommandInfo> all = RespCommands.Table.All.SelectMany(command => command.Subcommands.Prepend(command));

        Assert.Empty(all.Where(command => !CommandDocs.Has(command)).Select(command => command.Name));
    }

    [Fact]
    public void Docs_of_a_command_have_its_arguments()
    {
        CommandDocs docs = CommandDocs.Of(RespCommands.Table.Find("getex"u8)!);

        Assert.Equal(["key", "option"], docs.Arguments.Select(argument => argument.Name));
        Assert.Equal(["EX", "PX", "EXAT", "PXAT", "PERSIST"], docs.Arguments[1].Parts.Select(part => part.Token));
        Assert.Equal(["seconds", "milliseconds", "unix-time-seconds", "unix-time-milliseconds", "persist"], docs.Arguments[1].Parts.Select(part => part.Name));
        Assert.True(docs.Arguments[1].IsOptional);
    }

    [Theory]
    [InlineData("hset", 1, "field")]
    [InlineData("mset", 0, "key")]
    public void Docs_repeat_names_and_values_in_pairs(string command, int index, string name)
    {
        CommandDocs.Argument pairs = CommandDocs.Of(RespCommands.Table.Find(Encoding.ASCII.GetBytes(command))!).Arguments[index];

        Assert.True(pairs.IsMultiple);
        Assert.Equal([name, "value"], pairs.Parts.Select(part => part.Name));
    }

    [Fact]
    public void Docs_of_all_commands_can_be_read()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();

        Assert.StartsWith($"*{2 * RespCommands.Table.All.Length}\r\n", client.Run("COMMAND DOCS"), StringComparison.Ordinal);
        Assert.StartsWith("*2\r\n$3\r\nget\r\n*8\r\n$7\r\nsummary\r\n", client.Run("COMMAND DOCS get"), StringComparison.Ordinal);
    }

    [Fact]
    public void Info_counts_what_was_done()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        client.Run("SET a 1", "GET a", "GET b", "INCR a", "GET", "FOO", "HGET a f");

        Dictionary<string, string> info = Info(client, "everything");

        Assert.Equal("7", info["total_commands_processed"]);
        Assert.Equal("1", info["total_connections_received"]);
        Assert.Equal("1", info["connected_clients"]);
        Assert.Equal("3", info["total_error_replies"]);
        Assert.Equal("2", info["keyspace_hits"]); // GET a, and HGET a, which finds a value.
        Assert.Equal("1", info["keyspace_misses"]);
        Assert.Equal("keys=1,expires=0,avg_ttl=0", info["db0"]);
        Assert.StartsWith("calls=2,", info["cmdstat_get"], StringComparison.Ordinal);
        Assert.EndsWith(",rejected_calls=1,failed_calls=0", info["cmdstat_get"], StringComparison.Ordinal);
        Assert.EndsWith(",rejected_calls=0,failed_calls=1", info["cmdstat_hget"], StringComparison.Ordinal);
        Assert.True(long.Parse(info["used_memory"], CultureInfo.InvariantCulture) > 0);

        client.Run("CONFIG RESETSTAT");
        info = Info(client, "everything");

        Assert.Equal("0", info["keyspace_hits"]);
        Assert.DoesNotContain("cmdstat_get", info.Keys);
    }

    // Monitoring programs warn about a high ratio.
    [Fact]
    public void Empty_store_has_no_fragmentation()
    {
        using var host = new RespHost();

        Dictionary<string, string> info = Info(host.Connect(), "memory");

        Assert.Equal("0", info["used_memory"]);
        Assert.Equal("1.00", info["mem_fragmentation_ratio"]);
    }

    [Fact]
    public void Info_returns_the_requested_sections()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();

        Assert.DoesNotContain("cmdstat_info", Info(client, "").Keys);
        client.Run("INFO");
        Assert.Contains("cmdstat_info", Info(client, "commandstats").Keys);
        Assert.Equal(["redis_version"], Info(client, "server").Keys.Take(1));
        Assert.Contains("role", Info(client, "replication memory").Keys);
    }

    [Fact]
    public void Slow_request_is_in_the_slow_log()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        client.Run("CLIENT SETNAME me", "CONFIG SET slowlog-log-slower-than 0", "CONFIG SET slowlog-max-len 2");

        // After each batch the engine decides whether all requests are timed; here the harness does that.
        string reply = client.Run("KEYS *", "SLOWLOG LEN", "SLOWLOG GET 1");

        Assert.Contains(":2\r\n*1\r\n*6\r\n", reply, StringComparison.Ordinal);
        Assert.EndsWith($"*2\r\n$7\r\nSLOWLOG\r\n$3\r\nLEN\r\n${client.Remote.Length}\r\n{client.Remote}\r\n$2\r\nme\r\n", reply, StringComparison.Ordinal);
        Assert.Equal("+OK\r\n", client.Run("CONFIG SET slowlog-log-slower-than -1"));
        Assert.Equal("+OK\r\n:0\r\n", client.Run("SLOWLOG RESET", "SLOWLOG LEN"));
    }

    [Theory]
    [InlineData("SET a 12345", 40)] // 20 bytes of header, key, value; padded to 8; and the slot.
    [InlineData("SET a 12345 EX 100", 48)]
    public void Memory_of_a_key_is_what_its_entry_takes(string request, int bytes)
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        client.Run(request);

        Assert.Equal($":{bytes}\r\n", client.Run("MEMORY USAGE a"));
    }

    [Fact]
    public void Script_of_redis_cache_is_executed_by_its_digest()
    {
        var clock = new ManualClock();
        using var host = new RespHost(clock);
        RespClient client = host.Connect();
        string digest = client.Send(ReplyTexts.Encode(
            ["SCRIPT", "LOAD", "redis.call('HSET', KEYS[1], 'absexp', ARGV[1], 'sldexp', ARGV[2], 'data', ARGV[4]) if ARGV[3] ~= '-1' then redis.call('EXPIRE', KEYS[1], ARGV[3]) end return 1"]))[5..^2];

        Assert.Equal("*2\r\n:1\r\n:0\r\n", client.Run($"SCRIPT EXISTS {digest} other"));
        Assert.Equal(":1\r\n:100\r\n", client.Run($"EVALSHA {digest} 1 k 1 2 100 data", "TTL k"));
        Assert.Equal("*3\r\n$1\r\n1\r\n$1\r\n2\r\n$4\r\ndata\r\n", client.Run("HMGET k absexp sldexp data"));

        clock.Advance(TimeSpan.FromSeconds(40));
        Assert.Equal(":1\r\n:60\r\n", client.Run($"EVALSHA {digest.ToUpperInvariant()} 1 k -1 -1 -1 more", "TTL k"));
        Assert.Equal("$4\r\nmore\r\n", client.Run("HGET k data"));

        Assert.Equal(":1\r\n:0\r\n", client.Run($"EVALSHA {digest} 1 k 1 2 0 data", "EXISTS k"));
        Assert.Equal("+OK\r\n-WRONGTYPE Operation against a key holding the wrong kind of value\r\n", client.Run("SET k v", $"EVALSHA {digest} 1 k 1 2 0 data"));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Commands_wait_while_the_server_is_paused(bool looksAhead)
    {
        using var host = new RespHost();
        RespClient client = host.Connect(looksAhead);
        RespClient other = host.Connect();
        other.Run("CLIENT PAUSE 1000000 WRITE");

        Assert.Equal("$-1\r\n", client.Run("GET a", "SET a 1", "GET a"));
        Assert.False(client.IsResumed);
        Assert.Contains("\r\nblocked_clients:1\r\n", other.Run("INFO clients"), StringComparison.Ordinal);

        other.Run("CLIENT UNPAUSE");

        Assert.True(client.IsResumed);
        Assert.Equal("+OK\r\n$1\r\n1\r\n", client.Send(""));
        Assert.Contains("\r\nblocked_clients:0\r\n", other.Run("INFO clients"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("GET a", false)]
    [InlineData("SET a 1", true)]
    [InlineData("PUBLISH a 1", true)]
    public void Pause_of_writes_lets_a_transaction_wait_that_has_one(string command, bool waits)
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        client.Run("MULTI", command);
        host.Connect().Run("CLIENT PAUSE 1000000 WRITE");

        Assert.Equal(waits ? "" : "*1\r\n$-1\r\n", client.Run("EXEC"));
    }

    [Fact]
    public void Client_that_leaves_during_a_pause_is_not_counted()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        RespClient other = host.Connect();
        other.Run("CLIENT PAUSE 1000000 WRITE");
        client.Run("SET a 1");

        client.End();

        Assert.Contains("\r\nblocked_clients:0\r\n", other.Run("INFO clients"), StringComparison.Ordinal);
    }

    [Fact]
    public void Pause_lets_everything_wait_but_its_end()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();

        Assert.Equal("+OK\r\n", client.Run("CLIENT PAUSE 1000000", "GET a"));
        Assert.Equal("+OK\r\n", host.Connect().Run("CLIENT UNPAUSE"));
        Assert.Equal("$-1\r\n", client.Send(""));
    }

    [Fact]
    public void Pause_ends_by_itself()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();

        client.Run("CLIENT PAUSE 500", "GET a");

        Assert.True(SpinWait.SpinUntil(() => client.IsResumed, TimeSpan.FromSeconds(30)));
        Assert.Equal("$-1\r\n", client.Send(""));
    }

    [Fact]
    public void Names_of_info_and_client_list_are_bounded()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();

        Assert.Contains("redis_version", client.Send(Request(["INFO", "server", .. Enumerable.Repeat("x", 1_023)])), StringComparison.Ordinal);
        Assert.StartsWith("-ERR INFO takes at most 1024 sections", client.Send(Request(["INFO", "server", .. Enumerable.Repeat("x", 1_024)])), StringComparison.Ordinal);
        Assert.Contains("id=1", client.Send(Request(["CLIENT", "LIST", "ID", .. Enumerable.Repeat("1", 65_536)])), StringComparison.Ordinal);
        Assert.StartsWith(
            "-ERR CLIENT LIST ID takes at most 65536 IDs", client.Send(Request(["CLIENT", "LIST", "ID", .. Enumerable.Repeat("1", 65_537)])), StringComparison.Ordinal);

        static string Request(string[] arguments) =>
            string.Concat([$"*{arguments.Length}\r\n", .. arguments.Select(argument => $"${argument.Length}\r\n{argument}\r\n")]);
    }

    [Fact]
    public void Clients_are_listed_and_killed_by_what_they_are()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        RespClient subscriber = host.Connect();
        RespClient third = host.Connect();
        subscriber.Run("SUBSCRIBE c");

        Assert.Contains($"id={subscriber.Id} addr={subscriber.Remote}", client.Run("CLIENT LIST TYPE pubsub"), StringComparison.Ordinal);
        Assert.Equal(":1\r\n", client.Run("CLIENT KILL TYPE pubsub"));
        Assert.Equal(Cairn.Server.Connections.CloseReason.KilledAtOnce, subscriber.ClosedFor);
        Assert.Equal(":1\r\n", client.Run($"CLIENT KILL ADDR {third.Remote} USER default"));
        Assert.Equal(Cairn.Server.Connections.CloseReason.KilledAtOnce, third.ClosedFor);
        Assert.Equal(":0\r\n", client.Run($"CLIENT KILL ID {client.Id}"));
        Assert.Equal(":1\r\n", client.Run($"CLIENT KILL ID {client.Id} SKIPME no"));
        Assert.Equal(Cairn.Server.Connections.CloseReason.ClosedBySession, client.ClosedFor);
    }

    private static Dictionary<string, string> Info(RespClient client, string sections)
    {
        string reply = client.Run($"INFO {sections}");
        return reply.Split("\r\n").Where(line => line.Contains(':', StringComparison.Ordinal)).ToDictionary(
            line => line[..line.IndexOf(':', StringComparison.Ordinal)], line => line[(line.IndexOf(':', StringComparison.Ordinal) + 1)..]);
    }
}
