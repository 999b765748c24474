using System.Net.Sockets;
using System.Text;
using Cairn.Engine;
using Cairn.Server.Connections;
using Cairn.Server.Memcached;
using Cairn.Server.Tests.Testing;
using static Cairn.Server.Tests.Memcached.Binary.BinaryRequest;

namespace Cairn.Server.Tests.Memcached.Binary;

/// <summary>Limits, users and settings of the binary protocol, which memcached has in another form.</summary>
public class BinarySessionTests
{
    private const int BigBytes = 2 << 20;

    // No copy of a big value fits into this limit.
    private static readonly ConnectionLimits NoCopies = new() { MaxOutputBytesPerConnection = 1 << 20 };

    public static TheoryData<LoopUnderTest> Loops => Testing.Loops.Here;

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Both_protocols_are_spoken_on_one_port_with_the_same_entries(LoopUnderTest loop)
    {
        await using StoreServer server = await StoreServer.StartAsync(loop);
        using TestClient text = server.Connect(WireProtocol.Memcached);
        using TestClient binary = server.Connect(WireProtocol.Memcached);

        binary.Send(Store(Set, "key", "12", flags: 7));
        ulong version = ReadReply(binary).Version;
        text.Send("gets key\r\nincr key 1\r\n");

        Assert.Equal([$"VALUE key 7 2 {version}\r", "12\r", "END\r", "13\r"], Enumerable.Range(0, 4).Select(_ => text.ReadLine()));
        binary.Send(Make(GetK, "key"));
        BinaryReply reply = ReadReply(binary);
        Assert.Equal(("key", "13"), (reply.Key, reply.Value));
        Assert.NotEqual(version, reply.Version);
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Connection_waits_for_a_cell_and_is_then_answered_in_order(LoopUnderTest loop)
    {
        await using StoreServer server = await StoreServer.StartAsync(loop, options => options with { Limits = NoCopies });
        Assert.True(server.Store.DefaultCollection.Set("big", TestBytes.Of(BigBytes)));
        Assert.True(server.Store.DefaultCollection.Set("small", "12345"u8));
        using var held = new HeldCells(server.Store);
        using TestClient waiting = server.Connect(WireProtocol.Memcached);
        using TestClient other = server.Connect(WireProtocol.Memcached);

        waiting.Send([.. Make(Get, "small"), .. Make(GetK, "big"), .. WithTime(Gat, "big", 100), .. Make(GetQ, "none"), .. Make(Noop)]);
        Assert.Equal("12345", ReadReply(waiting).Value);
        while (server.Engine.CellQueue.Count != 1)
        {
            await server.Engine.UntilTurnedAsync();
        }

        other.Send(Make(Get, "small"));
        Assert.Equal("12345", ReadReply(other).Value);
        held.Dispose();

        Assert.Equal(BigBytes, ReadReply(waiting).Value.Length);
        Assert.Equal(BigBytes, ReadReply(waiting).Value.Length);
        Assert.Equal(Noop, ReadReply(waiting).Opcode);
        Assert.Equal(0, server.Engine.CellQueue.Count);
        Assert.False(server.Store.Engine.Owners.HasPins);
    }

    [Fact]
    public async Task Large_value_is_sent_as_the_client_reads_and_released_when_it_leaves()
    {
        await using StoreServer server = await StoreServer.StartAsync();
        Assert.True(server.Store.DefaultCollection.Set("big", TestBytes.Of(8 << 20)));
        TestClient client = server.Connect(WireProtocol.Memcached, receiveBufferBytes: 4096);

        client.Send([.. Make(Get, "big"), .. Make(Get, "big")]);
        Assert.Equal(24, client.Read(24).Length);
        await server.Engine.Connections.Single().UntilBlocked();

        Assert.InRange(server.Engine.Memory.Bytes, 0, 2 << 20);
        Assert.True(server.Store.Engine.Owners.HasPins);
        client.Reset();
        while (server.Engine.ConnectionCount != 0)
        {
            await server.Engine.UntilTurnedAsync();
        }

        Assert.False(server.Store.Engine.Owners.HasPins);
    }

    [Fact]
    public async Task Value_that_is_too_large_is_refused_before_it_arrives_and_is_not_buffered()
    {
        await using StoreServer server = await StoreServer.StartAsync();
        using TestClient client = server.Connect(WireProtocol.Memcached);
        byte[] request = Store(Set, "key", new string('x', 140 << 20));
        client.Send(Store(Set, "key", "old"));
        ReadReply(client);

        client.Send(request.AsSpan(0, 100));
        BinaryReply refusal = ReadReply(client);
        client.Send(request.AsSpan(100, 120 << 20));
        client.UntilDelivered();
        long memory = server.Engine.Memory.Bytes;
        client.Send([.. request.AsSpan(100 + (120 << 20)), .. Make(Get, "key")]);

        Assert.Equal((3, "Too large."), (refusal.Status, refusal.Value));
        Assert.InRange(memory, 0, 60 << 20); // 120 MiB were sent. A loop's receive buffers count, too: at most 32 MiB.
        Assert.Equal(1, ReadReply(client).Status);
    }

    [Fact]
    public async Task Request_of_another_protocol_ends_a_binary_connection_without_a_reply()
    {
        await using StoreServer server = await StoreServer.StartAsync();
        using TestClient client = server.Connect(WireProtocol.Memcached);

        client.Send([.. Make(Noop), .. "get a\r\n"u8]);

        Assert.Equal(Noop, ReadReply(client).Opcode);
        Assert.Equal("", client.ReadToEnd());
    }

    [Fact]
    public async Task Body_of_an_unknown_opcode_is_skipped()
    {
        await using StoreServer server = await StoreServer.StartAsync();
        using TestClient client = server.Connect(WireProtocol.Memcached);

        client.Send([.. Make(0x60, "key", new byte[8], "value", opaque: 3), .. Make(Noop)]);

        Assert.Equal((0x81, 3u, "Unknown command"), ReadReply(client) is var reply ? (reply.Status, reply.Opaque, reply.Value) : default);
        Assert.Equal(Noop, ReadReply(client).Opcode);
    }

    [Fact]
    public async Task Verbosity_is_accepted()
    {
        await using StoreServer server = await StoreServer.StartAsync();
        using TestClient client = server.Connect(WireProtocol.Memcached);

        client.Send(Make(Verbosity, "", Bytes(2)));

        Assert.Equal((Verbosity, (ushort)0), ReadReply(client) is var reply ? (reply.Opcode, reply.Status) : default);
    }

    [Fact]
    public async Task General_statistics_are_those_of_the_text_protocol()
    {
        await using StoreServer server = await StoreServer.StartAsync();
        using TestClient text = server.Connect(WireProtocol.Memcached);
        using TestClient binary = server.Connect(WireProtocol.Memcached);

        text.Send("stats settings\r\n");
        binary.Send(Make(Stat, "settings"));

        var named = new List<string>();
        for (BinaryReply reply = ReadReply(binary); reply.Key.Length > 0; reply = ReadReply(binary))
        {
            named.Add($"STAT {reply.Key} {reply.Value}\r");
        }

        Assert.Equal(named, Enumerable.Range(0, named.Count).Select(_ => text.ReadLine()));
        Assert.Equal("END\r", text.ReadLine());
    }

    [Theory]
    [InlineData(MemcachedWireFormat.Text, "", "VERSION N\r\n")]
    [InlineData(MemcachedWireFormat.Binary, "?\a", "")]
    public async Task Server_can_be_limited_to_one_protocol(MemcachedWireFormat form, string binaryReply, string textReply)
    {
        await using StoreServer server = await StoreServer.StartAsync(memcached: new MemcachedOptions { WireFormat = form });
        using TestClient binary = server.Connect(WireProtocol.Memcached);
        using TestClient text = server.Connect(WireProtocol.Memcached);

        binary.Send([.. Make(Quit), .. "\r\nquit\r\n"u8]);
        text.Send("version\r\nquit\r\n");

        Assert.Equal(binaryReply, binary.ReadToEnd().TrimEnd('\0'));
        Assert.Equal(textReply, text.ReadToEnd().Replace(new ServerOptions().MemcachedVersion, "N", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Users_authenticate_with_plain_in_one_step_or_two()
    {
        await using StoreServer server = await StartWithUserAsync();
        using TestClient client = server.Connect(WireProtocol.Memcached);

        client.Send([.. Make(SaslList), .. Make(ShowVersion), .. Make(SaslAuth, "PLAIN", value: "\0ann\0secret"), .. Store(Set, "a", "1")]);
        Assert.Equal("PLAIN", ReadReply(client).Value);
        Assert.Equal(0, ReadReply(client).Status);
        Assert.Equal("Authenticated", ReadReply(client).Value);
        Assert.Equal(0, ReadReply(client).Status);

        using TestClient inTwoSteps = server.Connect(WireProtocol.Memcached);
        inTwoSteps.Send([.. Make(SaslAuth, "PLAIN"), .. Make(SaslStep, "PLAIN", value: "ann\0ann\0secret"), .. Make(Get, "a")]);
        Assert.Equal(0x21, ReadReply(inTwoSteps).Status);
        Assert.Equal("Authenticated", ReadReply(inTwoSteps).Value);
        Assert.Equal("1", ReadReply(inTwoSteps).Value);
    }

    [Theory]
    [InlineData("PLAIN", "\0ann\0wrong")]
    [InlineData("PLAIN", "\0bob\0secret")]
    [InlineData("PLAIN", "ann\0secret")]
    [InlineData("PLAIN", "annsecret")]
    [InlineData("CRAM-MD5", "\0ann\0secret")]
    public async Task Wrong_authentication_is_refused_and_leaves_no_user(string mechanism, string message)
    {
        await using StoreServer server = await StartWithUserAsync();
        using TestClient client = server.Connect(WireProtocol.Memcached);

        client.Send([.. Make(SaslAuth, "PLAIN", value: "\0ann\0secret"), .. Make(SaslAuth, mechanism, value: message), .. Make(Get, "a")]);

        Assert.Equal(0, ReadReply(client).Status);
        Assert.Equal(0x20, ReadReply(client).Status);
        Assert.Equal(0x20, ReadReply(client).Status);
        Assert.Equal("", client.ReadToEnd());
    }

    [Fact]
    public async Task Without_a_user_each_other_request_ends_the_connection()
    {
        await using StoreServer server = await StartWithUserAsync();
        foreach (byte[] request in new[] { Make(Noop), Make(Get, "a"), Make(0x60), Make(Noop, "x"), Store(Set, "a", new string('x', 50_000_000))[..60], Make(SaslStep, "PLAIN", value: "\0ann\0secret") })
        {
            using TestClient client = server.Connect(WireProtocol.Memcached);
            client.Send([.. request, .. request[1] == SaslStep ? Make(Noop) : []]);

            Assert.Equal((0x20, "Auth failure."), ReadReply(client) is var reply ? (reply.Status, reply.Value) : default);
        }

        Assert.Equal(0, server.Store.GetStatistics().Totals.Entries);
    }

    [Fact]
    public async Task Long_message_of_an_authentication_is_skipped()
    {
        await using StoreServer server = await StartWithUserAsync();
        using TestClient client = server.Connect(WireProtocol.Memcached);

        client.Send([.. Make(SaslAuth, "PLAIN", value: new string('x', 40 << 20)), .. Make(SaslAuth, new string('M', 33), value: "x"), .. Make(ShowVersion)]);

        Assert.Equal([0x82, 0x04, 0x00], Enumerable.Range(0, 3).Select(_ => (int)ReadReply(client).Status));
        Assert.InRange(server.Engine.Memory.Bytes, 0, 8 << 20);
    }

    private static Task<StoreServer> StartWithUserAsync() => StoreServer.StartAsync(
        memcached: new MemcachedOptions { Credentials = MemcachedCredentials.Parse("ann:secret", "test") });

    private static BinaryReply ReadReply(TestClient client)
    {
        byte[] header = client.Read(24);
        Assert.Equal(24, header.Length);
        byte[] body = client.Read(System.Buffers.Binary.BinaryPrimitives.ReadInt32BigEndian(header.AsSpan(8)));
        return Assert.Single(BinaryReply.ReadAll([.. header, .. body]));
    }
}
