using System.Net.Sockets;
using Cairn.Concurrency;
using Cairn.Server.Connections;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Memcached;

/// <summary>Connections whose request finds no hazard cell get a copy within their limits, or wait without delaying others.</summary>
public class WaitingForCellTests
{
    private const int BigBytes = 2 << 20;

    // No copy of a big value fits into this limit.
    private static readonly ConnectionLimits NoCopies = new() { MaxOutputBytesPerConnection = 1 << 20 };

    public static TheoryData<LoopUnderTest> Loops => Testing.Loops.Here;

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Connection_waits_without_its_worker_and_sees_a_cell_that_other_code_releases(LoopUnderTest loop)
    {
        await using StoreServer server = await StartAsync(NoCopies, loop: loop);
        using var held = new HeldCells(server.Store);
        using TestClient waiting = server.Connect(WireProtocol.Memcached);
        using TestClient other = server.Connect(WireProtocol.Memcached);
        using TestClient resp = server.Connect(WireProtocol.Resp);

        waiting.Send("get small\r\nget big small\r\nmg big v k\r\ngat 100 small big\r\nmn\r\n");
        AssertValue(waiting, "small", 5);
        await UntilWaiting(server, 1);
        other.Send("get small\r\n");
        AssertValue(other, "small", 5);
        resp.Send("*2\r\n$3\r\nGET\r\n$5\r\nsmall\r\n");
        Assert.Equal("$5", resp.ReadLine().TrimEnd('\r'));
        held.Dispose();

        AssertValue(waiting, "big", BigBytes, isLast: false);
        AssertValue(waiting, "small", 5);
        AssertMetaValue(waiting, " kbig", BigBytes);
        AssertValue(waiting, "small", 5, isLast: false);
        AssertValue(waiting, "big", BigBytes);
        Assert.Equal("MN\r", waiting.ReadLine());
        Assert.Equal(0, server.Engine.CellQueue.Count);
        Assert.False(server.Store.Engine.Owners.HasPins);
    }

    [Fact]
    public async Task Request_that_waited_is_counted_once()
    {
        await using StoreServer server = await StartAsync(NoCopies);
        using TestClient waiting = server.Connect(WireProtocol.Memcached);
        using (new HeldCells(server.Store))
        {
            waiting.Send("get big\r\nmg big v\r\ngat 100 big\r\nmn\r\nstats\r\n");
            await UntilWaiting(server, 1);
            for (int turn = 0; turn < 20; turn++)
            {
                server.Engine.CellQueue.ServeFirst();
                await server.Engine.UntilTurnedAsync();
            }

            await UntilWaiting(server, 1);
        }

        AssertValue(waiting, "big", BigBytes);
        AssertMetaValue(waiting, "", BigBytes);
        AssertValue(waiting, "big", BigBytes);
        Assert.Equal("MN\r", waiting.ReadLine());
        Dictionary<string, string> statistics = ReadStatistics(waiting);
        Assert.Equal(("2", "2", "0", "1"), (statistics["cmd_get"], statistics["get_hits"], statistics["get_misses"], statistics["cmd_touch"]));
    }

    [Fact]
    public async Task Connections_are_served_in_the_order_in_which_they_began_to_wait_and_a_newcomer_is_behind_them()
    {
        await using StoreServer server = await StartAsync(NoCopies, workers: 2);
        for (int i = 0; i < 4; i++)
        {
            Assert.True(server.Store.DefaultCollection.Set($"huge:{i}", TestBytes.Of(8 << 20)));
        }

        using var held = new HeldCells(server.Store);
        var clients = new List<TestClient>();
        for (int i = 0; i < 4; i++)
        {
            clients.Add(server.Connect(WireProtocol.Memcached, receiveBufferBytes: 4096));
            clients[i].Send($"get huge:{i}\r\n");
            await UntilWaiting(server, i + 1);
        }

        // There is one cell for lasting pins. The next connection gets it when the one before has read its value.
        for (int i = 0; i <= OwnerTable.BriefCells; i++)
        {
            held.ReleaseOne();
        }

        for (int i = 0; i < 4; i++)
        {
            Assert.Equal($"VALUE huge:{i} 0 {8 << 20}\r", clients[i].ReadLine());
            await UntilWaiting(server, 3 - i);
            Assert.Equal(8 << 20, clients[i].Skip(8 << 20));
        }

        clients.ForEach(client => client.Dispose());
    }

