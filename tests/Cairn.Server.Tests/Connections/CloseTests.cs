using System.Net.Sockets;
using Cairn.Server.Connections;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Connections;

/// <summary>Before a connection ends, its client gets everything that was written for it. This holds for each side that ends it.</summary>
public class CloseTests
{
    // More than the client's kernel accepts unread, and less than a full output.
    private const int ReplyBytes = 60_000;

    public static TheoryData<LoopUnderTest> Loops => Testing.Loops.Here;

    /// <summary>Gets the protocol, the input, and the bytes received before the end.</summary>
    public static TheoryData<LoopUnderTest, WireProtocol, string, string> LastRequests => Table(
    [
        (WireProtocol.Memcached, "quit\r\n", ""),
        (WireProtocol.Memcached, "set a 0 0 1\r\nx\r\nget a\r\nquit\r\n", "STORED\r\nVALUE a 0 1\r\nx\r\nEND\r\n"),
        (WireProtocol.Memcached, "get a\r\nquit\r\nget a\r\nget", "END\r\n"),
        (WireProtocol.Memcached, "get a\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "END\r\n"),
        (WireProtocol.Resp, "*1\r\n$4\r\nQUIT\r\n", "+OK\r\n"),
        (WireProtocol.Resp, "PING\r\nQUIT\r\nPING\r\n", "+PONG\r\n+OK\r\n"),
        (WireProtocol.Resp, "PING\r\n*1\r\n$x\r\n", "+PONG\r\n-ERR Protocol error: invalid bulk length\r\n"),
    ]);

    /// <summary>Gets the protocol, the input, and the bytes received, for requests after which the client closes its side.</summary>
    public static TheoryData<LoopUnderTest, WireProtocol, string, string> Pipelines => Table(
    [
        (WireProtocol.Memcached, "get a\r\nset a 0 0 1\r\nx\r\nget a\r\nget", "END\r\nSTORED\r\nVALUE a 0 1\r\nx\r\nEND\r\n"),
        (WireProtocol.Resp, "PING\r\n*1\r\n$4\r\nPING\r\nPI", "+PONG\r\n+PONG\r\n"),
    ]);

    [Theory]
    [MemberData(nameof(LastRequests))]
    public async Task Request_that_ends_the_connection_is_followed_by_the_end(LoopUnderTest loop, WireProtocol protocol, string sent, string received)
    {
        await using var server = await StoreServer.StartAsync(loop);
        using TestClient client = server.Connect(protocol);

        client.Send(sent);

        Assert.Equal(received, client.ReadToEnd());
    }

    [Theory]
    [MemberData(nameof(Pipelines))]
    public async Task Client_that_closes_its_side_gets_its_replies_and_the_end(LoopUnderTest loop, WireProtocol protocol, string sent, string received)
    {
        await using var server = await StoreServer.StartAsync(loop);
        using TestClient client = server.Connect(protocol);

        client.Send(sent);
        client.Socket.Shutdown(SocketShutdown.Send);

        Assert.Equal(received, client.ReadToEnd());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Client_that_closes_its_side_and_reads_slowly_gets_a_pipeline_of_replies(LoopUnderTest loop)
    {
        const int Requests = 3000;
        await using var server = await StoreServer.StartAsync(loop);
        using TestClient client = server.Connect(WireProtocol.Memcached, receiveBufferBytes: 4096);
        client.Send($"set a 0 0 1000\r\n{new string('x', 1000)}\r\n");
        Assert.Equal("STORED\r", client.ReadLine());
        ClientConnection connection = server.Engine.Connections.Single();

        client.Send(string.Concat(Enumerable.Repeat("get a\r\n", Requests)));
        client.Socket.Shutdown(SocketShutdown.Send);
        await connection.UntilBlocked();

        long expected = Requests * (long)$"VALUE a 0 1000\r\n{new string('x', 1000)}\r\nEND\r\n".Length;
        Assert.Equal(expected, client.Skip(expected));
        Assert.Equal("", client.ReadToEnd());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Client_that_sent_more_than_was_read_gets_the_last_reply(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var client = TestClient.Connect(server.EndPoint, receiveBufferBytes: 4096);
        ClientConnection connection = server.Sessions.Connected.Take();

        Task sending = OwnThread.Run(() => client.Send($"big {ReplyBytes}\nquit\n{new string('x', 4_000_000)}"));
        await connection.UntilWorker(() => !connection.IsOpen);
        await sending;

        Assert.Equal(ReplyBytes, client.Skip(ReplyBytes));
        Assert.Equal("", client.ReadToEnd());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Client_that_continues_to_send_after_the_end_gets_the_last_reply(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var client = server.Connect();
        ClientConnection connection = server.Sessions.Connected.Take();

        client.Send($"big {ReplyBytes}\nquit\n");
        await connection.UntilWorker(() => connection.State == ConnectionState.Lingering);
        client.Send("echo anybody there?\n");
        client.Send("echo unread\n");

        Assert.Equal(ReplyBytes, client.Skip(ReplyBytes));
        Assert.Equal("", client.ReadToEnd());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Client_that_does_not_hang_up_is_closed_after_a_while(LoopUnderTest loop)
    {
        var clock = new ManualClock(hasTimers: true);
        await using var server = await TestServer.StartAsync(loop, options => options with { Clock = clock });
        using var client = server.Connect();
        ClientConnection connection = server.Sessions.Connected.Take();

        client.Send("quit\n");
        Assert.Equal("", client.ReadToEnd());
        Assert.Equal(ConnectionState.Lingering, await connection.OnWorker(() => connection.State));
        clock.Advance(TimeSpan.FromSeconds(5));
        server.Engine.Wake();

        Assert.Equal(CloseReason.ClosedBySession, server.Sessions.TakeClosed());
        Assert.Equal(0, server.Engine.ConnectionCount);
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Client_that_is_one_too_many_gets_an_error_although_it_has_sent_a_request(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop, options => options with { Limits = new ConnectionLimits { MaxConnections = 1 } });
        using var first = server.Connect();
        first.Send("echo a\n");
        Assert.Equal("a", first.ReadLine());

        for (int i = 0; i < 50; i++)
        {
            using var second = server.Connect();
            second.Send("echo b\n");

            Assert.Equal("error too many", second.ReadLine());
        }
    }

    private static TheoryData<LoopUnderTest, WireProtocol, string, string> Table((WireProtocol Protocol, string Sent, string Received)[] rows)
    {
        var table = new TheoryData<LoopUnderTest, WireProtocol, string, string>();
        foreach (LoopUnderTest loop in Testing.Loops.All)
        {
            Array.ForEach(rows, row => table.Add(loop, row.Protocol, row.Sent, row.Received));
        }

        return table;
    }
}
