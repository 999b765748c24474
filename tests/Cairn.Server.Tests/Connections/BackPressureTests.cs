using System.Net.Sockets;
using System.Text;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Connections;

/// <summary>A client that reads slowly, or never stops sending, affects only itself.</summary>
public class BackPressureTests
{
    public static TheoryData<LoopUnderTest> Loops => Testing.Loops.Here;

    /// <summary>Gets the loops that receive arrived bytes at once, without a thread of the runtime in between.</summary>
    public static TheoryData<LoopUnderTest> DirectLoops => [.. Testing.Loops.All.Where(loop => loop != LoopUnderTest.Sockets)];

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Client_that_does_not_read_is_not_served_further_and_gets_everything_when_it_reads(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop, options => options with { Workers = 1 });
        using var slow = TestClient.Connect(server.EndPoint, receiveBufferBytes: 4096);
        using var other = server.Connect();
        const int Requests = 400;
        const int Bytes = 50_000;

        slow.Send(string.Concat(Enumerable.Repeat($"big {Bytes}\n", Requests)));
        ClientConnection connection = server.Sessions.Connected.Take();
        await connection.UntilBlocked();
        long executions = server.Sessions.Executions;
        for (int i = 0; i < 100; i++)
        {
            other.Send("echo still here\n");
            Assert.Equal("still here", other.ReadLine());
        }

        Assert.InRange(server.Sessions.Executions - executions, 100, 150); // The kernel may have taken a little more meanwhile.