    [Fact]
    public async Task Client_that_reads_a_value_byte_by_byte_keeps_its_cell_no_longer_than_slow_readers_may()
    {
        var clock = new ManualClock(hasTimers: true);
        await using StoreServer server = await StartAsync(NoCopies with { SlowReaderTimeout = TimeSpan.FromMinutes(1) }, clock: clock);
        Assert.True(server.Store.DefaultCollection.Set("huge", TestBytes.Of(8 << 20)));
        using var held = new HeldCells(server.Store);
        for (int i = 0; i <= OwnerTable.BriefCells; i++)
        {
            held.ReleaseOne();
        }

        using TestClient dripping = server.Connect(WireProtocol.Memcached, receiveBufferBytes: 4096);
        dripping.Send("get huge\r\n");
        Assert.Equal($"VALUE huge 0 {8 << 20}\r", dripping.ReadLine());
        await server.Engine.Connections.Single().UntilBlocked(); // This reply holds the last cell for lasting pins.
        using TestClient waiting = server.Connect(WireProtocol.Memcached);
        using TestClient other = server.Connect(WireProtocol.Memcached);
        waiting.Send("get big\r\n");
        await UntilWaiting(server, 1);

        for (int i = 0; i < 5; i++)
        {
            ReadOneByte(dripping);
            clock.Advance(TimeSpan.FromSeconds(11));
            server.Engine.Wake();
            await server.Engine.UntilTurnedAsync();
            other.Send("get small\r\n");
            AssertValue(other, "small", 5);
            Assert.Equal(1, server.Engine.CellQueue.Count);
        }

        clock.Advance(TimeSpan.FromSeconds(11));
        server.Engine.Wake();
        AssertValue(waiting, "big", BigBytes);
        Assert.Equal(1, server.Engine.EndedCount(CloseReason.ReaderTooSlow));
        Assert.Equal(0, server.Engine.CellQueue.Count);
    }

