using System.Net.Sockets;
using System.Text;
using Cairn.Server.Connections;
using Cairn.Server.Tests.Testing;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Tests.Connections;

/// <summary>The server executes a client's requests in order and sends the session's replies. It does not matter where requests are split.</summary>
public class EchoTests
{
    public static TheoryData<LoopUnderTest> Loops => Testing.Loops.Here;

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Request_is_answered(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var client = server.Connect();

        client.Send("echo hello\n");

        Assert.Equal("hello", client.ReadLine());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Pipeline_of_any_depth_is_answered_in_order(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var client = server.Connect();

        foreach (int depth in (int[])[2, 16, 100, 1000, 20_000])
        {
            Task sending = OwnThread.Run(() => client.Send(string.Concat(Enumerable.Range(0, depth).Select(i => $"echo {i}\n"))));

            for (int i = 0; i < depth; i++)
            {
                Assert.Equal($"{i}", client.ReadLine());
            }

            await sending;
        }
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Requests_cut_at_every_byte_are_executed_once_each(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var client = server.Connect();
        const string Requests = "echo one\nput 5\n12345echo two\n";

        for (int cut = 1; cut < Requests.Length; cut++)
        {
            long executions = server.Sessions.Executions;
            client.Send(Requests[..cut]);
            server.Sessions.WaitForExecutions(executions + 1); // Otherwise the two parts might arrive together.
            client.Send(Requests[cut..]);

            Assert.Equal("one", client.ReadLine());
            Assert.Equal("stored 5", client.ReadLine());
            Assert.Equal("two", client.ReadLine());
        }
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Requests_cut_at_random_are_answered_in_order(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var client = server.Connect();
        var random = new Random(4711);
        var requests = new StringBuilder();
        var replies = new List<string>();
        for (int i = 0; i < 2000; i++)
        {
            int bytes = random.Next(3) == 0 ? random.Next(50_000) : random.Next(50);
            requests.Append($"put {bytes}\n").Append('x', bytes);
            replies.Add($"stored {bytes}");
        }

        byte[] all = Encoding.ASCII.GetBytes(requests.ToString());
        Task sending = OwnThread.Run(() =>
        {
            for (int sent = 0; sent < all.Length;)
            {
                int count = Math.Min(all.Length - sent, random.Next(1, random.Next(2) == 0 ? 100 : 100_000));
                client.Send(all.AsSpan(sent, count));
                sent += count;
            }
        });

        Assert.All(replies, reply => Assert.Equal(reply, client.ReadLine()));
        await sending;
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Long_request_is_looked_at_when_it_is_complete(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var client = server.Connect();
        const int Bytes = 5_000_000;
        long executions = server.Sessions.Executions;

        client.Send($"put {Bytes}\n");
        client.Send(new byte[Bytes]);

        Assert.Equal($"stored {Bytes}", client.ReadLine());
        Assert.InRange(server.Sessions.Executions - executions, 1, 4);
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Long_reply_arrives_whole(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var client = server.Connect();
        const int Bytes = 8_000_000;

        client.Send($"big {Bytes}\necho after\n");

        Assert.Equal(Bytes, client.Skip(Bytes));
        Assert.Equal("after", client.ReadLine());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Client_that_ends_its_side_still_gets_all_replies(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var client = server.Connect();

        client.Send("echo one\nbig 3000000\necho two\nincomplete");
        client.Socket.Shutdown(SocketShutdown.Send);

        Assert.Equal("one", client.ReadLine());
        Assert.Equal(3_000_000, client.Skip(3_000_000));
        Assert.Equal("two\n", client.ReadToEnd());
        Assert.Equal(CloseReason.ClosedByClient, server.Sessions.TakeClosed());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Session_that_quits_sends_its_replies_first_and_executes_nothing_after(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var client = server.Connect();

        client.Send("echo one\nquit\necho never\n");

        Assert.Equal("one\n", client.ReadToEnd());
        client.Dispose(); // The server waits for it.
        Assert.Equal(CloseReason.ClosedBySession, server.Sessions.TakeClosed());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Session_that_fails_costs_only_its_own_connection(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var other = server.Connect();
        other.Send("echo before\n");
        Assert.Equal("before", other.ReadLine());
        using var client = server.Connect();

        client.Send("throw\n");

        Assert.Equal(CloseReason.SessionFailed, server.Sessions.TakeClosed());
        other.Send("echo after\n");
        Assert.Equal("after", other.ReadLine());
        Assert.Contains(server.Log.Lines, line => line.Level == LogLevel.Error && line.Message.Contains("The client asked for it.", StringComparison.Ordinal));
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Session_can_be_replaced_in_the_middle_of_the_input(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var client = server.Connect();

        client.Send("echo one\nupgrade\necho two\nupgrade\necho three\n");

        Assert.Equal("one", client.ReadLine());
        Assert.Equal("upgraded", client.ReadLine());
        Assert.Equal("two", client.ReadLine());
        Assert.Equal("upgraded", client.ReadLine());
        Assert.Equal("three", client.ReadLine());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Greeting_is_sent_before_the_client_says_anything(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        server.Sessions.Greeting = "welcome\n";

        using var client = server.Connect();

        Assert.Equal("welcome", client.ReadLine());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Connection_knows_its_client_and_what_moved(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var client = server.Connect();

        client.Send("echo hello\n");
        Assert.Equal("hello", client.ReadLine());

        ClientConnection connection = server.Sessions.Connected.Take();
        Assert.Equal(client.Socket.LocalEndPoint, connection.Remote);
        Assert.Equal("test", connection.ListenerName);
        Assert.True(server.Engine.TryFind(connection.Id, out ClientConnection? found));
        Assert.Same(connection, found);
        await connection.OnWorker(() =>
        {
            Assert.Equal(11, connection.BytesReceived);
            Assert.Equal(6, connection.BytesSent);
            Assert.Equal(0, connection.Output.UnsentBytes);
        });
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Requests_that_arrive_together_are_looked_ahead_over(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var client = server.Connect();

        client.Send(string.Concat(Enumerable.Repeat("echo hello\n", 20)));
        for (int i = 0; i < 20; i++)
        {
            Assert.Equal("hello", client.ReadLine());
        }

        Assert.InRange(server.Sessions.Prefetches, 1, 20);
    }
}