        // The unsent bytes are a full output and the reply that filled it.
        Assert.InRange(await connection.OnWorker(() => connection.Output.UnsentBytes), 1, OutputBuffer.FullBytes + Bytes);
        Assert.InRange(server.Engine.Memory.Bytes, 1, 5 << 20);
        Assert.Equal((long)Requests * Bytes, slow.Skip((long)Requests * Bytes));
        slow.Send("echo done\n");
        Assert.Equal("done", slow.ReadLine());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Client_that_sends_on_while_it_does_not_read_is_stopped_by_its_own_send_buffer(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop, options => options with { Workers = 1 });
        using var client = TestClient.Connect(server.EndPoint, receiveBufferBytes: 4096);
        string request = $"echo {new string('x', 94)}\n";
        byte[] requests = Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat(request, 10_000)));

        // Sends until nothing more is accepted, neither by the server, which has stopped receiving, nor by the kernel.
        client.Send("big 10000000\n");
        ClientConnection connection = server.Sessions.Connected.Take();
        await connection.UntilBlocked();
        client.Socket.Blocking = false;
        long sent = 0;
        do
        {
            sent += client.SendWhatIsTaken(requests.AsSpan((int)(sent % requests.Length)));
        }
        while (client.Socket.Poll(TimeSpan.FromMilliseconds(200), SelectMode.SelectWrite) || !await connection.OnWorker(() => connection.IsReceivePaused));

        Assert.InRange(server.Engine.Memory.Bytes, 1, 24 << 20);
        Assert.InRange(connection.WaitingInputBytes, 0, 2 << 20);
        client.Socket.Blocking = true;
        long expected = 10_000_000 + (sent / request.Length * (request.Length - "echo ".Length));
        Assert.Equal(expected, client.Skip(expected));
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task More_input_than_there_are_receive_buffers_is_received_when_there_are_some(LoopUnderTest loop)
    {
        const int Clients = 64;
        await using var server = await TestServer.StartAsync(loop, options => options with { Workers = 1 });
        TestClient[] clients = [.. Enumerable.Range(0, Clients).Select(_ => server.Connect())];
        ClientConnection connection = server.Sessions.Connected.Take();
        for (int i = 1; i < Clients; i++)
        {
            server.Sessions.Connected.Take();
        }

        byte[] requests = Encoding.ASCII.GetBytes(string.Concat(Enumerable.Range(0, 20_000).Select(i => $"echo {i % 10}\n")));
        using var held = new ManualResetEventSlim();
        connection.Worker.Post(held.Wait);
        int[] sent = new int[Clients];
        for (int i = 0; i < Clients; i++)
        {
            clients[i].Socket.Blocking = false;
            while (sent[i] < requests.Length && clients[i].SendWhatIsTaken(requests.AsSpan(sent[i])) is > 0 and var taken)
            {
                sent[i] += taken;
            }

            clients[i].Socket.Blocking = true;
        }

        Assert.True(sent.Sum(bytes => (long)bytes) > 256 * (16 << 10)); // 256 buffers exist at the start.
        held.Set();

        foreach ((TestClient client, int bytes) in clients.Zip(sent))
        {
            for (int i = 0; i < bytes / "echo 0\n".Length; i++)
            {
                Assert.Equal($"{i % 10}", client.ReadLine());
            }

            client.Dispose();
        }
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Pipeline_that_never_ends_does_not_starve_the_others(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop, options => options with { Workers = 1 });
        using var endless = server.Connect();
        using var other = server.Connect();
        byte[] requests = Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat("echo x\n", 10_000)));
        using var stop = new CancellationTokenSource();
        long sentBytes = 0;
        Task sending = OwnThread.Run(() =>
        {
            while (!stop.IsCancellationRequested)
            {
                endless.Send(requests);
                sentBytes += requests.Length;
            }
        });
        long readBytes = 0;
        Task reading = OwnThread.Run(() =>
        {
            while (!stop.IsCancellationRequested)
            {
                readBytes += endless.Skip(2 * 10_000);
            }
        });

        for (int i = 0; i < 200; i++)
        {
            other.Send($"echo {i}\n");
            Assert.Equal($"{i}", other.ReadLine());
        }

        await stop.CancelAsync();
        await reading;
        await sending; // The kernel's buffers hold the unread bytes and the rest.
        Assert.Equal(sentBytes / "echo x\n".Length * 2, readBytes + endless.Skip((sentBytes / "echo x\n".Length * 2) - readBytes));
    }

    [Theory]
    [MemberData(nameof(DirectLoops))]
    public async Task Request_among_endless_pipelines_is_executed_in_one_of_the_next_turns(LoopUnderTest loop)
    {
        const int Others = 50;
        await using var server = await TestServer.StartAsync(loop, options => options with { Workers = 1 });
        TestClient[] others = [.. Enumerable.Range(0, Others).Select(_ => server.Connect())];
        for (int i = 0; i < Others; i++)
        {
            server.Sessions.Connected.Take();
        }

        using var client = server.Connect();
        ClientConnection connection = server.Sessions.Connected.Take();

        // Everything has arrived before the worker collects input; the single request arrived last.
        using var mayGoOn = new ManualResetEventSlim();
        Task held = connection.OnWorker(mayGoOn.Wait);
        Array.ForEach(others, other => other.Send(string.Concat(Enumerable.Repeat("echo x\n", 5000))));
        Array.ForEach(others, other => other.UntilDelivered());
        client.Send("echo hello\n");
        client.UntilDelivered();
        long executions = server.Sessions.Executions;
        mayGoOn.Set();

        Assert.Equal("hello", client.ReadLine());
        Assert.InRange(((TestSession)connection.Session).LastExecution - executions, 1, 2 * Others);
        await held;
        Array.ForEach(others, other => other.Dispose());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Clients_that_have_sent_half_a_request_cost_the_others_nothing(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop, options => options with { Workers = 1 });
        using RawClients others = RawClients.Connect(server.EndPoint, 1000);
        for (int i = 0; i < others.Count; i++)
        {
            others.Send(i, "put 10\nxxx"u8);
        }

        server.Sessions.WaitForExecutions(others.Count);
        using var client = server.Connect();
        for (int i = 0; i < 100; i++)
        {
            client.Send("echo hello\n");
            Assert.Equal("hello", client.ReadLine());
        }

        Assert.Equal(others.Count + 100, server.Sessions.Executions);
        for (int i = 0; i < others.Count; i++)
        {
            others.Send(i, "xxxxxxx"u8);
        }

        for (int i = 0; i < others.Count; i++)
        {
            others.Expect(i, "stored 10\n"u8);
        }
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Slow_writer_is_served_byte_by_byte(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var client = server.Connect();

        foreach (char letter in "echo slow\nput 3\nabcecho done\n")
        {
            client.Send($"{letter}");
        }

        Assert.Equal("slow", client.ReadLine());
        Assert.Equal("stored 3", client.ReadLine());
        Assert.Equal("done", client.ReadLine());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Connection_holds_no_buffers_when_it_is_silent(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop, options => options with { Workers = 1 });
        using var client = server.Connect();

        client.Send($"put 3000000\n{new string('x', 3_000_000)}big 3000000\nput 10\nxxx");
        Assert.Equal("stored 3000000", client.ReadLine());
        Assert.Equal(3_000_000, client.Skip(3_000_000));
        ClientConnection connection = server.Sessions.Connected.Take();
        client.Send("xxxxxxxecho end\n");
        Assert.Equal("stored 10", client.ReadLine());
        Assert.Equal("end", client.ReadLine());

        await connection.OnWorker(() =>
        {
            Assert.Equal(0, connection.InputBytes);
            Assert.Null(connection.Output.First);
        });
        Assert.InRange(server.Engine.Memory.Bytes, 0, 5 << 20); // The worker keeps this memory for later connections.
    }
}
