using System.Text;
using System.Text.RegularExpressions;
using Cairn.Server.Buffers;
using Cairn.Server.Memcached;
using Cairn.Server.Notifications;
using Cairn.Server.Resp.Security;

namespace Cairn.Server.Tests.Resp;

/// <summary>Keyspace events beyond a comparison with redis-server: memcached's commands, eviction, users, and cost.</summary>
public partial class KeyspaceEventTests
{
    [Theory]
    [InlineData("set k 0 0 1\r\nv\r\n", "new set")]
    [InlineData("set k 5 100 1\r\nv\r\n", "new set expire")]
    [InlineData("set k 0 -1 1\r\nv\r\n", "new set expire expired")]
    [InlineData("set there 0 0 1\r\nv\r\n", "set")]
    [InlineData("set there 5 100 1\r\nv\r\n", "set expire")]
    [InlineData("add k 0 0 1\r\nv\r\n", "new set")]
    [InlineData("add there 0 0 1\r\nv\r\n", "")]
    [InlineData("replace k 0 0 1\r\nv\r\n", "")]
    [InlineData("replace there 0 0 1\r\nv\r\n", "set")]
    [InlineData("cas there 0 0 1 999999\r\nv\r\n", "")]
    [InlineData("append there 0 0 1\r\nv\r\n", "append")]
    [InlineData("prepend there 0 0 1\r\nv\r\n", "append")]
    [InlineData("append k 0 0 1\r\nv\r\n", "")]
    [InlineData("incr there 1\r\n", "incrby")]
    [InlineData("decr there 1\r\n", "incrby")]
    [InlineData("incr k 1\r\n", "")]
    [InlineData("delete there\r\n", "del")]
    [InlineData("delete k\r\n", "")]
    [InlineData("touch there 100\r\n", "expire")]
    [InlineData("touch there 0\r\n", "persist")]
    [InlineData("touch there -1\r\n", "del")]
    [InlineData("touch k 100\r\n", "")]
    [InlineData("get there\r\n", "")]
    [InlineData("get k\r\n", "keymiss")]
    [InlineData("gets k\r\n", "keymiss")]
    [InlineData("gat 100 there\r\n", "expire")]
    [InlineData("gat -1 there\r\n", "del")]
    [InlineData("gat 100 k\r\n", "keymiss")]
    [InlineData("ms k 1\r\nv\r\n", "new set")]
    [InlineData("ms k 1 T100\r\nv\r\n", "new set expire")]
    [InlineData("ms there 1 MA\r\nv\r\n", "append")]
    [InlineData("ms there 1 MP\r\nv\r\n", "append")]
    [InlineData("ms there 1 ME\r\nv\r\n", "")]
    [InlineData("mg there v\r\n", "")]
    [InlineData("mg there v T100\r\n", "expire")]
    [InlineData("mg k v\r\n", "keymiss")]
    [InlineData("mg k v N100\r\n", "keymiss new set expire")]
    [InlineData("md there\r\n", "del")]
    [InlineData("md there I\r\n", "")]
    [InlineData("md there I T100\r\n", "expire")]
    [InlineData("md k\r\n", "")]
    [InlineData("ma there\r\n", "incrby")]
    [InlineData("ma there T100\r\n", "incrby expire")]
    [InlineData("ma k N100\r\n", "new incrby expire")]
    [InlineData("ma k\r\n", "")]
    [InlineData("me there\r\n", "")]
    [InlineData("flush_all\r\n", "")]
    public void Memcached_command_sends_the_events_of_the_nearest_command_of_redis(string request, string events)
    {
        using var host = new RespHost(new ManualClock(hasTimers: true));
        host.Store.DefaultCollection.Set("there", "1"u8);
        RespClient subscriber = Subscribe(host, "AKmn");
        using var memcached = new MemcachedClient(host);

        memcached.Send(request);

        Assert.Equal(events, string.Join(' ', EventsOf(subscriber).Select(each => each.Event)));
    }

