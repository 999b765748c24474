using System.Text;
using Cairn.Server.Memcached;
using Cairn.Server.Resp;
using Cairn.Server.Resp.Tracking;

namespace Cairn.Server.Tests.Resp;

/// <summary>Invalidations of client tracking, beyond those that RedisComparisonTests compares.</summary>
public class TrackingTests
{
    private const string InvalidateA = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n";
    private const string InvalidateAll = ">2\r\n$10\r\ninvalidate\r\n_\r\n";

    [Fact]
    public void Change_by_another_process_is_reported()
    {
        using var host = new RespHost();
        RespClient client = Follow(host, "CLIENT TRACKING ON");
        client.Run("GET a");
        using CairnStore other = CairnStore.Open(new StoreOptions { Path = host.Path, FlushOnClose = false });

        other.DefaultCollection.Set("a"u8, "1"u8);
        host.Server.Tracking.Tell();

        Assert.Equal(InvalidateA, client.Take());
    }

    [Fact]
    public void Change_through_memcached_is_reported()
    {
        using var host = new RespHost();
        RespClient reader = Follow(host, "CLIENT TRACKING ON");
        RespClient listener = Follow(host, "CLIENT TRACKING ON BCAST PREFIX a");
        reader.Run("GET a");
        using var memcached = new MemcachedSessions(host.Store, new MemcachedOptions());
        var output = new Cairn.Server.Buffers.OutputBuffer();

        memcached.CreateText(connection: null).Execute("set a 0 0 1\r\nx\r\nset b 0 0 1\r\nx\r\n"u8, output, 10);
        host.Server.Tracking.Tell();

        Assert.Equal(InvalidateA, reader.Take());
        Assert.Equal(InvalidateA, listener.Take());
    }

    [Fact]
    public void Removal_by_another_process_makes_clients_that_track_all_changes_drop_everything()
    {
        using var host = new RespHost();
        RespClient listener = Follow(host, "CLIENT TRACKING ON BCAST PREFIX b");
        using CairnStore other = CairnStore.Open(new StoreOptions { Path = host.Path, FlushOnClose = false });

        other.DefaultCollection.Remove("a"u8);
        host.Server.Tracking.Tell();

        Assert.Equal(InvalidateAll, listener.Take());
    }

    [Theory]
    [InlineData("MULTI", "SET a 1", "DEL a", "EXEC")]
    [InlineData("MULTI", "SET a 1", "SET b 1", "DEL b", "DEL a", "EXEC")]
    [InlineData("MULTI", "SET a 1", "DEL a", "DEL a", "SET a 2", "EXEC")]
    public void Key_that_a_transaction_changes_several_times_is_reported_once(params string[] transaction)
    {
        using var host = new RespHost();
        RespClient listener = Follow(host, "CLIENT TRACKING ON BCAST PREFIX a");

        host.Connect().Run(transaction);
        host.Server.Tracking.Tell();

        Assert.Equal(InvalidateA, listener.Take());
    }

    [Theory]
    [InlineData("CLIENT TRACKING ON")]
    [InlineData("CLIENT TRACKING ON BCAST")]
    public void Key_that_expired_is_reported_to_clients_that_have_read_it(string tracking)
    {
        var clock = new ManualClock();
        using var host = new RespHost(clock);
        host.Connect().Run("SET a 1 EX 10");
        RespClient client = Follow(host, tracking);
        client.Run("GET a");

        clock.Advance(TimeSpan.FromSeconds(9));
        host.Server.Tracking.LookAtAll();
        Assert.Equal("", client.Take());

        clock.Advance(TimeSpan.FromSeconds(1));
        host.Server.Tracking.LookAtAll();
        Assert.Equal(InvalidateA, client.Take());
    }

    [Fact]
    public void Key_that_was_evicted_is_reported_to_clients_that_have_read_it()
    {
        using var host = new RespHost();
        host.Connect().Run("SET a 1");
        RespClient client = Follow(host, "CLIENT TRACKING ON");
        client.Run("GET a");
        byte[] value = new byte[16 << 10];
        for (int i = 0; host.Store.DefaultCollection.Contains("a"u8); i++)
        {
            host.Store.DefaultCollection.Set(Encoding.ASCII.GetBytes($"other:{i}"), value);
            host.Server.Tracking.Tell(); // Reads the rings before they are overrun: then the client would get one invalidation for all keys.
        }

        host.Server.Tracking.LookAtAll();

        Assert.Contains(InvalidateA, client.Take(), StringComparison.Ordinal);
    }

