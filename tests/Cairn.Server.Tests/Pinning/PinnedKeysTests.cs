using System.Globalization;
using System.Text;
using Cairn.Server.Hosting;
using Cairn.Server.Pinning;
using Cairn.Server.Tests.Resp;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Pinning;

/// <summary>Entries whose keys begin with a prefix of the operator are kept, over both protocols.</summary>
public class PinnedKeysTests
{
    private const int Pinned = 200;

    [Fact]
    public async Task Pinned_entries_stay_while_others_are_evicted()
    {
        await using StoreServer server = await StartAsync();
        using TestClient memcached = TestClient.Connect(server.EndPoint(WireProtocol.Memcached));
        for (int i = 0; i < Pinned; i++)
        {
            Assert.Equal("STORED", Set(memcached, $"keep:{i}", $"value {i}"));
        }

        string filler = new('x', 8 << 10);
        for (int i = 0; i < 4_000; i++)
        {
            Assert.Equal("STORED", Set(memcached, $"other:{i}", filler));
        }

        Assert.True(server.Store.GetStatistics().Totals.Evictions > 0);
        string resp = Run(server, [.. Enumerable.Range(0, Pinned).Select(i => $"GET keep:{i}")]);
        Assert.Equal(string.Concat(Enumerable.Range(0, Pinned).Select(i => $"${$"value {i}".Length}\r\nvalue {i}\r\n")), resp);
        memcached.Send("get keep:0 other:3999 keep:199\r\n");
        Assert.Equal("VALUE keep:0 0 7", Line(memcached));
    }

    [Fact]
    public async Task Write_beyond_the_limit_is_refused_until_pinned_entries_are_removed()
    {
        await using StoreServer server = await StartAsync();
        using TestClient memcached = TestClient.Connect(server.EndPoint(WireProtocol.Memcached));
        string value = new('x', 100 << 10);
        int stored = 0;
        string reply;
        while ((reply = Set(memcached, $"keep:{stored}", value)) == "STORED")
        {
            stored++;
        }

        Assert.Equal("SERVER_ERROR out of memory storing object", reply);
        Assert.InRange(stored, 30, 41); // A quarter of 16 MiB.
        Assert.Equal("-OOM command not allowed when used memory > 'maxmemory'.\r\n", Run(server, $"SET keep:one {value}"));
        Assert.Equal("STORED", Set(memcached, "other", value));
        Assert.Equal($":{stored + 1}\r\n:2\r\n+OK\r\n", Run(server, "DBSIZE", "DEL keep:0 keep:1", $"SET keep:one {value}"));
        Assert.Equal($"$-1\r\n:{value.Length}\r\n", Run(server, "GET keep:0", "STRLEN keep:2"));
    }

    [Fact]
    public async Task Clients_see_pinned_entries_among_all_others()
    {
        await using StoreServer server = await StartAsync();
        using TestClient memcached = TestClient.Connect(server.EndPoint(WireProtocol.Memcached));
        Run(server, "MSET keep:a 1 b 2", "HSET keep:h f v", "ZADD keep:z 1 m", "EXPIRE keep:a 100");

        Assert.Equal(":4\r\n", Run(server, "DBSIZE"));
        Assert.Equal("*4\r\n$1\r\nb\r\n$6\r\nkeep:a\r\n$6\r\nkeep:h\r\n$6\r\nkeep:z\r\n", Sorted(Run(server, "KEYS *")));
        Assert.Contains("db0:keys=4,", Run(server, "INFO keyspace"), StringComparison.Ordinal);
        Assert.Contains("pinned_keys:3\r\n", Run(server, "INFO memory"), StringComparison.Ordinal);
        memcached.Send("lru_crawler metadump all\r\n");
        Assert.Equal(["key=b", "key=keep%3Aa"], Lines(memcached).Select(line => line.Split(' ')[0]).Order(StringComparer.Ordinal));
        memcached.Send("stats\r\n");
        List<string> stats = Lines(memcached);
        Assert.Contains("STAT pinned_items 3", stats);
        Assert.Contains($"STAT limit_pinned_bytes {server.Store.GetStatistics().FileBytes / 4}", stats);
        Assert.Contains("STAT curr_items 4", stats);
        Assert.Equal("+OK\r\n$1\r\n1\r\n$-1\r\n:1\r\n", Run(server, "RENAME keep:a c", "GET c", "GET keep:a", "COPY c keep:d"));
        memcached.Send("flush_all\r\n");
        Assert.Equal("OK", Line(memcached));
        Assert.Equal(":0\r\n", Run(server, "DBSIZE"));
    }

