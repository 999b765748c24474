using System.Text;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Resp;
using Cairn.Server.Resp.Security;

namespace Cairn.Server.Tests.Resp;

/// <summary>
/// Long replies in pieces have the same bytes as in one piece. A value is that of one moment, and no other bytes come between the pieces.
/// </summary>
public sealed class PiecesTests : IDisposable
{
    private const int Many = 20_000;

    private readonly RespHost _host = new();

    public PiecesTests()
    {
        RespClient client = _host.Connect();
        client.Run("SET k value", "HSET h f value");
    }

    /// <summary>Gets commands whose clients choose the length of the reply, by the arguments before the repeated ones.</summary>
    public static TheoryData<string, string> LongReplies => new()
    {
        { "MGET", "k" },
        { "HMGET h", "f" },
        { "HMGET nothing", "f" },
        { "SUBSCRIBE", "c" },
        { "PSUBSCRIBE", "c" },
        { "UNSUBSCRIBE", "c" },
        { "PUNSUBSCRIBE", "c" },
        { "PUBSUB NUMSUB", "c" },
        { "SCRIPT EXISTS", "3915ee22fda531a1d5661f2523d0443fd35ff0a4" },
        { "COMMAND INFO", "get" },
        { "COMMAND DOCS", "get" },
        { "COMMAND GETKEYS MGET", "k" },
    };

    public void Dispose() => _host.Dispose();

    [Theory]
    [MemberData(nameof(LongReplies))]
    public void Long_reply_stops_at_a_full_output_and_is_the_same_in_pieces(string command, string repeated)
    {
        byte[] request = Request([.. command.Split(' '), .. Enumerable.Repeat(repeated, Many)]);
        RespClient whole = _host.Connect(fullAt: int.MaxValue);
        RespClient inPieces = _host.Connect();

        int turns = 0;
        for (; inPieces.UnsentBytes < OutputBuffer.FullBytes; turns++)
        {
            Assert.Equal(0, inPieces.Execute(request, budget: 1));
            Assert.True(inPieces.Session.HasUnfinishedRequest);
        }

        Assert.InRange(inPieces.UnsentBytes, OutputBuffer.FullBytes, OutputBuffer.FullBytes + (16 << 10));
        Assert.InRange(turns, 1, Many / RespSession.ElementsPerTurn);

        string pieces = inPieces.Take() + inPieces.Send(request, request.Length);
        Assert.False(inPieces.Session.HasUnfinishedRequest);
        Assert.Equal(whole.Send(request, request.Length), pieces);
    }

    /// <summary>Gets commands with short replies whose clients choose the number of elements: their arguments, and the reply.</summary>
    public static TheoryData<string, string, string> LongWork => new()
    {
        { "DEL", "nothing", ":0" },
        { "UNLINK", "nothing", ":0" },
        { "EXISTS", "k", ":20000" },
        { "TOUCH", "nothing", ":0" },
        { "MGET", "nothing", "*20000" },
        { "HMGET nothing", "f", "*20000" },
        { "WATCH", "k", "+OK" },
        { "KEYS", "absent*", "*0" },
        { "SCAN 0 COUNT 100000000 MATCH", "absent*", "*2" },
        { "RANDOMKEY", "", "$-1" },
    };

    [Theory]
    [MemberData(nameof(LongWork))]
    public void Long_work_is_done_in_turns_of_bounded_length(string command, string repeated, string reply)
    {
        int times = repeated switch
        {
            "" => 0,
            "absent*" => 1,
            _ => Many,
        };
        byte[] keys = Request(["MSET", .. Enumerable.Range(0, Many).SelectMany(i => new[] { $"key-{i}", "value" })]);
        _host.Connect().Send(keys, keys.Length);
        _host.Server.Users = RespUsers.Parse($"default nopass read-write {(times == 0 ? "absent:" : "")}", "users");
        byte[] request = Request([.. command.Split(' '), .. Enumerable.Repeat(repeated, times)]);
        RespClient client = _host.Connect(fullAt: int.MaxValue);

        int turns = 1;
        for (; client.Execute(request, budget: 1) == 0; turns++)
        {
            Assert.True(client.Session.HasUnfinishedRequest);
        }

        Assert.InRange(turns, Many / (RespSession.ElementsPerTurn + 10), 3 * Many / RespSession.ElementsPerTurn);
        Assert.StartsWith(reply + "\r\n", client.Take(), StringComparison.Ordinal);
        Assert.Equal(command == "WATCH", client.Held.Bytes > 0);
    }