    [Fact]
    public async Task Connection_shares_the_cell_of_another_while_others_wait()
    {
        await using StoreServer server = await StartAsync(NoCopies);
        Assert.True(server.Store.DefaultCollection.TryPin("big", out PinnedValue? pinned));
        using var held = new HeldCells(server.Store);
        using TestClient waiting = server.Connect(WireProtocol.Memcached);
        waiting.Send("get other\r\n");
        await UntilWaiting(server, 1);

        using TestClient sharing = server.Connect(WireProtocol.Memcached);
        sharing.Send("get big\r\n");

        AssertValue(sharing, "big", BigBytes);
        Assert.Equal(1, server.Engine.CellQueue.Count);
        pinned.Dispose();
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Connection_that_ends_while_it_waits_is_forgotten_and_the_next_one_is_served(LoopUnderTest loop)
    {
        await using StoreServer server = await StartAsync(NoCopies, loop: loop);
        using var held = new HeldCells(server.Store);
        using TestClient first = server.Connect(WireProtocol.Memcached);
        first.Send("get big\r\n");
        await UntilWaiting(server, 1);
        using TestClient second = server.Connect(WireProtocol.Memcached);
        second.Send("get other\r\n");
        await UntilWaiting(server, 2);

        first.Reset();
        await UntilWaiting(server, 1);
        held.Dispose();

        AssertValue(second, "other", BigBytes);
        Assert.Equal(0, server.Engine.CellQueue.Count);
    }

    [Fact]
    public async Task Client_that_sends_nothing_more_while_it_waits_is_answered()
    {
        await using StoreServer server = await StartAsync(NoCopies);
        using var held = new HeldCells(server.Store);
        using TestClient waiting = server.Connect(WireProtocol.Memcached);
        waiting.Send("get big\r\n");
        await UntilWaiting(server, 1);
        waiting.Socket.Shutdown(SocketShutdown.Send);
        await server.Engine.UntilTurnedAsync();

        held.Dispose();

        AssertValue(waiting, "big", BigBytes);
        Assert.Equal("", waiting.ReadToEnd());
    }

    [Fact]
    public async Task Key_that_goes_while_a_connection_waits_is_a_miss()
    {
        await using StoreServer server = await StartAsync(NoCopies);
        using var held = new HeldCells(server.Store);
        using TestClient waiting = server.Connect(WireProtocol.Memcached);
        waiting.Send("mg big v\r\nget other\r\nmn\r\n");
        await UntilWaiting(server, 1);

        server.Store.DefaultCollection.Remove("big");
        Assert.Equal("EN\r", waiting.ReadLine());
        server.Store.DefaultCollection.Remove("other");

        Assert.Equal("END\r", waiting.ReadLine());
        Assert.Equal("MN\r", waiting.ReadLine());
        Assert.Equal(0, server.Engine.CellQueue.Count);
    }

    [Fact]
    public async Task Client_that_waits_for_the_server_is_not_idle()
    {
        var clock = new ManualClock(hasTimers: true);
        await using StoreServer server = await StartAsync(NoCopies with { IdleTimeout = TimeSpan.FromSeconds(10) }, clock: clock);
        using var held = new HeldCells(server.Store);
        using TestClient waiting = server.Connect(WireProtocol.Memcached);
        waiting.Send("get big\r\n");
        await UntilWaiting(server, 1);

        for (int i = 0; i < 3; i++)
        {
            clock.Advance(TimeSpan.FromMinutes(5));
            server.Engine.Wake();
            await server.Engine.UntilTurnedAsync();
        }

        held.Dispose();
        clock.Advance(TimeSpan.FromSeconds(1));
        server.Engine.Wake();
        AssertValue(waiting, "big", BigBytes);
    }

    [Fact]
    public async Task Value_is_copied_when_the_copy_fits_the_connection_and_counts_against_the_memory_of_all()
    {
        await using StoreServer server = await StartAsync(new ConnectionLimits());
        Assert.True(server.Store.DefaultCollection.Set("huge", TestBytes.Of(8 << 20)));
        using var held = new HeldCells(server.Store);
        using TestClient client = server.Connect(WireProtocol.Memcached, receiveBufferBytes: 4096);

        client.Send("get huge\r\n");
        Assert.Equal($"VALUE huge 0 {8 << 20}\r", client.ReadLine());

        Assert.InRange(server.Engine.Memory.Bytes, 8 << 20, 16 << 20);
        Assert.Equal(8 << 20, client.Skip(8 << 20));
        Assert.Equal("\r", client.ReadLine());
        Assert.Equal("END\r", client.ReadLine());
        Assert.InRange(server.Engine.Memory.Bytes, 0, 8 << 20);
    }

    [Fact]
    public async Task Copies_take_at_most_half_of_the_memory_of_buffers_and_disconnect_no_client()
    {
        const int Clients = 12;
        await using StoreServer server = await StartAsync(new ConnectionLimits { MaxBufferBytes = 32 << 20 });
        Assert.True(server.Store.DefaultCollection.Set("huge", TestBytes.Of(8 << 20)));
        using var held = new HeldCells(server.Store);
        var clients = new List<TestClient>();
        for (int i = 0; i < Clients; i++)
        {
            clients.Add(server.Connect(WireProtocol.Memcached, receiveBufferBytes: 4096));
            clients[i].Send("get huge\r\n");
        }

        await UntilWaiting(server, Clients - 1); // One copy of 8 MiB and the buffers of one value leave less than 8 MiB of 16.
        Assert.InRange(server.Engine.Memory.Bytes, 8 << 20, 16 << 20);

        // Each is served when the memory of the previous one is free.
        await Task.WhenAll(clients.Select(client => OwnThread.Run(() => AssertValue(client, "huge", 8 << 20))));
        Assert.Equal(0, server.Engine.EndedCount(CloseReason.OutOfMemory));
        clients.ForEach(client => client.Dispose());
    }

    [Fact]
    public async Task Server_stops_while_connections_wait()
    {
        await using StoreServer server = await StartAsync(NoCopies, workers: 2);
        using var held = new HeldCells(server.Store);
        var clients = new List<TestClient>();
        for (int i = 0; i < 20; i++)
        {
            clients.Add(server.Connect(WireProtocol.Memcached));
            clients[i].Send("get big\r\n");
        }

        await UntilWaiting(server, 20);
        await server.Engine.StopAsync(TimeSpan.FromMilliseconds(50));

        Assert.Equal(0, server.Engine.ConnectionCount);
        Assert.Equal(0, server.Engine.CellQueue.Count);
        clients.ForEach(client => client.Dispose());
    }

    [Fact]
    public async Task Commands_that_look_at_an_entry_for_a_moment_answer_without_a_cell()
    {
        await using StoreServer server = await StartAsync(NoCopies);
        using TestClient resp = server.Connect(WireProtocol.Resp);
        using TestClient memcached = server.Connect(WireProtocol.Memcached);
        Assert.Equal(":2", Ask(resp, "HSET", "hash", "a", "1", "b", "2"));
        using var held = new HeldCells(server.Store);

        Assert.Equal(["$1", "1"], [Ask(resp, "HGET", "hash", "a"), ReadLine(resp)]);
        Assert.Equal(":2", Ask(resp, "HLEN", "hash"));
        Assert.Equal(":1", Ask(resp, "HEXISTS", "hash", "b"));
        Assert.Equal(":1", Ask(resp, "HSTRLEN", "hash", "b"));
        Assert.Equal(["*4", "$1", "a", "$1", "1", "$1", "b", "$1", "2"], [Ask(resp, "HGETALL", "hash"), .. ReadLines(resp, 8)]);
        Assert.Equal(["*2", "$1", "2", "$-1"], [Ask(resp, "HMGET", "hash", "b", "none"), .. ReadLines(resp, 3)]);
        Assert.Equal(":0", Ask(resp, "HLEN", "none"));
        Assert.Equal(":1", Ask(resp, "HSET", "hash", "c", "3"));
        Assert.Equal($":{BigBytes}", Ask(resp, "STRLEN", "big"));

        memcached.Send("mg big s\r\nmg small s v u\r\nms small 1 MA c\r\n6\r\nmg small c\r\n");
        Assert.Equal([$"HD s{BigBytes}", "VA 5 s5", "12345"], ReadLines(memcached, 3));
        Assert.StartsWith("HD c", ReadLine(memcached), StringComparison.Ordinal);
        string version = ReadLine(memcached)["HD c".Length..];
        memcached.Send($"ms small 1 MP C{version}\r\n0\r\nget small\r\n");
        Assert.Equal(["HD", "VALUE small 0 7", "0123456", "END"], ReadLines(memcached, 4));
        Assert.Equal(0, server.Engine.CellQueue.Count);
    }

    private static async Task<StoreServer> StartAsync(
        ConnectionLimits limits, int workers = 1, LoopUnderTest? loop = null, ManualClock? clock = null)
    {
        StoreServer server = await StoreServer.StartAsync(
            loop, options => options with { Limits = limits, Workers = workers, Clock = clock ?? TimeProvider.System });
        Assert.True(server.Store.DefaultCollection.Set("big", TestBytes.Of(BigBytes)));
        Assert.True(server.Store.DefaultCollection.Set("other", TestBytes.Of(BigBytes)));
        Assert.True(server.Store.DefaultCollection.Set("small", "12345"u8));
        return server;
    }

    // Each check is a turn of every worker, in which the worker learns what has happened.
    private static async Task UntilWaiting(StoreServer server, int connections)
    {
        while (server.Engine.CellQueue.Count != connections)
        {
            await server.Engine.UntilTurnedAsync();
        }
    }

    private static void ReadOneByte(TestClient client) => Assert.Equal(1, client.Socket.Receive(new byte[1]));

    private static void AssertValue(TestClient client, string key, int bytes, bool isLast = true)
    {
        Assert.Equal($"VALUE {key} 0 {bytes}\r", client.ReadLine());
        Assert.Equal(bytes, client.Skip(bytes));
        Assert.Equal("\r", client.ReadLine());
        if (isLast)
        {
            Assert.Equal("END\r", client.ReadLine());
        }
    }

    private static void AssertMetaValue(TestClient client, string flags, int bytes)
    {
        Assert.Equal($"VA {bytes}{flags}\r", client.ReadLine());
        Assert.Equal(bytes, client.Skip(bytes));
        Assert.Equal("\r", client.ReadLine());
    }

    private static string Ask(TestClient client, params string[] arguments)
    {
        client.Send($"*{arguments.Length}\r\n{string.Concat(arguments.Select(argument => $"${argument.Length}\r\n{argument}\r\n"))}");
        return ReadLine(client);
    }

    private static string ReadLine(TestClient client) => client.ReadLine().TrimEnd('\r');

    private static List<string> ReadLines(TestClient client, int count) => [.. Enumerable.Range(0, count).Select(_ => ReadLine(client))];

    private static Dictionary<string, string> ReadStatistics(TestClient client)
    {
        var statistics = new Dictionary<string, string>();
        while (client.ReadLine().TrimEnd('\r').Split(' ') is ["STAT", var name, .. var value])
        {
            statistics[name] = string.Join(' ', value);
        }

        return statistics;
    }
}