    [Fact]
    public void Expired_key_is_an_event_when_a_memcached_command_meets_it()
    {
        var clock = new ManualClock(hasTimers: true);
        using var host = new RespHost(clock);
        using var memcached = new MemcachedClient(host);
        RespClient subscriber = Subscribe(host, "Kxm");
        foreach (string request in new[] { "get k\r\n", "mg k v\r\n", "touch k 10\r\n", "incr k 1\r\n", "append k 0 0 1\r\nx\r\n", "delete k\r\n", "set k 0 0 1\r\nx\r\n", "gat 10 k\r\n" })
        {
            memcached.Send("set k 0 10 1\r\nv\r\n");
            clock.Advance(TimeSpan.FromSeconds(11));
            Assert.Empty(EventsOf(subscriber));

            memcached.Send(request);

            Assert.Equal(("k", "expired"), EventsOf(subscriber)[0]);
            memcached.Send("delete k\r\n");
        }
    }

    [Fact]
    public void Key_that_expires_while_it_is_written_is_reported_once()
    {
        using var host = new RespHost(new ManualClock { AutoAdvanceAmount = TimeSpan.FromMilliseconds(1) });
        using var memcached = new MemcachedClient(host);
        RespClient subscriber = Subscribe(host, "Kx");
        RespClient client = host.Connect();
        for (int time = 1; time <= 20; time++)
        {
            foreach (string command in new[] { $"SET k v PX {time}", $"PSETEX k {time} v", $"SET k v GET PX {time}" })
            {
                client.Run(command);
                while (client.Run("EXISTS k") != ":0\r\n")
                {
                    // This clock moves by a millisecond each time it is read.
                }

                Assert.Equal([("k", "expired")], EventsOf(subscriber));
            }

            long moment = host.Server.Clock.GetUtcNow().ToUnixTimeSeconds() + 1;
            memcached.Send($"set k 0 {moment} 1\r\nv\r\n");
            while (client.Run("EXISTS k") != ":0\r\n")
            {
                // The same command again.
            }

            Assert.Equal([("k", "expired")], EventsOf(subscriber));
        }
    }

    [Fact]
    public void Evicted_keys_are_events_and_keys_that_are_there_are_not()
    {
        using var host = new RespHost();
        RespClient subscriber = Subscribe(host, "Ke");
        RespClient client = host.Connect();
        string value = new('v', 900);
        for (int i = 0; i < 60_000; i++)
        {
            client.Run($"SET {i} {value}");
        }

        List<(string Key, string Event)> events = EventsOf(subscriber);
        Assert.Equal(host.Store.GetStatistics().Totals.Evictions, events.Count);
        HashSet<string> evicted = [.. events.Where(each => each.Event == "evicted").Select(each => each.Key)];
        Assert.Equal(events.Count, evicted.Count);
        Assert.NotEmpty(evicted);
        Assert.All(Enumerable.Range(0, 60_000), i => Assert.NotEqual(host.Store.DefaultCollection.Contains($"{i}"), evicted.Contains($"{i}")));
    }

    [Fact]
    public void Other_collections_have_no_events()
    {
        using var host = new RespHost();
        RespClient subscriber = Subscribe(host, "AKEmn");
        CairnCollection books = host.Store.Collection("books");
        for (int i = 0; i < 60_000; i++)
        {
            books.Set($"{i}", new byte[900]);
        }

        Assert.True(host.Store.GetStatistics().Totals.Evictions > 0);
        Assert.Empty(EventsOf(subscriber));
    }

    [Fact]
    public void User_receives_only_events_of_keys_that_it_may_use()
    {
        using var host = new RespHost();
        string hash = "#" + Convert.ToHexStringLower(System.Security.Cryptography.SHA256.HashData("p"u8));
        host.Server.Users = RespUsers.Parse($"default {hash} read-write\nshop {hash} read-write shop:", "users");
        RespClient all = host.Connect();
        RespClient shop = host.Connect();
        all.Run("AUTH p", "CONFIG SET notify-keyspace-events AKE", "PSUBSCRIBE *");
        shop.Run("AUTH shop p", "PSUBSCRIBE *", "SUBSCRIBE __keyspace@0__:secret");
        RespClient writer = host.Connect();

        writer.Run("AUTH p", "SET secret 1", "SET shop:1 1");

        Assert.Equal([("secret", "set"), ("shop:1", "set")], EventsOf(all));
        Assert.Equal([("shop:1", "set")], EventsOf(shop));
    }

    [Fact]
    public void Resp3_client_receives_its_own_events_after_the_reply()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        client.Run("CONFIG SET notify-keyspace-events K$", "HELLO 3", "SUBSCRIBE __keyspace@0__:a");

