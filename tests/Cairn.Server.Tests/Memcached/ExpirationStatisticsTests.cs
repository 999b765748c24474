using System.Globalization;
using System.Net.Sockets;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Memcached;

/// <summary>The stats of expired, flushed and evicted entries equal those of memcached after the same requests.</summary>
public sealed class ExpirationStatisticsTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    [RequiresToolFact("memcached")]
    public async Task Expired_items_are_removed_without_a_read_and_counted_as_by_memcached()
    {
        using var memcached = StockMemcached.Start();
        await using StoreServer cairn = await StoreServer.StartAsync();
        using var expecting = new Client(new MemcachedPeer(memcached.EndPoint));
        using var asked = new Client(new MemcachedPeer(cairn.EndPoint(WireProtocol.Memcached)));

        string[] names = ["curr_items", "reclaimed", "expired_unfetched", "get_expired", "get_flushed", "get_hits", "get_misses", "evictions", "evicted_unfetched"];
        var results = new List<string>();
        foreach (Client client in new[] { expecting, asked })
        {
            string shorts = string.Concat(Enumerable.Range(0, 200).Select(i => $"set short{i} 0 4 1\r\n1\r\n"));
            client.Ask(shorts + "set stays 0 0 1\r\n1\r\nset later 0 1000 1\r\n1\r\nget short0 short1\r\ntouch short2 4\r\nincr short3 1\r\nmg short4 v\r\n");
        }

        foreach (Client client in new[] { expecting, asked })
        {
            client.Await("curr_items", "2");
            results.Add(client.Describe(names));
        }

        Assert.Equal(results[0], results[1]);
        Assert.True(long.Parse(asked.Stats()["bytes"], CultureInfo.InvariantCulture) < 200);
    }

    [RequiresToolFact("memcached")]
    public async Task Items_found_to_have_expired_or_to_be_flushed_are_counted_as_by_memcached()
    {
        using var memcached = StockMemcached.Start("-o", "no_lru_maintainer,no_lru_crawler");
        await using StoreServer cairn = await StoreServer.StartAsync(removesExpired: false);
        using var expecting = new Client(new MemcachedPeer(memcached.EndPoint));
        using var asked = new Client(new MemcachedPeer(cairn.EndPoint(WireProtocol.Memcached)));
        Client[] clients = [expecting, asked];
        foreach (Client client in clients)
        {
            // One request: short9 is still there when it is read. memcached removes it one to two seconds after the set.
            string shorts = string.Concat(Enumerable.Range(0, 10).Select(i => $"set short{i} 0 2 1\r\n1\r\n"));
            client.Ask(shorts + "set a 0 0 1\r\n1\r\nset b 0 0 1\r\n1\r\nset c 0 0 1\r\n1\r\nget short9\r\n");
        }

        string[] names = ["get_expired", "get_flushed", "get_hits", "get_misses", "touch_misses", "delete_misses", "incr_misses", "decr_misses", "reclaimed", "expired_unfetched", "curr_items"];
        var results = new List<string>();
        Client.AwaitSeconds(3, clients);
        foreach (Client client in clients)
        {
            client.Ask("get short0 missing\r\nget short0\r\ntouch short1 1\r\ndelete short2\r\nincr short3 1\r\ndecr short4 1\r\nmg short5 v\r\ngat 1 short6\r\nmd short7\r\nma short8\r\nget short9\r\n");
            results.Add(client.Describe(names));
            client.Ask("flush_all\r\n");
        }

        Client.AwaitSeconds(2, clients);
        foreach (Client client in clients)
        {
            client.Ask("get a b\r\nget a\r\nmg c v\r\n");
            results.Add(client.Describe(names));
        }

        Assert.Equal((results[0], results[2]), (results[1], results[3]));
        Assert.Contains("get_flushed 3", results[3], StringComparison.Ordinal);
    }

    [Fact]
    public void Evicted_items_that_were_never_read_are_counted_separately()
    {
        using var session = new SessionUnderTest(capacityBytes: 1 << 20);
        for (int i = 0; i < 3_000; i++)
        {
            session.Send($"set unread{i} 0 0 1000\r\n{new string('x', 1000)}\r\n");
        }

        Dictionary<string, string> statistics = Client.Parse(session.Send("stats\r\n"));
        Assert.NotEqual("0", statistics["evictions"]);
        Assert.Equal(statistics["evictions"], statistics["evicted_unfetched"]);

        session.Send("stats reset\r\n");
        Assert.Equal("0", Client.Parse(session.Send("stats\r\n"))["evictions"]);
        for (int i = 0; i < 3_000; i++)
        {
            session.Send($"set read{i} 0 0 1000\r\n{new string('x', 1000)}\r\nget read{i}\r\n");
        }

        // Only items that existed before have never been read.
        statistics = Client.Parse(session.Send("stats\r\n"));
        Assert.InRange(long.Parse(statistics["evictions"], CultureInfo.InvariantCulture), 1500, 4000);
        Assert.InRange(long.Parse(statistics["evicted_unfetched"], CultureInfo.InvariantCulture), 1, 1000);
    }

    [Fact]
    public void Item_that_was_written_again_has_not_been_read()
    {
        using var session = new SessionUnderTest();
        session.Send("set a 0 10 1\r\n1\r\nset b 0 10 1\r\n1\r\nget a b\r\nset a 0 10 1\r\n2\r\n");
        session.Clock.Advance(TimeSpan.FromSeconds(11));
        session.Store.SweepExpired();

        Dictionary<string, string> statistics = Client.Parse(session.Send("stats\r\n"));
        Assert.Equal(("2", "1"), (statistics["reclaimed"], statistics["expired_unfetched"]));
    }

    private sealed class Client(MemcachedPeer peer) : IDisposable
    {
        private readonly Socket _socket = peer.Connect();

        public static Dictionary<string, string> Parse(string stats) => stats.Split("\r\n")
            .Where(line => line.StartsWith("STAT ", StringComparison.Ordinal))
            .Select(line => line.Split(' '))
            .ToDictionary(words => words[1], words => words[2]);

        public string Ask(string requests) => peer.Ask(_socket, requests);

        public Dictionary<string, string> Stats() => Parse(Ask("stats\r\n"));

        public string Describe(IEnumerable<string> names)
        {
            Dictionary<string, string> statistics = Stats();
            return string.Concat(names.Select(name => $"{name} {statistics[name]}\n"));
        }

        public void Await(string name, string value)
        {
            Assert.True(SpinWait.SpinUntil(() => Stats()[name] == value, Patience), $"{name} is still {Stats()[name]}");
        }

        /// <summary>Waits until the clocks of the servers have moved by <paramref name="seconds"/>. memcached's clock moves once a second.</summary>
        public static void AwaitSeconds(int seconds, Client[] clients)
        {
            long[] until = [.. clients.Select(client => client.Time() + seconds)];
            Assert.All(clients, (client, i) => Assert.True(SpinWait.SpinUntil(() => client.Time() >= until[i], Patience), "The server's clock stands still."));
        }

        public void Dispose()
        {
            _socket.Dispose();
            peer.Dispose();
        }

        private long Time() => long.Parse(Stats()["time"], CultureInfo.InvariantCulture);
    }
}
