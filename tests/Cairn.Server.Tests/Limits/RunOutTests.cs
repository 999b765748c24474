using System.Text;
using Cairn.Server.Connections;
using Cairn.Server.Resp;
using Cairn.Server.Resp.Security;
using Cairn.Server.Tests.Memcached.Binary;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Limits;

/// <summary>Clients exhaust limits: others are served, memory stays bounded, and the server recovers (<see cref="RunOut"/>).</summary>
public class RunOutTests
{
    // Other memory of a test's connections: free blocks, and the requests that are executed.
    private const int OtherMemory = 6 << 20;

    [Theory]
    [InlineData(WireProtocol.Memcached, "set k 0 0 4000000\r\n", "SERVER_ERROR")]
    [InlineData(WireProtocol.Resp, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4000000\r\n", "")]
    [InlineData(WireProtocol.Binary, "\x80\x01\0\x01\x08\0\0\0\0\x3d\x09\x09\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0k", "")]
    public async Task Requests_beyond_the_limit_hold_nothing_and_others_are_served(WireProtocol protocol, string request, string reply)
    {
        await using RunOut runOut = await RunOut.StartAsync(new ConnectionLimits { MaxInputBytesPerConnection = 1 << 20 });
        byte[] begun = [.. Encoding.Latin1.GetBytes(request), .. new byte[1 << 20]];

        for (int i = 0; i < 20; i++)
        {
            TestClient client = runOut.Greedy(protocol);
            client.SendUntilClosed(begun);
            Assert.StartsWith(reply, client.ReadLine(), StringComparison.Ordinal);
            runOut.AssertOthersAreServed(OtherMemory + (1 << 20));
        }

        await runOut.AssertRecoversAsync();
    }

    [Fact]
    public async Task Clients_that_are_not_known_hold_little_and_others_are_served()
    {
        await using RunOut runOut = await RunOut.StartAsync(
            new ConnectionLimits(), resp => resp.Users = RespUsers.Parse("default nopass read-write", "users"));
        byte[] begun = Encoding.ASCII.GetBytes("*3\r\n$4\r\nAUTH\r\n$1\r\na\r\n$16384\r\n" + new string('x', 16_000));
        runOut.Server.Resp.Users = RespUsers.WithPassword("secret");

        for (int i = 0; i < 200; i++)
        {
            runOut.Greedy().Send(begun);
        }

        runOut.Greedy().Send("*2\r\n$4\r\nAUTH\r\n$16385\r\n");
        runOut.AssertOthersAreServed(OtherMemory + (200 * (32 << 10)));
        await runOut.AssertRecoversAsync();
    }

    [Theory]
    [InlineData(WireProtocol.Memcached)]
    [InlineData(WireProtocol.Binary)]
    [InlineData(WireProtocol.Resp)]
    public async Task Requests_that_do_not_end_are_closed_in_time_and_hold_nothing_afterwards(WireProtocol protocol)
    {
        await using RunOut runOut = await RunOut.StartAsync(new ConnectionLimits());
        TestClient[] clients = [.. Enumerable.Range(0, 20).Select(_ => runOut.Greedy(protocol))];
        byte[] begun = protocol switch
        {
            WireProtocol.Resp => Encoding.ASCII.GetBytes("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\n" + new string('v', 500_000)),
            WireProtocol.Memcached => Encoding.ASCII.GetBytes("set k 0 0 1000000\r\n" + new string('v', 500_000)),
            _ => BinaryRequest.Store(BinaryRequest.SetQ, "k", new string('v', 1_000_000))[..500_000],
        };

        Array.ForEach(clients, client => client.Send(begun));
        Array.ForEach(clients, client => client.UntilDelivered());
        runOut.AssertOthersAreServed(OtherMemory + (20 << 20));
        await runOut.PassAsync(TimeSpan.FromMinutes(2)); // The deadline was extended for the bytes that arrived since the request began.
        await runOut.PassAsync(TimeSpan.FromMinutes(2));

        Array.ForEach(clients, client => client.ReadToEnd());
        await runOut.AssertRecoversAsync();
        Assert.Equal(20, runOut.Engine.EndedCount(CloseReason.RequestTooSlow));
    }

    [Fact]
    public async Task Reply_that_must_be_made_at_once_is_refused_while_others_are_served()
    {
        await using RunOut runOut = await RunOut.StartAsync(new ConnectionLimits { MaxOutputBytesPerConnection = 64 << 10 });
        TestClient client = runOut.Greedy();
        for (int part = 0; part < 3; part++)
        {
            client.Send($"MSET{string.Concat(Enumerable.Range(1000 * part, 1000).Select(i => $" key-{i:D20} v"))}\r\n");
            Assert.Equal("+OK\r", client.ReadLine());
        }

        for (int i = 0; i < 20; i++)
        {
            client.Send("KEYS *\r\n");
            Assert.StartsWith("-ERR the reply would take more than", client.ReadLine(), StringComparison.Ordinal);
            runOut.AssertOthersAreServed(OtherMemory);
        }

        client.Send("KEYS key-*7777\r\nPING\r\n");
        Assert.Equal("*0\r", client.ReadLine());
        Assert.Equal("+PONG\r", client.ReadLine());
        await runOut.AssertRecoversAsync();
    }

    [Fact]
    public async Task Transactions_with_replies_beyond_the_limit_hold_nothing_and_others_are_served()
    {
        await using RunOut runOut = await RunOut.StartAsync(new ConnectionLimits { MaxOutputBytesPerConnection = 1 << 20 });
        Assert.True(runOut.Server.Store.DefaultCollection.Set("long", TestBytes.Of(100_000)));
        string transaction = $"MULTI\r\n{string.Concat(Enumerable.Repeat("GET long\r\n", 20))}EXEC\r\n";
        TestClient client = runOut.Greedy();

        for (int i = 0; i < 20; i++)
        {
            client.Send(transaction);
            string line;
            while (!(line = client.ReadLine()).StartsWith("-EXECABORT", StringComparison.Ordinal))
            {
                Assert.True(line is "+OK\r" or "+QUEUED\r", line);
            }

            runOut.AssertOthersAreServed(OtherMemory + (1 << 20));
        }

        client.Send("MULTI\r\nGET long\r\nEXEC\r\n");
        Assert.Equal(["+OK\r", "+QUEUED\r", "*1\r", "$100000\r"], [client.ReadLine(), client.ReadLine(), client.ReadLine(), client.ReadLine()]);
        await runOut.AssertRecoversAsync();
    }

    [Fact]
    public async Task Client_that_reads_no_messages_is_closed_and_others_are_served()
    {
        await using RunOut runOut = await RunOut.StartAsync(new ConnectionLimits { MaxOutputBytesPerConnection = 1 << 20 });
        TestClient subscriber = runOut.Greedy();
        subscriber.Send("SUBSCRIBE news\r\n");
        Assert.Equal("*3\r", subscriber.ReadLine());
        TestClient publisher = runOut.Greedy();
        byte[] message = Encoding.ASCII.GetBytes($"*3\r\n$7\r\nPUBLISH\r\n$4\r\nnews\r\n$100000\r\n{new string('m', 100_000)}\r\n");

        do
        {
            publisher.Send(message);
            runOut.AssertOthersAreServed(OtherMemory + (2 << 20));
        }
        while (publisher.ReadLine() == ":1\r");

        Assert.Equal(1, runOut.Engine.EndedCount(CloseReason.TooMuchOutput));
        await runOut.AssertRecoversAsync();
    }

    // The subscriber's reply pauses, so messages wait in its session. Each takes hundreds of bytes beside its single byte.
    [Fact]
    public async Task Short_messages_that_wait_behind_a_reply_cost_at_most_the_memory_of_all_connections()
    {
        const int Limit = 8 << 20;
        await using RunOut runOut = await RunOut.StartAsync(new ConnectionLimits { MaxBufferBytes = Limit });
        Assert.True(runOut.Server.Store.DefaultCollection.Set("long", TestBytes.Of(1 << 20)));
        TestClient subscriber = runOut.Greedy();
        subscriber.Send($"HELLO 3\r\nSUBSCRIBE c\r\nMGET{string.Concat(Enumerable.Repeat(" long", 64))}\r\n");
        while (!runOut.Engine.Connections.Any(connection => connection.BlockedSince != 0))
        {
            await runOut.Engine.UntilTurnedAsync();
        }

        TestClient publisher = runOut.Greedy();
        string messages = string.Concat(Enumerable.Repeat("PUBLISH c m\r\n", 1000));
        for (int i = 0; i < 60; i++)
        {
            publisher.Send(messages);
            Assert.Equal(4000, publisher.Skip(4000));
            runOut.AssertOthersAreServed(Limit + (1 << 20));
        }

        Assert.Equal(1, runOut.Engine.EndedCount(CloseReason.OutOfMemory));
        publisher.Send("PUBLISH c m\r\n");
        Assert.Equal(":0\r", publisher.ReadLine());
        await runOut.AssertRecoversAsync();
    }

    [Theory]
    [InlineData("WATCH")]
    [InlineData("SUBSCRIBE")]
    public async Task State_of_sessions_takes_at_most_the_memory_of_all_connections(string command)
    {
        const int Limit = 8 << 20;
        await using RunOut runOut = await RunOut.StartAsync(new ConnectionLimits { MaxBufferBytes = Limit });
        string names = new('n', 1000);

        for (int client = 0; client < 8; client++)
        {
            TestClient greedy = runOut.Greedy();
            greedy.Send("CLIENT REPLY OFF\r\n"); // With replies, the client would have to read, or its commands would pause.
            for (int i = 0; i < 20; i++)
            {
                greedy.SendUntilClosed(Encoding.ASCII.GetBytes(
                    $"{command}{string.Concat(Enumerable.Range(0, 50).Select(name => $" {names}{i}-{client}-{name}"))}\r\n"));
                runOut.AssertOthersAreServed(Limit + (1 << 20));
            }
        }

        while (runOut.Engine.EndedCount(CloseReason.OutOfMemory) == 0)
        {
            await runOut.Engine.UntilTurnedAsync();
        }

        await runOut.AssertRecoversAsync();
    }

    /// <summary>Gets requests that are long replies, for clients that do not read.</summary>
    public static TheoryData<WireProtocol, string> LongReplies => new()
    {
        { WireProtocol.Memcached, "get long\r\n" },
        { WireProtocol.Memcached, "stats detail dump\r\n" },
        { WireProtocol.Resp, "GET long\r\n" },
        { WireProtocol.Resp, "HGETALL hash\r\n" },
        { WireProtocol.Resp, "HMGET hash a b a b\r\n" },
        { WireProtocol.Resp, "HSCAN hash 0\r\n" },
        { WireProtocol.Binary, Encoding.Latin1.GetString(BinaryRequest.Make(BinaryRequest.GetKQ, "long")) },
        { WireProtocol.Binary, Encoding.Latin1.GetString(BinaryRequest.Make(BinaryRequest.Stat, "detail dump")) },
    };

    [Theory]
    [MemberData(nameof(LongReplies))]
    public async Task Clients_that_do_not_read_hold_at_most_their_share_and_it_comes_back(WireProtocol protocol, string request)
    {
        const int Limit = 16 << 20;
        await using RunOut runOut = await RunOut.StartAsync(new ConnectionLimits { MaxBufferBytes = Limit });
        Assert.True(runOut.Server.Store.DefaultCollection.Set("long", TestBytes.Of(1 << 20)));
        TestClient writer = runOut.Greedy();
        writer.Send(Encoding.ASCII.GetBytes($"*6\r\n$4\r\nHSET\r\n$4\r\nhash\r\n$1\r\na\r\n$500000\r\n{new string('a', 500_000)}\r\n$1\r\nb\r\n$500000\r\n{new string('b', 500_000)}\r\n"));
        Assert.Equal(":2\r", writer.ReadLine());
        TestClient counting = runOut.Greedy(WireProtocol.Memcached);
        counting.Send($"stats detail on\r\n{string.Concat(Enumerable.Range(0, 8000).Select(i => $"get {i:D100}:k\r\n"))}");
        Assert.Equal("OK\r", counting.ReadLine());
        Assert.Equal(8000 * 5, counting.Skip(8000 * 5));

        for (int i = 0; i < 32; i++)
        {
            runOut.Greedy(protocol).Send(Encoding.Latin1.GetBytes(string.Concat(Enumerable.Repeat(request, 8))));
            runOut.AssertOthersAreServed(Limit);
        }

        Assert.Equal(0, runOut.Engine.EndedCount(CloseReason.OutOfMemory));
        await runOut.AssertRecoversAsync();
    }

    [Fact]
    public async Task Subscriptions_of_clients_that_leave_are_forgotten_while_others_are_served()
    {
        await using RunOut runOut = await RunOut.StartAsync(new ConnectionLimits());
        for (int client = 0; client < 3; client++)
        {
            TestClient subscriber = runOut.Greedy();
            subscriber.Send($"HELLO 3\r\nPSUBSCRIBE{string.Concat(Enumerable.Range(0, 1024).Select(i => $" {i}*"))}\r\nPSUBSCRIBE more*\r\n");
            while (!subscriber.ReadLine().StartsWith("-ERR a client subscribes to at most 1024 patterns", StringComparison.Ordinal))
            {
            }

            runOut.AssertOthersAreServed(OtherMemory);
        }

        await runOut.AssertRecoversAsync();
        Assert.Equal(0, runOut.Server.Resp.Messages.PatternCount);
    }

    [Fact]
    public async Task Keys_that_tracking_clients_have_read_are_counted_and_forgotten_when_they_leave()
    {
        await using RunOut runOut = await RunOut.StartAsync(new ConnectionLimits());
        TestClient follower = runOut.Greedy();
        follower.Send("HELLO 3\r\nCLIENT TRACKING ON\r\n");
        string keys = new('k', 1000);

        for (int i = 0; i < 1000; i++)
        {
            follower.Send($"EXISTS {keys}{i}\r\n");
        }

        while (runOut.Server.Resp.Tracking.KeyCount < 1000)
        {
            await runOut.Engine.UntilTurnedAsync();
        }

        Assert.InRange(runOut.Engine.Memory.Bytes, 1_000_000, OtherMemory + 1_500_000);
        runOut.AssertOthersAreServed(OtherMemory + 1_500_000);
        await runOut.AssertRecoversAsync();
    }
}