    [Theory]
    [InlineData("MSET", "", "+OK\r\n")]
    [InlineData("MSETNX", "", ":1\r\n")]
    [InlineData("MSETEX", "PX 100000", ":1\r\n")]
    public void Many_keys_are_prepared_in_turns_of_bounded_length_and_then_set_at_one_moment(string command, string options, string reply)
    {
        string[] count = command == "MSETEX" ? [$"{Many}"] : [];
        byte[] request = Request([command, .. count, .. Pairs(Many), .. options.Split(' ', StringSplitOptions.RemoveEmptyEntries)]);
        RespClient client = _host.Connect(fullAt: int.MaxValue);

        int turns = TurnsUntilSet(client, request);

        Assert.InRange(turns, Many / RespSession.ElementsPerTurn, (Many / RespSession.ElementsPerTurn) + 2);
        Assert.Equal(reply, client.Take());
        Assert.Equal($":{Many}\r\n", CountKeys());
    }

    [Theory]
    [InlineData(1)]
    [InlineData(5_000)]
    public void Keys_of_a_long_transaction_are_prepared_in_turns_of_bounded_length_and_then_set_at_one_moment(int keysOfRequest)
    {
        RespClient client = _host.Connect(fullAt: int.MaxValue);
        client.Run("WATCH watched", "MULTI");
        for (int first = 0; first < Many; first += keysOfRequest)
        {
            byte[] request = Request(["MSET", .. Pairs(keysOfRequest, first)]);
            client.Send(request, request.Length);
        }

        int turns = TurnsUntilSet(client, Request(["EXEC"]));

        Assert.InRange(turns, Many / RespSession.ElementsPerTurn, (Many / RespSession.ElementsPerTurn) + 2);
        Assert.StartsWith($"*{Many / keysOfRequest}\r\n+OK\r\n", client.Take(), StringComparison.Ordinal);
        Assert.Equal($":{Many}\r\n", CountKeys());
    }

    [Fact]
    public void Addresses_of_many_clients_are_read_in_turns_of_bounded_length_before_they_are_listed()
    {
        const int Clients = 3 * RespSession.ElementsPerTurn;
        RespClient client = _host.Connect(fullAt: int.MaxValue);
        for (int i = 0; i < Clients; i++)
        {
            _host.Connect();
        }

        byte[] request = Request(["CLIENT", "LIST"]);
        int turns = 1;
        for (; client.Execute(request, budget: 1) == 0; turns++)
        {
            Assert.True(client.Session.HasUnfinishedRequest);
        }

        Assert.InRange(turns, 3, 5);
        Assert.InRange(client.Take().Split('\n').Count(line => line.StartsWith("id=", StringComparison.Ordinal)), Clients, Clients + 2);
    }

    [Fact]
    public void Change_of_a_watched_key_while_the_keys_of_a_long_transaction_are_prepared_refuses_it()
    {
        RespClient client = _host.Connect(fullAt: int.MaxValue);
        RespClient other = _host.Connect();
        client.Run("WATCH k", "MULTI");
        byte[] sets = Request(["MSET", .. Pairs(Many)]);
        client.Send(sets, sets.Length);
        byte[] exec = Request(["EXEC"]);
        Assert.Equal(0, client.Execute(exec, budget: 1));

        other.Run("SET k other");

        Assert.EndsWith("*-1\r\n", client.Send(exec, exec.Length), StringComparison.Ordinal);
        Assert.Equal(":0\r\n", CountKeys());
    }

    /// <summary>Gets commands on a hash of many fields, or on many channels.</summary>
    public static TheoryData<string> LongReads => ["HGETALL big", "HKEYS big", "HVALS big", "HSCAN big 0", "HSCAN big 0 MATCH absent*", "HSCAN big 0 MATCH 1*", "PUBSUB CHANNELS", "PUBSUB CHANNELS absent*"];