    [Fact]
    public async Task Tracking_and_watches_cover_pinned_keys()
    {
        await using StoreServer server = await StartAsync();
        using TestClient reader = TestClient.Connect(server.EndPoint(WireProtocol.Resp));
        reader.Send("HELLO 3\r\n");
        while (Line(reader) != "*0")
        {
        }

        reader.Send("CLIENT TRACKING ON\r\nSET keep:a 1\r\nGET keep:a\r\nWATCH keep:none\r\n");
        Assert.Equal(["+OK", "+OK", "$1", "1", "+OK"], Enumerable.Range(0, 5).Select(_ => Line(reader)));

        Run(server, "SET keep:none 1", "SET keep:a 2");

        Assert.Equal([">2", "$10", "invalidate", "*1", "$6", "keep:a"], Enumerable.Range(0, 6).Select(_ => Line(reader)));
        reader.Send("MULTI\r\nGET other\r\nEXEC\r\n");
        Assert.Equal(["+OK", "+QUEUED", "_"], Enumerable.Range(0, 3).Select(_ => Line(reader)));
    }

    [Theory]
    [InlineData("", "There are at most 64 prefixes")]
    [InlineData("a b", "There are at most 64 prefixes")]
    public void Prefix_that_no_key_can_have_is_refused(string prefix, string message)
    {
        ServerException e = Assert.Throws<ServerException>(() => CairnServer.Check(new ServerOptions { IsEphemeral = true, PinnedPrefixes = [prefix] }));

        Assert.StartsWith(message, e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Limit_without_prefixes_is_refused()
    {
        ServerException e = Assert.Throws<ServerException>(() => CairnServer.Check(new ServerOptions { IsEphemeral = true, PinnedBytes = 1 << 20 }));

        Assert.Contains("--pin, or leave out --pin-limit", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Limit_of_more_than_half_of_the_store_is_refused()
    {
        using var host = new RespHost();

        ServerException e = Assert.Throws<ServerException>(() => PinnedKeys.Open(host.Store, ["a"], host.Store.GetStatistics().FileBytes));

        Assert.Contains("--pin-limit", e.Message, StringComparison.Ordinal);
    }

    private static Task<StoreServer> StartAsync() => StoreServer.StartAsync(capacityBytes: 16 << 20, pinned: ["keep:", "kept:"]);

    private static string Set(TestClient client, string key, string value)
    {
        client.Send(string.Create(CultureInfo.InvariantCulture, $"set {key} 0 0 {value.Length}\r\n{value}\r\n"));
        return Line(client);
    }

    // Returns the replies to requests of RESP.
    private static string Run(StoreServer server, params string[] requests)
    {
        const string end = $"$17\r\n{ReplyTexts.End}\r\n";
        string all = string.Concat(requests.Select(request => ReplyTexts.Encode(request.Split(' '))));
        string replies = ReplyTexts.RunAlone(server.EndPoint(WireProtocol.Resp), Encoding.ASCII.GetBytes(all + $"ECHO \"{ReplyTexts.End}\"\r\n"));
        Assert.EndsWith(end, replies, StringComparison.Ordinal);
        return replies[..^end.Length];
    }

    private static string Sorted(string reply)
    {
        string[] parts = reply.Split('$');
        return parts[0] + string.Concat(parts.Skip(1).Order(StringComparer.Ordinal).Select(part => "$" + part));
    }

    private static string Line(TestClient client) => client.ReadLine().TrimEnd();

    private static List<string> Lines(TestClient client)
    {
        var lines = new List<string>();
        while (Line(client) is var line && line != "END")
        {
            lines.Add(line);
        }

        return lines;
    }
}
