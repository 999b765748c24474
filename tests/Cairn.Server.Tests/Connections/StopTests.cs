using System.Net.Sockets;
using Cairn.Server.Connections;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Connections;

/// <summary>A stop completes the requests that were received, and ends in time.</summary>
public class StopTests
{
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(60);

    public static TheoryData<LoopUnderTest> Loops => Testing.Loops.Here;

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Stop_answers_what_was_received_and_closes(LoopUnderTest loop)
    {
        const int Requests = 5000;
        await using var server = await TestServer.StartAsync(loop);
        TestClient[] clients = [.. Enumerable.Range(0, 20).Select(_ => server.Connect())];
        foreach (TestClient client in clients)
        {
            client.Send(string.Concat(Enumerable.Range(0, Requests).Select(i => $"echo {i}\n")));
        }

        for (int i = 0; i < clients.Length; i++)
        {
            server.Sessions.Connected.Take(); // Clients that were not accepted yet have sent nothing to the server.
        }

        await server.Engine.StopAsync(Long);

        foreach (TestClient client in clients)
        {
            for (int i = 0; i < Requests; i++)
            {
                Assert.Equal($"{i}", client.ReadLine());
            }

            Assert.Equal($"error {CloseReason.ServerStopping}\n", client.ReadToEnd());
            client.Dispose();
        }
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Stop_answers_what_the_kernel_has_though_every_thread_of_the_pool_is_busy(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using TestClient first = server.Connect(); // The worker that accepts has this connection and continues.
        ClientConnection other = server.Sessions.Connected.Take();
        using TestClient client = server.Connect();
        ClientConnection connection = server.Sessions.Connected.Take();
        Assert.NotSame(other.Worker, connection.Worker);

        using (new BusyThreadPool())
        {
            client.Send(string.Concat(Enumerable.Range(0, 5000).Select(i => $"echo {i}\n")));
            client.UntilDelivered();
            connection.Worker.Post(() => connection.Worker.BeginDrain(Long));

            for (int i = 0; i < 5000; i++)
            {
                Assert.Equal($"{i}", client.ReadLine());
            }

            Assert.Equal($"error {CloseReason.ServerStopping}\n", client.ReadToEnd());
        }
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Stopped_server_accepts_no_client(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        System.Net.IPEndPoint endPoint = server.EndPoint;

        await server.Engine.StopAsync(Long);

        Assert.Throws<SocketException>(() => TestClient.Connect(endPoint));
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Client_that_does_not_read_is_cut_off_when_the_time_has_passed(LoopUnderTest loop)
    {
        var clock = new ManualClock(hasTimers: true);
        await using var server = await TestServer.StartAsync(loop, options => options with { Clock = clock });
        using var client = TestClient.Connect(server.EndPoint, receiveBufferBytes: 4096);
        client.Send("big 20000000\n");
        ClientConnection connection = server.Sessions.Connected.Take();
        await connection.UntilBlocked();

        Task stopping = server.Engine.StopAsync(TimeSpan.FromSeconds(10));
        await connection.UntilWorker(() => connection.Worker.IsDraining); // The worker's time-out starts now.
        Assert.True(await connection.OnWorker(() => connection.IsOpen));
        clock.Advance(TimeSpan.FromSeconds(11));
        server.Engine.Wake();
        await stopping;

        Assert.Equal(CloseReason.ServerStopped, server.Sessions.TakeClosed());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Stop_while_clients_come_and_work_ends(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        Task working = Task.WhenAll(Enumerable.Range(0, 3).Select(_ => OwnThread.Run(() =>
        {
            try
            {
                while (true)
                {
                    using TestClient client = server.Connect();
                    for (int i = 0; i < 20; i++)
                    {
                        client.Send("echo x\n");
                        if (client.ReadLine() != "x")
                        {
                            return;
                        }
                    }
                }
            }
            catch (SocketException)
            {
                // The server has stopped.
            }
        })));
        server.Sessions.WaitForExecutions(500);

        await server.Engine.StopAsync(Long);

        await working;
        Assert.Equal(0, server.Engine.ConnectionCount);
    }

    // Occupies all threads of the runtime's pool until the end. The runtime adds threads now and then, so more waits than threads are
    // queued.
    private sealed class BusyThreadPool : IDisposable
    {
        private const int Waits = 1000;

        private readonly ManualResetEventSlim _end = new();
        private int _waiting;

        public BusyThreadPool()
        {
            ThreadPool.GetMaxThreads(out int all, out _);
            ThreadPool.GetAvailableThreads(out int free, out _);
            for (int i = 0; i < Waits; i++)
            {
                ThreadPool.UnsafeQueueUserWorkItem(static pool => pool.WaitForEnd(), this, preferLocal: false);
            }

            // Other threads are busy with the test itself. If one is still free after the wait, the test proves less.
            SpinWait.SpinUntil(() => Volatile.Read(ref _waiting) + all - free >= ThreadPool.ThreadCount, TimeSpan.FromSeconds(5));
        }

        public void Dispose()
        {
            _end.Set();
            Assert.True(SpinWait.SpinUntil(() => Volatile.Read(ref _waiting) == -Waits, Long));
            _end.Dispose();
        }

        private void WaitForEnd()
        {
            Interlocked.Increment(ref _waiting);
            _end.Wait();
            Interlocked.Add(ref _waiting, -2);
        }
    }
}
