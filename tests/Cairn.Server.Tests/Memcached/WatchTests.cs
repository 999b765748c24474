using System.Text.RegularExpressions;
using Cairn.Server.Memcached;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Memcached;

/// <summary>The log of watch, whose lines are those of memcached 1.6.</summary>
public sealed partial class WatchTests
{
    [Fact]
    public async Task Watcher_reads_the_requests_of_others()
    {
        await using StoreServer server = await StoreServer.StartAsync();
        using TestClient watcher = Watch(server, "watch fetchers mutations deletions");
        using TestClient client = server.Connect(WireProtocol.Memcached);

        client.Send("set a/b 5 100 2\r\nhi\r\nget a/b\r\nms a/b 3 ME\r\nnew\r\ncas a/b 0 0 1 1\r\n1\r\nmg a/b\r\ndelete a/b\r\n");

        foreach (string line in (string[])[
            "type=item_get key=a%2Fb status=not_found clsid=0 cfd=N size=0",
            "type=item_store key=a%2Fb status=stored cmd=set ttl=100 clsid=1 cfd=N size=2",
            "type=item_get key=a%2Fb status=found clsid=1 cfd=N size=2",
            "type=item_get key=a%2Fb status=found clsid=1 cfd=N size=2",
            "type=item_store key=a%2Fb status=not_stored cmd=add ttl=0 clsid=1 cfd=N size=3",
            "type=item_get key=a%2Fb status=found clsid=1 cfd=N size=2",
            "type=item_store key=a%2Fb status=exists cmd=cas ttl=0 clsid=1 cfd=N size=1",
            "type=item_get key=a%2Fb status=found clsid=1 cfd=N size=2",
            "type=deleted key=a%2Fb cmd=delete clsid=1 size=2",
        ])
        {
            string read = Line(watcher);
            Assert.Matches(@"^ts=\d+\.\d+ gid=\d+ type=", read);
            Assert.Equal(line, Descriptor().Replace(read[read.IndexOf("type=", StringComparison.Ordinal)..], "cfd=N"));
        }
    }

    [Fact]
    public async Task Watcher_reads_when_clients_come_and_go()
    {
        await using StoreServer server = await StoreServer.StartAsync();
        using TestClient watcher = Watch(server, "watch connevents");

        using (TestClient client = server.Connect(WireProtocol.Memcached))
        {
            client.Send("version\r\nquit\r\n");
            client.ReadToEnd();
        }

        Assert.Matches(@"type=conn_new rip=127\.0\.0\.1 rport=\d+ transport=tcp cfd=\d+$", Line(watcher));
        Assert.Matches(@"type=conn_close rip=127\.0\.0\.1 rport=\d+ transport=tcp reason=normal cfd=\d+$", Line(watcher));
    }

    [Fact]
    public async Task Watcher_reads_which_keys_are_evicted()
    {
        await using StoreServer server = await StoreServer.StartAsync(capacityBytes: 2 << 20);
        using TestClient watcher = Watch(server, "watch evictions");
        using TestClient client = server.Connect(WireProtocol.Memcached);
        string value = new('v', 10_000);

        for (int i = 0; i < 600; i++)
        {
            client.Send($"set key{i} 0 0 {value.Length} noreply\r\n{value}\r\n");
        }

        client.Send("mn\r\n");
        Assert.Equal("MN", Line(client));
        Assert.Matches(@"type=eviction key=key\d+ fetch=no ttl=-1 la=0 clsid=1 size=0$", Line(watcher));
    }

    [Fact]
    public async Task Lines_that_a_slow_watcher_does_not_read_are_dropped_and_counted()
    {
        await using StoreServer server = await StoreServer.StartAsync(memcached: new MemcachedOptions { WatcherBytes = 4 << 10 });
        using TestClient watcher = Watch(server, "watch", receiveBufferBytes: 4 << 10);
        using TestClient client = server.Connect(WireProtocol.Memcached);
        string gets = string.Concat(Enumerable.Range(0, 100).Select(i => $"mg key{i}{new string('k', 200)} q\r\n"));
        long skipped = 0;
        for (int round = 0; round < 2_000 && skipped == 0; round++)
        {
            client.Send(gets + "mn\r\n");
            Assert.Equal("MN", Line(client));
            skipped = Skipped(client);
        }

        Assert.NotEqual(0, skipped);

        string line;
        do
        {
            line = Line(watcher);
        }
        while (!line.StartsWith("skipped=", StringComparison.Ordinal));

        Assert.Matches("^skipped=[1-9][0-9]*$", line);
        client.Send("get another\r\n");
        Line(client);
        Assert.Matches(@"^ts=\d+\.\d+ gid=\d+ type=item_get ", Line(watcher));
    }