    [Theory]
    [MemberData(nameof(LongReads))]
    public void Many_fields_and_channels_are_read_in_turns_of_bounded_length(string command)
    {
        RespClient other = _host.Connect(fullAt: int.MaxValue);
        Fill(other);
        RespClient client = _host.Connect(fullAt: int.MaxValue);
        other.Run("MULTI", command);
        string whole = other.Run("EXEC").Replace("*1\r\n", "", StringComparison.Ordinal);
        byte[] request = Request(command.Split(' '));

        int turns = 1;
        for (; client.Execute(request, budget: 1) == 0; turns++)
        {
            Assert.True(client.Session.HasUnfinishedRequest);
            other.Run($"HSET big {turns} changed", $"SUBSCRIBE new-{turns}", "HSET big new changed", "HDEL big new");
        }

        Assert.InRange(turns, Many / (RespSession.ElementsPerTurn + 10), 3 * Many / RespSession.ElementsPerTurn);
        Assert.Equal(whole, client.Take());
        Assert.Equal((0, 0), (client.Held.Bytes, client.Held.Account.ReplyBytes));
    }

    /// <summary>Gets commands that read and write a whole value to change a part of it, or that copy it for nothing.</summary>
    public static TheoryData<string> Rewrites =>
        [
            "HINCRBY big n 1", "HSET big 1 x", "HSETNX big other x", "APPEND long x", "SETRANGE long 5 x", "COPY long other REPLACE", "CLIENT REPLY SKIP\r\nGET long",
            "INFO", "INFO everything", "COMMAND", "COMMAND INFO", "COMMAND DOCS", "INCRBYFLOAT huge 1e4900", "HINCRBYFLOAT h huge 1e4900", "INCRBYFLOAT tiny 1e-4900\r\nDEL tiny",
            "PUBLISH crowd message", "EXPIRE long 100", "GETEX long EX 100", "CONFIG RESETSTAT", "CONFIG GET *", "INFO latencystats\r\nINFO stats", "COMMAND LIST FILTERBY PATTERN nosuch*", "CLIENT KILL ID 123456",
        ];

    [Theory]
    [MemberData(nameof(Rewrites))]
    public void Commands_that_each_take_long_are_few_in_a_turn(string command)
    {
        RespClient client = _host.Connect();
        Fill(client);
        for (int i = 0; i < RespSession.ElementsPerTurn; i++)
        {
            _host.Connect().Run("SUBSCRIBE crowd");
        }

        byte[] request = Encoding.ASCII.GetBytes(command + "\r\n");
        byte[] many = [.. Enumerable.Repeat(request, 100).SelectMany(bytes => bytes)];

        int consumed = client.Execute(many, budget: 200);

        Assert.InRange(consumed / request.Length, 1, 3);
        Assert.False(client.Session.HasUnfinishedRequest);
    }

