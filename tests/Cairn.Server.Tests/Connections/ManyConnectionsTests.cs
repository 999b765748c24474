using System.Globalization;
using System.Text;
using Cairn.Server.Connections;
using Cairn.Server.Tests.Testing;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Tests.Connections;

/// <summary>Many connections at the same time, and one after the other.</summary>
public class ManyConnectionsTests
{
    public static TheoryData<LoopUnderTest> Loops => Testing.Loops.Here;

    /// <summary>Returns 10,000 for Linux' own loops; for others as many with CAIRN_SERVER=long, else 2,000.</summary>
    private static int ManyFor(LoopUnderTest loop) =>
        loop is LoopUnderTest.Uring or LoopUnderTest.Epoll || Environment.GetEnvironmentVariable("CAIRN_SERVER") == "long"
            ? 10_000
            : 2_000;

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Each_of_many_connections_gets_its_own_replies(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using (RawClients clients = RawClients.Connect(server.EndPoint, ManyFor(loop)))
        {
            for (int round = 0; round < 3; round++)
            {
                for (int i = 0; i < clients.Count; i++)
                {
                    clients.Send(i, Encoding.ASCII.GetBytes($"echo {round} {i}\necho again\n"));
                }

                for (int i = 0; i < clients.Count; i++)
                {
                    clients.Expect(i, Encoding.ASCII.GetBytes($"{round} {i}\nagain\n"));
                }
            }

            Assert.Equal(clients.Count, server.Engine.ConnectionCount);
        }

        for (long i = server.Engine.AcceptedCount; i > 0; i--)
        {
            Assert.Equal(CloseReason.ClosedByClient, server.Sessions.TakeClosed());
        }

        Assert.Equal(0, server.Engine.ConnectionCount);
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Connections_are_dealt_to_workers_evenly(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop, options => options with { Workers = 4 });
        TestClient[] clients = [.. Enumerable.Range(0, 40).Select(_ => server.Connect())];

        foreach (TestClient client in clients)
        {
            client.Send("echo x\n");
            Assert.Equal("x", client.ReadLine());
        }

        var workers = server.Engine.Connections.CountBy(connection => connection.Worker.Index).ToDictionary();
        Assert.Equal(4, workers.Count);
        Assert.All(workers, worker => Assert.Equal(10, worker.Value));
        Array.ForEach(clients, client => client.Dispose());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Storm_of_clients_that_come_and_go_disturbs_no_other_client_and_leaves_nothing_behind(LoopUnderTest loop)
    {
        const int Threads = 4;
        const int Rounds = 300;
        await using var server = await TestServer.StartAsync(loop);
        TestClient steady = server.Connect();

        Task storm = Task.WhenAll(Enumerable.Range(0, Threads).Select(thread => OwnThread.Run(() =>
        {
            for (int i = 0; i < Rounds; i++)
            {
                using TestClient client = server.Connect();
                switch ((thread + i) % 4)
                {
                    case 0: // Sends nothing.
                        break;
                    case 1: // Waits for the reply.
                        client.Send(string.Create(CultureInfo.InvariantCulture, $"echo {i}\n"));
                        Assert.Equal($"{i}", client.ReadLine());
                        break;
                    case 2: // Does not wait for the reply.
                        client.Send("big 100000\n");
                        client.Reset();
                        break;
                    default: // Leaves in the middle of a request.
                        client.Send("put 1000\nxxx");
                        client.Reset();
                        break;
                }
            }
        })));
        for (int i = 0; !storm.IsCompleted; i++)
        {
            steady.Send(string.Create(CultureInfo.InvariantCulture, $"echo {i}\n"));
            Assert.Equal($"{i}", steady.ReadLine());
        }

        await storm;
        steady.Dispose();
        for (int i = 0; i <= Threads * Rounds; i++)
        {
            Assert.Contains(server.Sessions.TakeClosed(), (CloseReason[])[CloseReason.ClosedByClient, CloseReason.Reset]);
        }

        Assert.Equal(0, server.Engine.ConnectionCount);
        Assert.Empty(server.Engine.Connections);
        Assert.InRange(server.Engine.Memory.Bytes, 0, 2 * (5 << 20)); // The two workers keep this memory for later connections.
        Assert.DoesNotContain(server.Log.Lines, line => line.Level >= LogLevel.Warning);
    }
}