    [Fact]
    public async Task Line_follows_each_count_of_dropped_lines_while_the_watcher_reads_less_than_there_is()
    {
        await using StoreServer server = await StoreServer.StartAsync(memcached: new MemcachedOptions { WatcherBytes = 4 << 10 });
        using TestClient watcher = Watch(server, "watch", receiveBufferBytes: 4 << 10);
        using TestClient client = server.Connect(WireProtocol.Memcached);
        string gets = string.Concat(Enumerable.Range(0, 100).Select(i => $"mg key{i}{new string('k', 200)} q\r\n"));
        var lines = new List<string>();
        int skips = 0;
        for (int round = 0; round < 2_000 && skips < 20; round++)
        {
            client.Send(gets + "mn\r\n");
            Assert.Equal("MN", Line(client));
            for (int i = 0; i < 5; i++)
            {
                lines.Add(Line(watcher));
                skips += lines[^1].StartsWith("skipped=", StringComparison.Ordinal) ? 1 : 0;
            }
        }

        Assert.Equal(20, skips);
        for (int i = 1; i < lines.Count; i++)
        {
            Assert.False(
                lines[i - 1].StartsWith("skipped=", StringComparison.Ordinal) && lines[i].StartsWith("skipped=", StringComparison.Ordinal),
                $"{lines[i - 1]} and {lines[i]} have no line between them.");
        }
    }

    [Fact]
    public async Task Watchers_are_counted_and_limited()
    {
        await using StoreServer server = await StoreServer.StartAsync();
        using TestClient client = server.Connect(WireProtocol.Memcached);
        var watchers = Enumerable.Range(0, 20).Select(_ => Watch(server, "watch")).ToList();

        Assert.Equal("20", Figure(client, "log_watchers"));
        using TestClient another = server.Connect(WireProtocol.Memcached);
        another.Send("watch\r\nversion\r\n");
        Assert.Equal("WATCHER_TOO_MANY log watcher limit reached", Line(another));
        Assert.StartsWith("VERSION", Line(another), StringComparison.Ordinal);

        foreach (TestClient watcher in watchers)
        {
            watcher.Socket.Shutdown(System.Net.Sockets.SocketShutdown.Send);
            watcher.ReadToEnd();
            watcher.Dispose();
        }

        Assert.Equal("0", Figure(client, "log_watchers"));
    }

    [Fact]
    public async Task Watcher_reads_which_keys_the_clients_of_redis_protocol_read()
    {
        await using StoreServer server = await StoreServer.StartAsync();
        using TestClient watcher = Watch(server, "watch fetchers");
        using TestClient client = server.Connect(WireProtocol.Resp);

        client.Send("SET a/b hi\r\nGET a/b\r\nMGET a/b none\r\nSTRLEN a/b\r\nAPPEND a/b !\r\nHSET h f v\r\nHGET h f\r\n");

        foreach (string line in (string[])["a%2Fb status=found", "a%2Fb status=found", "none status=not_found", "a%2Fb status=found", "h status=found"])
        {
            Assert.Contains($"type=item_get key={line} ", Line(watcher), StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("watch nothing", "ERROR")]
    [InlineData("watch fetchers nothing", "ERROR")]
    public async Task Watch_of_unknown_events_is_an_error(string request, string reply)
    {
        await using StoreServer server = await StoreServer.StartAsync();
        using TestClient client = server.Connect(WireProtocol.Memcached);

        client.Send(request + "\r\nmn\r\n");

        Assert.Equal(reply, Line(client));
        Assert.Equal("MN", Line(client));
    }

    [Fact]
    public async Task Connections_are_listed_with_their_listener_and_state()
    {
        await using StoreServer server = await StoreServer.StartAsync();
        using TestClient watcher = Watch(server, "watch");
        using TestClient sending = server.Connect(WireProtocol.Memcached);
        sending.Send("mn\r\nset a 0 0 10\r\n");
        Assert.Equal("MN", Line(sending));
        using TestClient client = server.Connect(WireProtocol.Memcached);

        client.Send("stats conns\r\n");

        var lines = new List<string>();
        for (string line = Line(client); line != "END"; line = Line(client))
        {
            lines.Add(Number().Replace(line, "STAT N:"));
        }

        string address = $"tcp:{server.EndPoint(WireProtocol.Memcached)}";
        Assert.Equal([$"STAT N:addr {address}", "STAT N:state conn_listening"], lines[..2]);
        Assert.Equal(3, lines.Count(line => line == $"STAT N:listen_addr {address}"));
        Assert.Contains("STAT N:state conn_watch", lines);
        Assert.Contains("STAT N:state conn_parse_cmd", lines);
        Assert.Equal(4, lines.Count(line => line.StartsWith("STAT N:secs_since_last_cmd ", StringComparison.Ordinal)));
    }

    private static TestClient Watch(StoreServer server, string request, int? receiveBufferBytes = null)
    {
        TestClient client = server.Connect(WireProtocol.Memcached, receiveBufferBytes);
        client.Send(request + "\r\n");
        Assert.Equal("OK", Line(client));
        return client;
    }

    private static string Line(TestClient client) => client.ReadLine().TrimEnd('\r');

    private static long Skipped(TestClient client) => long.Parse(Figure(client, "log_watcher_skipped"), System.Globalization.CultureInfo.InvariantCulture);

    private static string Figure(TestClient client, string name)
    {
        client.Send("stats\r\n");
        string value = "";
        for (string line = Line(client); line != "END"; line = Line(client))
        {
            value = line.StartsWith($"STAT {name} ", StringComparison.Ordinal) ? line.Split(' ')[2] : value;
        }

        return value;
    }

    [GeneratedRegex(@"cfd=\d+")]
    private static partial Regex Descriptor();

    [GeneratedRegex(@"^STAT \d+:")]
    private static partial Regex Number();
}