    [Fact]
    public void Key_that_was_read_first_is_reported_as_changed_when_there_is_no_room_for_another()
    {
        using var host = new RespHost();
        using var hub = new TrackingHub(host.Store, host.Server.Clock, id => host.Server.TryFind(id, out RespSession? session) ? session : null, host.Server.Pinned, mostKeys: 3);
        RespClient client = Follow(host, "CLIENT TRACKING ON");
        var state = new TrackingState();
        hub.Change(client.Session, null, state);

        foreach (string key in new[] { "a", "b", "c", "b", "d" })
        {
            hub.Remember(client.Session, state, Encoding.ASCII.GetBytes(key));
        }

        Assert.Equal(3, hub.KeyCount);
        Assert.Equal(InvalidateA, client.Take());
    }

    [Fact]
    public void Overrun_ring_reports_every_key_of_its_partition()
    {
        using var host = new RespHost();
        RespClient client = Follow(host, "CLIENT TRACKING ON");
        client.Run("GET a");
        host.Server.Tracking.BeginFlush(); // Clients get no invalidations until the flush ends.
        for (int i = 0; i < 200_000; i++)
        {
            host.Store.DefaultCollection.Set(Encoding.ASCII.GetBytes($"other:{i}"), "x"u8);
        }

        host.Server.Tracking.EndFlush();

        Assert.Contains("invalidate", client.Take(), StringComparison.Ordinal);
        Assert.Equal(0, host.Server.Tracking.KeyCount);
    }

    [Fact]
    public void Connection_that_others_are_redirected_to_may_end()
    {
        using var host = new RespHost();
        RespClient receiver = host.Connect();
        RespClient client = Follow(host, $"CLIENT TRACKING ON REDIRECT {receiver.Id}");
        client.Run("GET a");
        receiver.End();

        host.Connect().Run("SET a 1");

        Assert.Equal($">2\r\n$21\r\ntracking-redir-broken\r\n:{receiver.Id}\r\n", client.Take());
        Assert.Contains("broken_redirect", client.Run("CLIENT TRACKINGINFO"), StringComparison.Ordinal);
    }

    [Fact]
    public void Changes_of_one_command_are_broadcast_in_one_message()
    {
        using var host = new RespHost(new ManualClock(hasTimers: true)); // Only commands read the rings, not the timer.
        RespClient all = Follow(host, "CLIENT TRACKING ON BCAST");
        RespClient some = Follow(host, "CLIENT TRACKING ON BCAST PREFIX a: PREFIX b:");
        RespClient none = Follow(host, "CLIENT TRACKING ON BCAST PREFIX z:");
        RespClient own = Follow(host, "CLIENT TRACKING ON BCAST NOLOOP");

        host.Connect().Run("MSET a:1 1 b:1 1 c:1 1");
        host.Connect().Run("SET a:2 1");
        string toOwn = own.Take();
        own.Run("MSET a:3 1 a:4 1");

        const string Head = ">2\r\n$10\r\ninvalidate\r\n";
        string[] counts = [.. new[] { all.Take(), some.Take(), none.Take(), toOwn, own.Take() }.Select(
            text => string.Concat(text.Split(Head, StringSplitOptions.RemoveEmptyEntries).Select(message => message[1])))];
        Assert.Equal(["312", "1112", "", "31", ""], counts);
    }

    [Fact]
    public void User_is_notified_of_changes_of_its_own_keys_only()
    {
        using var host = new RespHost();
        host.Server.Users = Cairn.Server.Resp.Security.RespUsers.Parse(
            "default nopass read-write\nshop #" + new string('0', 64) + " read-write shop:", "users");
        RespClient client = host.Connect();
        client.Run("HELLO 3");
        client.Session.Become(new Cairn.Server.Resp.Security.RespUser { Name = "shop", KeyPrefix = "shop:"u8.ToArray() });

        Assert.StartsWith("-NOPERM", client.Run("CLIENT TRACKING ON BCAST PREFIX a"), StringComparison.Ordinal);
        Assert.Equal("+OK\r\n", client.Run("CLIENT TRACKING ON BCAST"));
        host.Connect().Run("SET a 1", "SET shop:a 1");
        Assert.Equal(">2\r\n$10\r\ninvalidate\r\n*1\r\n$6\r\nshop:a\r\n", client.Take());
    }

    private static RespClient Follow(RespHost host, string tracking)
    {
        RespClient client = host.Connect();
        client.Run("HELLO 3");
        Assert.Equal("+OK\r\n", client.Run(tracking));
        return client;
    }
}
