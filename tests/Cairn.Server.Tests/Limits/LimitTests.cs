using Cairn.Server.Connections;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Limits;

/// <summary>Every limit. Only a client that exceeds it is affected.</summary>
public class LimitTests
{
    private static readonly TimeSpan Ten = TimeSpan.FromSeconds(10);

    public static TheoryData<LoopUnderTest> Loops => Testing.Loops.Here;

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task One_connection_too_many_gets_an_error_and_is_closed(LoopUnderTest loop)
    {
        await using var server = await Start(loop, new ConnectionLimits { MaxConnections = 2 });
        using var first = server.Connect();
        TestClient second = server.Connect();
        Assert.Equal("a", Echo(first, "a"));
        Assert.Equal("b", Echo(second, "b"));

        using (var third = server.Connect())
        {
            Assert.Equal("error too many\n", third.ReadToEnd());
            Assert.Equal("c", Echo(first, "c"));
        }

        Assert.Equal(1, server.Engine.RefusedCount);
        second.Dispose();
        server.Sessions.TakeClosed();
        using var fourth = server.Connect();
        Assert.Equal("d", Echo(fourth, "d"));
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Request_of_known_length_beyond_the_limit_is_an_error(LoopUnderTest loop)
    {
        await using var server = await Start(loop, new ConnectionLimits { MaxInputBytesPerConnection = 100_000 });
        using var client = server.Connect();

        client.Send("put 100000\n");
        client.Send(new byte[100_000]);
        Assert.Equal("stored 100000", client.ReadLine());
        client.Send("put 100001\nx");

        Assert.Equal($"error {CloseReason.RequestTooLarge}\n", client.ReadToEnd());
        client.Dispose();
        Assert.Equal(CloseReason.RequestTooLarge, server.Sessions.TakeClosed());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Request_that_never_ends_is_an_error_that_reaches_the_client(LoopUnderTest loop)
    {
        await using var server = await Start(loop, new ConnectionLimits { MaxInputBytesPerConnection = 100_000 });
        using var client = server.Connect();

        client.Send(new byte[150_000]);

        Assert.Equal($"error {CloseReason.RequestTooLarge}\n", client.ReadToEnd());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Client_that_does_not_read_what_others_send_it_is_closed(LoopUnderTest loop)
    {
        await using var server = await Start(loop, new ConnectionLimits { MaxOutputBytesPerConnection = 1 << 20 });
        using var client = TestClient.Connect(server.EndPoint, receiveBufferBytes: 4096);
        ClientConnection connection = server.Sessions.Connected.Take();
        byte[] message = new byte[100_000];

        while (await connection.OnWorker(() => connection.IsOpen))
        {
            connection.Post(c => c.Output.Write(message));
        }

        Assert.Equal(CloseReason.TooMuchOutput, server.Sessions.TakeClosed());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Clients_that_need_more_memory_than_there_is_are_closed_and_small_requests_continue(LoopUnderTest loop)
    {
        await using var server = await Start(loop, new ConnectionLimits { MaxBufferBytes = 6 << 20 }, workers: 1);
        using var modest = server.Connect();
        Assert.Equal("a", Echo(modest, "a"));
        using var greedy = server.Connect();

        greedy.Send("put 20000000\n");
        greedy.SendUntilClosed(new byte[6 << 20]);

        Assert.Equal(CloseReason.OutOfMemory, server.Sessions.TakeClosed());
        Assert.Equal("b", Echo(modest, "b"));
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Idle_connection_is_closed_and_an_active_one_is_not(LoopUnderTest loop)
    {
        var clock = new ManualClock(hasTimers: true);
        await using var server = await Start(loop, new ConnectionLimits { IdleTimeout = Ten }, clock);
        using var idle = server.Connect();
        Assert.Equal("a", Echo(idle, "a"));
        using var active = server.Connect();
        Assert.Equal("a", Echo(active, "a"));

        await Pass(server, clock, 8);
        Assert.Equal("b", Echo(active, "b"));
        await Pass(server, clock, 3);

        Assert.Equal($"error {CloseReason.Idle}\n", idle.ReadToEnd());
        Assert.Equal("c", Echo(active, "c"));
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task No_client_is_idle_for_too_long_by_default(LoopUnderTest loop)
    {
        var clock = new ManualClock(hasTimers: true);
        await using var server = await Start(loop, new ConnectionLimits(), clock);
        using var client = server.Connect();
        Assert.Equal("a", Echo(client, "a"));

        await Pass(server, clock, 1_000_000);

        Assert.Equal("b", Echo(client, "b"));
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Request_must_be_complete_in_time_however_often_a_byte_of_it_arrives(LoopUnderTest loop)
    {
        var clock = new ManualClock(hasTimers: true);
        await using var server = await Start(loop, new ConnectionLimits { RequestTimeout = Ten }, clock);
        using var client = server.Connect();

        foreach (char letter in "echo")
        {
            long executions = server.Sessions.Executions;
            client.Send($"{letter}");
            server.Sessions.WaitForExecutions(executions + 1);
            await Pass(server, clock, 3);
        }

        Assert.Equal($"error {CloseReason.RequestTooSlow}\n", client.ReadToEnd());
    }

    [Fact]
    public async Task Request_that_another_client_has_paused_is_not_late()
    {
        var clock = new ManualClock(hasTimers: true);
        await using StoreServer server = await StoreServer.StartAsync(configure: options => options with
        {
            Clock = clock,
            Limits = new ConnectionLimits { RequestTimeout = Ten },
        });
        using TestClient pausing = server.Connect(WireProtocol.Resp);
        using TestClient waiting = server.Connect(WireProtocol.Resp);
        pausing.Send("CLIENT PAUSE 1000000\r\n");
        Assert.Equal("+OK\r", pausing.ReadLine());
        waiting.Send("PING\r\n");
        Assert.True(SpinWait.SpinUntil(() => server.Engine.Connections.Any(connection => connection.WaitingInputBytes > 0), TimeSpan.FromSeconds(30)));

        clock.Advance(Ten + Ten);
        server.Engine.Wake();
        await server.Engine.UntilTurnedAsync();
        pausing.Send("CLIENT UNPAUSE\r\n");

        Assert.Equal("+OK\r", pausing.ReadLine());
        Assert.Equal("+PONG\r", waiting.ReadLine());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Client_must_read_in_time(LoopUnderTest loop)
    {
        var clock = new ManualClock(hasTimers: true);
        await using var server = await Start(loop, new ConnectionLimits { SlowReaderTimeout = Ten }, clock);
        using var slow = TestClient.Connect(server.EndPoint, receiveBufferBytes: 4096);
        ClientConnection connection = server.Sessions.Connected.Take();
        using var other = server.Connect();

        slow.Send("big 20000000\n");
        await connection.UntilBlocked();
        await Pass(server, clock, 9);
        Assert.True(await connection.OnWorker(() => connection.IsOpen));
        await Pass(server, clock, 2);

        Assert.Equal(CloseReason.ReaderTooSlow, server.Sessions.TakeClosed());
        Assert.Equal("a", Echo(other, "a"));
    }

    // The kernel's buffer hides the client's reads: it accepts more from the server only when a third of it, about a MiB, is free.
    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Client_that_reads_64_KiB_in_time_is_not_cut_off_however_much_the_kernel_holds(LoopUnderTest loop)
    {
        var clock = new ManualClock(hasTimers: true);
        await using var server = await Start(loop, new ConnectionLimits { SlowReaderTimeout = Ten }, clock);
        using var slow = TestClient.Connect(server.EndPoint, receiveBufferBytes: 4096);
        ClientConnection connection = server.Sessions.Connected.Take();
        slow.Send("big 20000000\n");
        await connection.UntilBlocked();

        for (int i = 0; i < 8; i++)
        {
            Assert.Equal(80 << 10, slow.Skip(80 << 10));
            await Pass(server, clock, 9);
            Assert.True(await connection.OnWorker(() => connection.IsOpen));
        }

        await Pass(server, clock, 11);
        Assert.Equal(CloseReason.ReaderTooSlow, server.Sessions.TakeClosed());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Turn_executes_no_more_requests_of_a_connection_than_allowed(LoopUnderTest loop)
    {
        await using var server = await Start(loop, new ConnectionLimits { MaxRequestsPerTurn = 10 });
        using var client = server.Connect();

        client.Send(string.Concat(Enumerable.Repeat("echo x\n", 1000)));
        for (int i = 0; i < 1000; i++)
        {
            Assert.Equal("x", client.ReadLine());
        }

        Assert.InRange(server.Sessions.Executions, 100, 1000);
    }

    [Fact]
    public void Limit_out_of_its_range_is_named()
    {
        ConnectionLimits[] wrong =
        [
            new() { MaxConnections = 0 },
            new() { MaxInputBytesPerConnection = (64 << 10) - 1 },
            new() { MaxOutputBytesPerConnection = (64 << 10) - 1 },
            new() { MaxBufferBytes = (1 << 20) - 1 },
            new() { IdleTimeout = TimeSpan.Zero },
            new() { RequestTimeout = TimeSpan.FromDays(366) },
            new() { SlowReaderTimeout = TimeSpan.FromSeconds(-2) },
            new() { MaxRequestsPerTurn = 0 },
        ];

        Assert.Equal(
            ["MaxConnections", "MaxInputBytesPerConnection", "MaxOutputBytesPerConnection", "MaxBufferBytes", "IdleTimeout", "RequestTimeout", "SlowReaderTimeout", "MaxRequestsPerTurn"],
            wrong.Select(limits => Assert.Throws<ArgumentOutOfRangeException>(limits.Validate).ParamName));
    }

    private static Task<TestServer> Start(LoopUnderTest loop, ConnectionLimits limits, ManualClock? clock = null, int workers = 2) =>
        TestServer.StartAsync(loop, options => options with { Limits = limits, Clock = clock ?? TimeProvider.System, Workers = workers });

    private static string Echo(TestClient client, string text)
    {
        client.Send($"echo {text}\n");
        return client.ReadLine();
    }

    // Moves the time. Returns when every worker has checked its deadlines.
    private static async Task Pass(TestServer server, ManualClock clock, int seconds)
    {
        clock.Advance(TimeSpan.FromSeconds(seconds));
        server.Engine.Wake();
        await server.Engine.UntilTurnedAsync();
        await server.Engine.UntilTurnedAsync();
    }
}
