using System.Text;
using Cairn.Server.Connections;
using Cairn.Server.Tests.Memcached.Binary;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Connections;

/// <summary>Clients that request long values and do not read them do not delay clients that read.</summary>
public sealed class StalledReaderTests : IDisposable
{
    private const int Stalled = 16;
    private const int BigBytes = 1 << 20;
    private const int MidBytes = 256 << 10;
    private const int SlowBytesPerSecond = 100 << 10;

    // The memory of a value beside its bytes: its entry, and the bytes on their way to the client.
    private const int Margin = 96 << 10;

    private readonly ManualClock _clock = new(hasTimers: true);
    private readonly List<TestClient> _clients = [];

    public void Dispose() => _clients.ForEach(client => client.Dispose());

    [Theory]
    [InlineData(WireProtocol.Memcached)]
    [InlineData(WireProtocol.Binary)]
    [InlineData(WireProtocol.Resp)]
    public async Task Client_that_reads_gets_long_values_while_others_hold_all_memory_that_they_may(WireProtocol protocol)
    {
        await using StoreServer server = await StartAsync();
        using TestClient reader = server.Connect(protocol);
        Read(reader, protocol, "mid", MidBytes);
        using var held = new HeldCells(server.Store);
        await StallAsync(server, protocol, hasCredit: false);

        for (int i = 0; i < 20; i++)
        {
            Read(reader, protocol, "mid", MidBytes);
        }

        Assert.Equal(0, server.Engine.EndedCount(CloseReason.ReaderStalled));
    }

    [Theory]
    [InlineData(WireProtocol.Memcached)]
    [InlineData(WireProtocol.Binary)]
    [InlineData(WireProtocol.Resp)]
    public async Task Clients_that_have_read_nothing_for_five_seconds_are_disconnected_for_one_that_reads(WireProtocol protocol)
    {
        await using StoreServer server = await StartAsync();
        using TestClient reader = server.Connect(protocol);
        Read(reader, protocol, "big", BigBytes);
        Read(reader, protocol, "big", BigBytes);
        using var held = new HeldCells(server.Store);
        await StallAsync(server, protocol, hasCredit: true);
        Get(reader, protocol, "big");

        await AdvanceAsync(server, 4);
        Assert.Equal(0, server.Engine.EndedCount(CloseReason.ReaderStalled));
        for (int seconds = 0; seconds < 20 && reader.Socket.Available == 0; seconds++)
        {
            // The client reads slowly, but it reads.
            Assert.Equal(SlowBytesPerSecond, _clients[0].Skip(SlowBytesPerSecond));
            await AdvanceAsync(server, 1);
        }

        AssertValue(reader, protocol, "big", BigBytes);
        Assert.InRange(server.Engine.EndedCount(CloseReason.ReaderStalled), 1, _clients.Count - 1);
        Assert.Equal(SlowBytesPerSecond, _clients[0].Skip(SlowBytesPerSecond));
    }

    private async Task<StoreServer> StartAsync()
    {
        StoreServer server = await StoreServer.StartAsync(configure: options => options with
        {
            Limits = new ConnectionLimits { MaxBufferBytes = 16 << 20 },
            Clock = _clock,
        });
        Assert.True(server.Store.DefaultCollection.Set("big", TestBytes.Of(BigBytes)));
        Assert.True(server.Store.DefaultCollection.Set("mid", TestBytes.Of(MidBytes)));
        return server;
    }

    // Repeats until the server gives none of the clients more bytes.
    private async Task StallAsync(StoreServer server, WireProtocol protocol, bool hasCredit)
    {
        for (int i = 0; i < 2 * Stalled; i++)
        {
            TestClient client = server.Connect(protocol, receiveBufferBytes: 4096);
            _clients.Add(client);
            if (hasCredit)
            {
                Read(client, protocol, "big", BigBytes);
                Read(client, protocol, "big", BigBytes);
            }
        }

        // The engine must know what was sent before the time moves on.
        while (server.Engine.Connections.Any(connection => connection.BlockedSince != 0 || connection.Output.UnsentBytes > 0))
        {
            await server.Engine.UntilTurnedAsync();
        }

        await AdvanceAsync(server, 1);

        for (int i = 0; i < Stalled; i++)
        {
            Get(_clients[i], protocol, "big", times: 8);
        }

        await UntilStalledAsync(Stalled);
        int used = Stalled;
        while (HasRoom(MidBytes))
        {
            Get(_clients[used++], protocol, "mid", times: 32);
            await UntilStalledAsync(used);
        }

        // Waits until the clients accept no more bytes.
        async Task UntilStalledAsync(int count)
        {
            while (server.Engine.Connections.Count(connection =>
                connection.BlockedSince != 0 || connection.IsAwaitingMemory || connection.IsWaiting) < count)
            {
                await server.Engine.UntilTurnedAsync();
            }
        }

        // A reply that waits for memory is created before those of later requests.
        bool HasRoom(int bytes) => protocol == WireProtocol.Resp
            ? server.Engine.Memory.MayReply(bytes + Margin, hasCredit) && !server.Engine.Connections.Any(connection => connection.IsAwaitingMemory)
            : server.Engine.Memory.RoomForCopies(hasCredit) > bytes + Margin;
    }

    private async Task AdvanceAsync(StoreServer server, int seconds)
    {
        _clock.Advance(TimeSpan.FromSeconds(seconds));
        server.Engine.Wake();
        for (int turn = 0; turn < 8; turn++)
        {
            await server.Engine.UntilTurnedAsync();
        }
    }

    private static void Read(TestClient client, WireProtocol protocol, string key, int bytes)
    {
        Get(client, protocol, key);
        AssertValue(client, protocol, key, bytes);
    }

    // The kernel accepts some MiB for a client that does not read, so one request is not enough to block it.
    private static void Get(TestClient client, WireProtocol protocol, string key, int times = 1)
    {
        byte[] request = protocol switch
        {
            WireProtocol.Resp => Encoding.ASCII.GetBytes($"*2\r\n$3\r\nGET\r\n$3\r\n{key}\r\n"),
            WireProtocol.Memcached => Encoding.ASCII.GetBytes($"get {key}\r\n"),
            _ => BinaryRequest.Make(BinaryRequest.Get, key),
        };
        client.Send([.. Enumerable.Repeat(request, times).SelectMany(bytes => bytes)]);
    }

    private static void AssertValue(TestClient client, WireProtocol protocol, string key, int bytes)
    {
        if (protocol == WireProtocol.Binary)
        {
            Assert.Equal(BinaryRequest.HeadBytes + bytes, client.Skip(BinaryRequest.HeadBytes + bytes));
            return;
        }

        Assert.Equal(protocol == WireProtocol.Resp ? $"${bytes}\r" : $"VALUE {key} 0 {bytes}\r", client.ReadLine());
        Assert.Equal(bytes, client.Skip(bytes));
        Assert.Equal("\r", client.ReadLine());
        if (protocol == WireProtocol.Memcached)
        {
            Assert.Equal("END\r", client.ReadLine());
        }
    }
}