    [Theory]
    [InlineData("HINCRBY big n 1", 1000)]
    [InlineData("APPEND long x", 1000)]
    [InlineData("KEYS *", 30)]
    [InlineData("HLEN huge", 2500)]
    [InlineData("HGET huge f", 2500)]
    [InlineData("PUBLISH c m", 30_000)]
    [InlineData("PUBLISH crowd m", 10_000)]
    public void Transaction_of_too_much_work_is_refused_and_changes_nothing(string command, int times)
    {
        RespClient client = _host.Connect(fullAt: int.MaxValue);
        Fill(client);
        byte[] keys = Request(["MSET", .. Enumerable.Range(0, Many).SelectMany(i => new[] { $"key-{i}", "value" })]);
        client.Send(keys, keys.Length);
        byte[] huge = Request("HSET", "huge", "f", new string('v', 1_000_000));
        client.Send(huge, huge.Length);
        client.Send($"HELLO 3\r\nPSUBSCRIBE{string.Concat(Enumerable.Range(0, 1000).Select(i => $" {i}*"))}\r\n");
        for (int i = 0; i < 100; i++)
        {
            _host.Connect().Run("SUBSCRIBE crowd");
        }

        string replies = client.Send($"MULTI\r\nSET k new\r\n{string.Concat(Enumerable.Repeat(command + "\r\n", times))}EXEC\r\nGET k\r\n");

        Assert.EndsWith("EXECABORT Transaction discarded because other clients would have to wait too long for its commands. Use fewer in a transaction, or shorter values.\r\n$5\r\nvalue\r\n", replies, StringComparison.Ordinal);
        Assert.EndsWith("*1\r\n:1\r\n", client.Send($"MULTI\r\nEXISTS k\r\nEXEC\r\n"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("HSCAN big 0 MATCH absent*", 100)]
    [InlineData("INFO", 2000)]
    [InlineData("INFO latencystats", 20_000)]
    [InlineData("CONFIG RESETSTAT", 2000)]
    [InlineData("EXPIRE long 100", 2000)]
    [InlineData("PERSIST long\r\nEXPIRE long 100", 2000)]
    [InlineData("DBSIZE", 100_000)]
    [InlineData("FLUSHALL", 100_000)]
    [InlineData("COMMAND LIST FILTERBY PATTERN nosuch*", 20_000)]
    [InlineData("COMMAND", 2000)]
    [InlineData("INCRBYFLOAT huge 1e4900", 2000)]
    [InlineData("SET own value", 2000)]
    public void Transaction_that_takes_too_long_without_being_known_before_ends_its_connection(string command, int times)
    {
        RespClient client = _host.Connect(fullAt: int.MaxValue);
        Fill(client);
        for (int i = 0; i < 1000; i++)
        {
            _host.Connect().Send("HELLO 3\r\nCLIENT TRACKING ON BCAST\r\n");
        }

        client.Send("HELLO 3\r\nCLIENT TRACKING ON NOLOOP\r\nCLIENT REPLY OFF\r\n");

        client.Send($"MULTI\r\n{string.Concat(Enumerable.Repeat(command + "\r\n", times))}EXEC\r\n");

        Assert.Equal(CloseReason.TransactionTooLong, client.ClosedFor);
    }

    [Fact]
    public void Message_is_compared_with_patterns_in_turns_of_bounded_length_and_sent_once_to_each()
    {
        var subscribers = new List<RespClient>();
        for (int i = 0; i < 20; i++)
        {
            subscribers.Add(_host.Connect());
            subscribers[i].Run($"PSUBSCRIBE{string.Concat(Enumerable.Range(0, 1000).Select(p => $" {i}-{p}*"))} ne*", "SUBSCRIBE news");
        }

        RespClient publisher = _host.Connect();
        byte[] request = Request("PUBLISH", "news", "today");
        int turns = 1;
        for (; publisher.Execute(request, budget: 1) == 0; turns++)
        {
            Assert.True(publisher.Session.HasUnfinishedRequest);
        }

        Assert.InRange(turns, 2, 5);
        Assert.Equal(":40\r\n", publisher.Take());
        Assert.Equal(0, publisher.Held.Bytes);
        Assert.All(subscribers, subscriber => Assert.Equal(
            "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\ntoday\r\n*4\r\n$8\r\npmessage\r\n$3\r\nne*\r\n$4\r\nnews\r\n$5\r\ntoday\r\n", subscriber.Take()));
    }

    [Fact]
    public void Many_short_commands_with_many_keys_share_a_turn()
    {
        byte[] request = Request(["EXISTS", .. Enumerable.Repeat("k", RespSession.ElementsPerTurn / 2)]);
        RespClient client = _host.Connect();

        int consumed = client.Execute([.. request, .. request, .. request, .. request], budget: 4);

        Assert.Equal(2 * request.Length, consumed);
        Assert.True(client.Session.HasUnfinishedRequest);
    }

    [Fact]
    public void Keys_that_a_paused_command_removes_are_each_removed_and_counted_once_and_others_see_it_between()
    {
        RespClient client = _host.Connect();
        string[] keys = [.. Enumerable.Range(0, 5000).Select(i => $"many-{i}")];
        client.Run($"MSET {string.Join(' ', keys.Select(key => key + " v"))}");
        byte[] request = Request(["DEL", .. keys, "k"]);

        Assert.Equal(0, client.Execute(request, budget: 1));
        Assert.Equal(":0\r\n:1\r\n", _host.Connect().Run("EXISTS many-0", "EXISTS many-4999"));
        Assert.Equal(":5001\r\n", client.Send(request, request.Length));
        Assert.Equal(":1\r\n", client.Run("DBSIZE")); // Only the hash is left.
    }

    [Fact]
    public void Commands_in_a_transaction_do_not_pause()
    {
        RespClient client = _host.Connect(fullAt: int.MaxValue);
        byte[] request = [.. Request("MULTI"), .. Request(["EXISTS", .. Enumerable.Repeat("k", Many)]), .. Request("KEYS", "absent*"), .. Request("EXEC")];

        Assert.Equal(request.Length, client.Execute(request, budget: 4));
        Assert.Equal("+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:20000\r\n*0\r\n", client.Take());
    }

    [Theory]
    [InlineData("MSET", 2 * 65_537, "-ERR MSET sets at most 65536 keys at one moment. Send several commands.")]
    [InlineData("MSET", 2 * 65_536, "+OK")]
    [InlineData("MSETNX", 2 * 65_537, "-ERR MSETNX sets at most 65536 keys at one moment. Send several commands.")]
    [InlineData("HSET h", 2 * 87_381, "-ERR an entry is changed by at most 87380 fields at one moment. Send several commands.")]
    [InlineData("HMSET h", 2 * 87_380, "+OK")]
    [InlineData("HDEL h", 87_381, "-ERR an entry is changed by at most 87380 fields at one moment. Send several commands.")]
    [InlineData("HDEL h", 87_380, ":1")]
    [InlineData("MSETEX 65537", 2 * 65_537, "-ERR MSETEX sets at most 65536 keys at one moment. Send several commands.")]
    [InlineData("EVAL ifredis.call('get',KEYS[1])==ARGV[1]thenreturnredis.call('del',KEYS[1])elsereturn0end 65537", 65_538, "-ERR a script has at most 65536 keys")]
    public void Command_that_happens_at_one_moment_has_a_limit(string command, int arguments, string reply)
    {
        RespClient client = _host.Connect();
        byte[] request = Request([.. command.Split(' '), .. Enumerable.Repeat("f", arguments)]);

        Assert.Equal(reply + "\r\n", client.Send(request, request.Length));
    }

    [Fact]
    public void Requests_after_a_paused_one_are_executed_after_it()
    {
        RespClient client = _host.Connect();

        string replies = client.Send([.. Request(["MGET", .. Enumerable.Repeat("k", Many)]), .. Request("SET", "k", "new"), .. Request("GET", "k")], 1000);

        Assert.Equal($"*{Many}\r\n{string.Concat(Enumerable.Repeat("$5\r\nvalue\r\n", Many))}+OK\r\n$3\r\nnew\r\n", replies);
    }

    [Fact]
    public void Fields_of_a_hash_are_of_one_moment_though_the_hash_changes_between_pieces()
    {
        byte[] request = Request(["HMGET", "h", .. Enumerable.Repeat("f", Many)]);
        RespClient reader = _host.Connect();
        reader.Execute(request, budget: 1);
        string begin = reader.Take();

        _host.Connect().Run("SET h string");

        Assert.Equal($"*{Many}\r\n{string.Concat(Enumerable.Repeat("$5\r\nvalue\r\n", Many))}", begin + reader.Send(request, request.Length));
        Assert.Equal(0, reader.Held.Bytes);
    }

    [Fact]
    public void Message_waits_until_a_reply_in_pieces_is_complete()
    {
        byte[] request = Request(["MGET", .. Enumerable.Repeat("k", Many)]);
        RespClient reader = _host.Connect();
        reader.Run("HELLO 3", "SUBSCRIBE news");
        reader.Execute(request, budget: 1);
        string begin = reader.Take();

        _host.Connect().Run("PUBLISH news today");
        string rest = reader.Take() + reader.Send(request, request.Length);

        Assert.Equal(
            $"*{Many}\r\n{string.Concat(Enumerable.Repeat("$5\r\nvalue\r\n", Many))}>3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\ntoday\r\n", begin + rest);
    }

    [Fact]
    public void Reply_that_its_client_has_turned_off_lets_others_be_served_in_between()
    {
        RespClient client = _host.Connect();
        client.Run($"SET long {new string('v', 10_000)}", "CLIENT REPLY OFF");

        Assert.Equal(0, client.Execute(Request(["MGET", .. Enumerable.Repeat("long", 100)]), budget: 1));

        Assert.True(client.Session.HasUnfinishedRequest);
        Assert.Equal(0, client.UnsentBytes);
    }

    [Theory]
    [InlineData("KEYS *", "-ERR the reply would take more than 65536 bytes (--max-waiting). SCAN has no such limit.\r\n")]
    [InlineData("CLIENT LIST", "-ERR the reply would take more than 65536 bytes (--max-waiting). Name the clients: CLIENT LIST ID.\r\n")]
    public void Reply_that_must_be_made_at_once_is_refused_beyond_the_limit(string command, string error)
    {
        RespClient others = _host.Connect();
        for (int i = 0; i < 3000; i++)
        {
            others.Run($"SET key-{i:D20} value", $"SUBSCRIBE channel-{i:D20}", "RESET");
        }

        for (int i = 0; i < 400; i++)
        {
            _host.Connect().Run($"SUBSCRIBE channel-{i:D200}");
        }

        RespClient client = _host.Connect(limits: new ConnectionLimits { MaxOutputBytesPerConnection = 64 << 10 });

        Assert.Equal(error, client.Run(command));
        Assert.Equal("+PONG\r\n", client.Run("PING"));
    }

    [Fact]
    public void Everything_that_a_session_keeps_is_counted_and_no_more_when_it_is_gone()
    {
        string word = new('w', 250);
        RespClient client = _host.Connect();
        (string Request, string Undo)[] kept =
        [
            ($"CLIENT SETNAME {word}", "CLIENT SETNAME ''"),
            ($"CLIENT SETINFO LIB-NAME {word}", "CLIENT SETINFO LIB-NAME ''"),
            ($"WATCH {word}", "UNWATCH"),
            ($"CLIENT TRACKING ON BCAST PREFIX {word}", "CLIENT TRACKING OFF"),
            ($"SUBSCRIBE {word}", "UNSUBSCRIBE"),
            ($"PSUBSCRIBE {word}", "PUNSUBSCRIBE"),
            ($"MULTI\r\nSET k {word}", "DISCARD"),
        ];

        foreach ((string request, string undo) in kept)
        {
            client.Run(request);
            Assert.True(client.Held.Bytes >= word.Length, $"{request[..12]}: {client.Held.Bytes}");

            client.Run(undo);
            Assert.True(client.Held.Bytes == 0, $"{undo}: {client.Held.Bytes}");
        }

        Array.ForEach(kept, pair => client.Run(pair.Request));
        client.End();
        client.Held.Release();
        Assert.Equal(0, client.Held.Bytes);
    }

    [Fact]
    public void Arguments_of_a_request_that_is_not_complete_are_counted()
    {
        RespClient client = _host.Connect();
        var request = new StringBuilder("*100001\r\n$4\r\nMGET\r\n");
        request.Insert(request.Length, "$1\r\nk\r\n", 99_999);

        client.Execute(Encoding.ASCII.GetBytes(request.ToString()), budget: 1);
        Assert.InRange(client.Held.Bytes, 800_000, 2_000_000);

        client.Send(request.Append("$1\r\nk\r\n").ToString());
        Assert.Equal(0, client.Held.Bytes);
    }

    // A hash of many fields, a long value, and many channels.
    private void Fill(RespClient client)
    {
        byte[] fields = Request(["HSET", "big", .. Enumerable.Range(0, Many).SelectMany(i => new[] { $"{i}", "v" })]);
        client.Send(fields, fields.Length);
        byte[] value = Request("SET", "long", new string('v', 1 << 20));
        client.Send(value, value.Length);
        byte[] channels = Request(["SUBSCRIBE", .. Enumerable.Range(0, Many).Select(i => $"channel-{i}")]);
        _host.Connect().Send(channels, channels.Length);
    }

    private static IEnumerable<string> Pairs(int count, int first = 0) => Enumerable.Range(first, count).SelectMany(i => new[] { $"key-{i}", "value" });

    // No key is set before the last turn.
    private int TurnsUntilSet(RespClient client, byte[] request)
    {
        int turns = 1;
        for (; client.Execute(request, budget: 1) == 0; turns++)
        {
            Assert.True(client.Session.HasUnfinishedRequest);
            Assert.Equal(":0\r\n", CountKeys());
        }

        return turns;
    }

    private string CountKeys()
    {
        byte[] request = Request(["EXISTS", .. Pairs(Many).Where((_, index) => index % 2 == 0)]);
        return _host.Connect(fullAt: int.MaxValue).Send(request, request.Length);
    }

    private static byte[] Request(params string[] words)
    {
        var text = new StringBuilder();
        text.Append('*').Append(words.Length).Append("\r\n");
        foreach (string word in words)
        {
            text.Append('$').Append(word.Length).Append("\r\n").Append(word).Append("\r\n");
        }

        return Encoding.ASCII.GetBytes(text.ToString());
    }
}
