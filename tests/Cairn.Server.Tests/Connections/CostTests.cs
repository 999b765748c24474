using System.Text;
using Cairn.Server.Connections;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Connections;

/// <summary>The cost of requests and of idle connections.</summary>
public class CostTests
{
    public static TheoryData<LoopUnderTest> Loops => Testing.Loops.Here;

    public static TheoryData<LoopUnderTest, WireProtocol> LoopsAndProtocols
    {
        get
        {
            var pairs = new TheoryData<LoopUnderTest, WireProtocol>();
            foreach (LoopUnderTest loop in Testing.Loops.All)
            {
                pairs.Add(loop, WireProtocol.Memcached);
                pairs.Add(loop, WireProtocol.Resp);
            }

            return pairs;
        }
    }

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

        // 36,000 requests. The remaining allocations come from the measurement itself and from queues that grew.
        long allocated = await connection.OnWorker(GC.GetAllocatedBytesForCurrentThread) - before;

        // An object per round would take at least 24 bytes each. A queue may have grown once.
        Assert.InRange(allocated, 0, 8 * Rounds);

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
    [MemberData(nameof(LoopsAndProtocols))]
    public async Task Nothing_is_allocated_for_usual_requests(LoopUnderTest loop, WireProtocol protocol)
    {
        const int Rounds = 2000;
        await using var server = await StoreServer.StartAsync(loop);
        using TestClient client = server.Connect(protocol);
        (string Sent, string Received)[] steps = UsualRequests(protocol);
        Run(500);
        ClientConnection connection = server.Engine.Connections.Single();
        long before = await connection.OnWorker(GC.GetAllocatedBytesForCurrentThread);

        Run(Rounds);

        long allocated = await connection.OnWorker(GC.GetAllocatedBytesForCurrentThread) - before;

        // An object per round would take at least 24 bytes each. A queue may have grown once.
        Assert.InRange(allocated, 0, 8 * Rounds);

        void Run(int rounds)
        {
            for (int i = 0; i < rounds; i++)
            {
                foreach ((string sent, string received) in steps)
                {
                    client.Send(sent);
                    Assert.Equal(received.Length, client.Skip(received.Length));
                }
            }
        }
    }

    [Theory]
    [MemberData(nameof(LoopsAndProtocols))]
    public async Task Five_thousand_idle_connections_cost_less_than_20_MB(LoopUnderTest loop, WireProtocol protocol)
    {
        const int Most = 5000;
        await using var server = await StoreServer.StartAsync(loop, options => options with { Workers = 2 });
        using TestClient first = server.Connect(protocol); // Creates everything that is created once.
        (string sent, string received) = UsualRequests(protocol)[0];
        first.Send(sent);
        Assert.Equal(received.Length, first.Skip(received.Length));

        // Blocks of input and output are managed memory too. Only the ring's buffers are not; their number does not depend on the connections.
        long before = GC.GetTotalMemory(forceFullCollection: true);
        using RawClients clients = RawClients.Connect(server.EndPoint(protocol), Most);
        for (int i = 0; i < clients.Count; i++)
        {
            clients.Send(i, Encoding.ASCII.GetBytes(sent)); // Each connection works before it is idle.
        }

        for (int i = 0; i < clients.Count; i++)
        {
            clients.Expect(i, Encoding.ASCII.GetBytes(received));
        }

        long after = GC.GetTotalMemory(forceFullCollection: true);
        Assert.Equal(clients.Count + 1, server.Engine.ConnectionCount);
        Assert.InRange((after - before) / clients.Count, 0, 20_000_000 / Most);
    }

    // Single, pipelined, and long. The first request does not need existing keys.
    private static (string Sent, string Received)[] UsualRequests(WireProtocol protocol)
    {
        string value = new('x', 100);
        string longValue = new('y', 20_000);
        (string set, string stored, string get, string found, string setLong, string getLong, string foundLong) = protocol == WireProtocol.Memcached
            ? ($"set key 0 0 100\r\n{value}\r\n", "STORED\r\n", "get key\r\n", $"VALUE key 0 100\r\n{value}\r\nEND\r\n",
                $"set long 0 0 20000\r\n{longValue}\r\n", "get long\r\n", $"VALUE long 0 20000\r\n{longValue}\r\nEND\r\n")
            : ($"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$100\r\n{value}\r\n", "+OK\r\n", "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n", $"$100\r\n{value}\r\n",
                $"*3\r\n$3\r\nSET\r\n$4\r\nlong\r\n$20000\r\n{longValue}\r\n", "*2\r\n$3\r\nGET\r\n$4\r\nlong\r\n", $"$20000\r\n{longValue}\r\n");
        return
        [
            (set, stored),
            (get, found),
            (string.Concat(Enumerable.Repeat(get + set, 16)), string.Concat(Enumerable.Repeat(found + stored, 16))),
            (setLong, stored),
            (getLong + get, foundLong + found),
        ];
    }
}
