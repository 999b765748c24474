using System.Net;
using System.Text;
using Cairn.Server.Connections;
using Cairn.Server.Io;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Connections;

/// <summary>What requests and silent connections cost.</summary>
public class CostTests
{
    public static TheoryData<LoopUnderTest> Loops => Testing.Loops.Here;

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Worker_allocates_nothing_for_requests(LoopUnderTest loop)
    {
        const int Rounds = 2000;
        await using var server = await TestServer.StartAsync(loop, options => options with { Workers = 1 });
        using var client = server.Connect();
        ClientConnection connection = server.Sessions.Connected.Take();
        byte[] requests = Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat("echo hello\n", 16)) + "put 5000\n" + new string('x', 5000) + "big 40000\n");
        int replyBytes = (16 * 6) + "stored 5000\n".Length + 40_000;
        Run(500);
        long before = await connection.OnWorker(GC.GetAllocatedBytesForCurrentThread);

        Run(Rounds);

        // 36,000 requests; what is left is the measuring itself, and queues that grew.
        long allocated = await connection.OnWorker(GC.GetAllocatedBytesForCurrentThread) - before;
        Assert.InRange(allocated, 0, Rounds);

        void Run(int rounds)
        {
            for (int i = 0; i < rounds; i++)
            {
                client.Send(requests);
                Assert.Equal(replyBytes, client.Skip(replyBytes));
            }
        }
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Five_thousand_idle_connections_cost_less_than_20_MB(LoopUnderTest loop)
    {
        const int Count = 5000;
        LinuxSockets.RaiseDescriptorLimit((2 * Count) + 1000);
        await using var server = await TestServer.StartAsync(loop);
        int[] clients = new int[Count];
        byte[] address = Address(server.EndPoint);

        // Blocks of input and output are the collector's too; only the ring's buffers are not, which do not grow with connections.
        long before = GC.GetTotalMemory(forceFullCollection: true);

        for (int i = 0; i < Count; i++)
        {
            clients[i] = Connect(address);
        }

        for (int i = 0; i < Count; i++)
        {
            LinuxSockets.TrySend(clients[i], "echo hello\n"u8); // Each has worked before it is idle.
        }

        for (int i = 0; i < Count; i++)
        {
            ReceiveReply(clients[i]);
        }

        long after = GC.GetTotalMemory(forceFullCollection: true);
        Assert.Equal(Count, server.Engine.ConnectionCount);
        Assert.InRange(after - before, 0, 20_000_000);
        Array.ForEach(clients, LinuxSockets.CloseDescriptor);
    }

    private static byte[] Address(IPEndPoint endPoint)
    {
        SocketAddress address = endPoint.Serialize();
        return address.Buffer.Span[..address.Size].ToArray();
    }

    // By system calls: the clients' own memory is not what is measured.
    private static unsafe int Connect(byte[] address)
    {
        int descriptor = LinuxSockets.Socket(LinuxSockets.InternetFamily, LinuxSockets.Stream | LinuxSockets.CloseOnExec, 0);
        fixed (byte* start = address)
        {
            Assert.Equal(0, LinuxSockets.Connect(descriptor, start, (uint)address.Length));
        }

        return descriptor;
    }

    private static unsafe void ReceiveReply(int descriptor)
    {
        byte* reply = stackalloc byte[6];
        Assert.Equal(6, LinuxSockets.Receive(descriptor, reply, 6, LinuxSockets.WaitAll));
    }
}