        Assert.Equal("+OK\r\n>3\r\n$7\r\nmessage\r\n$16\r\n__keyspace@0__:a\r\n$3\r\nset\r\n", client.Run("SET a 1"));
    }

    [Fact]
    public void Store_is_observed_only_while_expiry_or_eviction_is_sent()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        Assert.False(host.Server.Events.IsObserving);

        foreach ((string letters, bool isObserved) in new[] { ("AKE", true), ("KEg$h", false), ("Kx", true), ("", false), ("A", false), ("Ee", true), ("xe", false) })
        {
            client.Run($"CONFIG SET notify-keyspace-events \"{letters}\"");
            Assert.Equal(isObserved, host.Server.Events.IsObserving);
        }
    }

    [Fact]
    public void Departures_that_no_client_receives_in_time_are_dropped_and_counted()
    {
        using var host = new RespHost();
        using var channel = new GatedChannel();
        var events = new KeyspaceEvents(host.Store, channel) { Classes = EventClasses.Keyspace | EventClasses.Evicted };
        events.AddWaiting("first"u8, EventClasses.Evicted, "evicted"u8);
        channel.AwaitSender();

        for (int i = 0; i < KeyspaceEvents.MostWaiting + 10; i++)
        {
            events.AddWaiting("key"u8, EventClasses.Evicted, "evicted"u8);
        }

        Assert.Equal(10, events.Dropped);
        channel.Open();
        channel.Await(KeyspaceEvents.MostWaiting + 1);
    }

    [Fact]
    public void Info_has_the_number_of_dropped_events()
    {
        using var host = new RespHost();
        host.Server.Events.AddWaiting(new byte[KeyspaceEvents.MostWaitingBytes + 1], EventClasses.Evicted, "evicted"u8);

        Assert.Contains("\r\ndropped_keyspace_events:1\r\n", host.Connect().Run("INFO stats"), StringComparison.Ordinal);
    }

    [Fact]
    public void Departures_that_wait_have_at_most_16_MiB_of_keys()
    {
        using var host = new RespHost();
        using var channel = new GatedChannel();
        var events = new KeyspaceEvents(host.Store, channel) { Classes = EventClasses.Keyspace | EventClasses.Evicted };
        events.AddWaiting("first"u8, EventClasses.Evicted, "evicted"u8);
        channel.AwaitSender();
        byte[] longest = new byte[64 << 10];

        for (int i = 0; i < 300; i++)
        {
            events.AddWaiting(longest, EventClasses.Evicted, "evicted"u8);
        }

        Assert.Equal(300 - 256, events.Dropped);
        channel.Open();
        channel.Await(1 + 256);
        events.AddWaiting(longest, EventClasses.Evicted, "evicted"u8);
        channel.Await(1 + 256 + 1);
    }

    [Fact]
    public void Event_of_many_patterns_is_sent_by_another_thread_and_events_stay_in_order()
    {
        using var host = new RespHost();
        using var channel = new GatedChannel { Cost = KeyspaceEvents.MostReceiversAtOnce + 1 };
        var events = new KeyspaceEvents(host.Store, channel) { Classes = EventClasses.Keyspace | EventClasses.Strings | EventClasses.Evicted };

        // None of these calls waits for the channel, which sends nothing yet.
        events.Notify(EventClasses.Strings, "set"u8, "key-0"u8);
        channel.AwaitSender();
        for (int i = 1; i < 2000; i++)
        {
            events.Notify(EventClasses.Strings, "set"u8, Encoding.ASCII.GetBytes($"key-{i}"));
            events.SendWaiting();
        }

        channel.Cost = 0;
        channel.Open();
        channel.Await(2000);
        events.Notify(EventClasses.Strings, "set"u8, "key-2000"u8);
        channel.Await(2001);
        Assert.Equal(Enumerable.Range(0, 2001).Select(i => $"key-{i}"), channel.Keys);
        Assert.Equal(0, events.Dropped);
    }

    [Fact]
    public void Worker_sends_at_most_1024_waiting_events_at_once()
    {
        using var host = new RespHost();
        using var channel = new GatedChannel();
        var events = new KeyspaceEvents(host.Store, channel) { Classes = EventClasses.Keyspace | EventClasses.Evicted };
        events.AddWaiting("first"u8, EventClasses.Evicted, "evicted"u8);
        channel.AwaitSender();
        for (int i = 0; i < 5000; i++)
        {
            events.AddWaiting("key"u8, EventClasses.Evicted, "evicted"u8);
        }

        channel.Open();
        int mine = Environment.CurrentManagedThreadId;
        events.SendWaiting();

        Assert.InRange(channel.Threads.Count(thread => thread == mine), 0, 1024);
        channel.Await(5001);
    }

    [Fact]
    public void Nothing_is_allocated_for_events()
    {
        using var host = new RespHost();
        host.Server.Metrics.SlowLog.Threshold = Timeout.InfiniteTimeSpan; // The entries of the slow log are allocated.
        RespClient subscriber = Subscribe(host, "AKEmn");
        RespClient client = host.Connect();
        byte[] input = Encoding.ASCII.GetBytes("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n*2\r\n$3\r\nDEL\r\n$1\r\na\r\n");
        Run();

        long before = GC.GetAllocatedBytesForCurrentThread();
        Run();
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);

        void Run()
        {
            for (int i = 0; i < 200; i++)
            {
                client.Execute(input, budget: 100);
                client.Drop();
                subscriber.Drop();
            }
        }
    }

    private static RespClient Subscribe(RespHost host, string letters)
    {
        RespClient subscriber = host.Connect();
        subscriber.Run($"CONFIG SET notify-keyspace-events {letters}", "PSUBSCRIBE __keyspace@0__:*");
        return subscriber;
    }

    // Returns the events of the channels by key.
    private static List<(string Key, string Event)> EventsOf(RespClient subscriber) =>
        [.. Message().Matches(subscriber.Take()).Select(match => (match.Groups[1].Value, match.Groups[2].Value))];

    [GeneratedRegex(@"(?:\npmessage\r\n\$\d+\r\n[^\r]*|\nmessage)\r\n\$\d+\r\n__keyspace@0__:([^\r]*)\r\n\$\d+\r\n([^\r]*)\r\n")]
    private static partial Regex Message();

    private sealed class GatedChannel : IEventChannel, IDisposable
    {
        private readonly ManualResetEventSlim _gate = new();
        private readonly ManualResetEventSlim _entered = new();
        private readonly List<(string Key, int Thread)> _sent = [];

        public int Count => Sent.Length;

        public IEnumerable<string> Keys => Sent.Select(sent => sent.Key);

        public IEnumerable<int> Threads => Sent.Select(sent => sent.Thread);

        public int Cost { get; set; }

        private (string Key, int Thread)[] Sent
        {
            get
            {
                lock (_sent)
                {
                    return [.. _sent];
                }
            }
        }

        public void Send(ReadOnlySpan<byte> key, ReadOnlySpan<byte> channel, ReadOnlySpan<byte> message)
        {
            _entered.Set();
            _gate.Wait();
            lock (_sent)
            {
                _sent.Add((Encoding.ASCII.GetString(key), Environment.CurrentManagedThreadId));
                Monitor.PulseAll(_sent);
            }
        }

        /// <summary>Waits until a thread sends an event, and so waits for the gate.</summary>
        public void AwaitSender() => Assert.True(_entered.Wait(TimeSpan.FromMinutes(1)));

        public void Open() => _gate.Set();

        public void Dispose()
        {
            _gate.Dispose();
            _entered.Dispose();
        }

        public void Await(int count)
        {
            lock (_sent)
            {
                while (_sent.Count < count)
                {
                    Assert.True(Monitor.Wait(_sent, TimeSpan.FromMinutes(1)));
                }

                Assert.Equal(count, _sent.Count);
            }
        }
    }

    // A client of memcached's protocol on the same store.
    private sealed class MemcachedClient(RespHost host) : IDisposable
    {
        private readonly MemcachedSessions _sessions =
            new(host.Store, new MemcachedOptions { Events = host.Server.Events, Clock = host.Server.Clock });

        private readonly OutputBuffer _output = new();
        private TextSession? _session;

        public void Send(string request)
        {
            _session ??= _sessions.CreateText(connection: null);
            byte[] input = Encoding.ASCII.GetBytes(request);
            Assert.Equal(input.Length, _session.Execute(input, _output, budget: 100));
            _output.Clear();
        }

        public void Dispose() => _sessions.Dispose();
    }
}
