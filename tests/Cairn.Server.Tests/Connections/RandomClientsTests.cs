using System.Net.Sockets;
using System.Text;
using Cairn.Server.Connections;
using Cairn.Server.Tests.Testing;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Tests.Connections;

/// <summary>
/// Clients that send random requests, split anywhere, read at random times and leave in random ways. Each client gets the replies to its own requests,
/// in order and from the first byte on. A client that waits gets all of them.
/// </summary>
public class RandomClientsTests
{
    private const int AtOnce = 6;

    public static TheoryData<LoopUnderTest, int> LoopsAndSeeds
    {
        get
        {
            int seeds = Environment.GetEnvironmentVariable("CAIRN_SERVER") == "long" ? 30 : 2;
            var pairs = new TheoryData<LoopUnderTest, int>();
            foreach (LoopUnderTest loop in Testing.Loops.All)
            {
                for (int seed = 1; seed <= seeds; seed++)
                {
                    pairs.Add(loop, seed);
                }
            }

            return pairs;
        }
    }

    private enum Leaving
    {
        /// <summary>The client closes its side and reads to the end.</summary>
        HalfCloses,

        /// <summary>The client sends quit and further requests, and reads to the end.</summary>
        Quits,

        /// <summary>The client reads its replies and closes.</summary>
        Closes,

        /// <summary>The client resets the connection after it has read some replies; it may not have sent everything.</summary>
        Breaks,
    }

    [Theory]
    [MemberData(nameof(LoopsAndSeeds))]
    public async Task Each_client_gets_its_own_replies_however_it_behaves(LoopUnderTest loop, int seed)
    {
        const int Lives = 40;
        await using var server = await TestServer.StartAsync(loop, options => options with
        {
            Limits = new ConnectionLimits { MaxRequestsPerTurn = 3 },
            Clock = new ManualClock(hasTimers: true), // No client is too slow, even on a busy machine.
        });

        await Task.WhenAll(Enumerable.Range(0, AtOnce).Select(async client =>
        {
            var random = new Random((seed * AtOnce) + client);
            for (int i = 0; i < Lives; i++)
            {
                await LiveAsync(server, random);
            }
        }));

        for (int i = 0; i < AtOnce * Lives; i++)
        {
            Assert.Contains(
                server.Sessions.TakeClosed(), (CloseReason[])[CloseReason.ClosedByClient, CloseReason.ClosedBySession, CloseReason.Reset]);
        }

        Assert.Equal(0, server.Engine.ConnectionCount);
        Assert.DoesNotContain(server.Log.Lines, line => line.Level >= LogLevel.Warning);
    }

    private static async Task LiveAsync(TestServer server, Random random)
    {
        var script = new Script(random);
        var leaving = (Leaving)random.Next(4);
        byte[] requests = leaving == Leaving.Quits
            ? [.. script.Requests, .. "quit\n"u8, .. new byte[random.Next(50_000)]]
            : script.Requests;
        int sentBytes = leaving == Leaving.Breaks ? random.Next(requests.Length) : requests.Length;
        int readBytes = leaving == Leaving.Breaks ? random.Next(script.ReplyBytesFor(sentBytes) + 1) : script.Replies.Length;
        int seed = random.Next();

        using TestClient client = TestClient.Connect(server.EndPoint, random.Next(2) == 0 ? 4096 : null);
        Task sending = OwnThread.Run(() =>
        {
            Send(client, requests.AsSpan(0, sentBytes), new Random(seed));
            if (leaving == Leaving.HalfCloses)
            {
                client.Socket.Shutdown(SocketShutdown.Send);
            }
        });
        byte[] read = await OwnThread.Run(() => client.Read(readBytes));
        Assert.True(script.Replies.AsSpan(0, readBytes).SequenceEqual(read));

        if (leaving == Leaving.Breaks)
        {
            client.Reset();
            await sending.ContinueWith(_ => { }, TaskScheduler.Default); // Sending may have been interrupted by the reset.
            return;
        }

        await sending;
        if (leaving != Leaving.Closes)
        {
            Assert.Equal("", await OwnThread.Run(client.ReadToEnd));
        }
    }

    private static void Send(TestClient client, ReadOnlySpan<byte> bytes, Random random)
    {
        while (!bytes.IsEmpty)
        {
            int count = Math.Min(bytes.Length, random.Next(1, random.Next(2) == 0 ? 20 : 50_000));
            client.Send(bytes[..count]);
            bytes = bytes[count..];
        }
    }

    // Requests, their replies, and the position of the end of each.
    private sealed class Script
    {
        private readonly List<(int RequestEnd, int ReplyEnd)> _ends = [];

        public Script(Random random)
        {
            var requests = new StringBuilder();
            var replies = new StringBuilder();
            for (int i = random.Next(1, 60); i > 0; i--)
            {
                switch (random.Next(8))
                {
                    case 0:
                        int bytes = random.Next(1, random.Next(10) == 0 ? 300_000 : 3000);
                        requests.Append($"big {bytes}\n");
                        replies.Append(string.Create(bytes, bytes, TestSession.FillPattern));
                        break;
                    case 1:
                        int length = random.Next(random.Next(10) == 0 ? 100_000 : 3000);
                        requests.Append($"put {length}\n").Append('x', length);
                        replies.Append($"stored {length}\n");
                        break;
                    case 2:
                        requests.Append("upgrade\n");
                        replies.Append("upgraded\n");
                        break;
                    default:
                        int number = random.Next();
                        requests.Append($"echo {number}\n");
                        replies.Append($"{number}\n");
                        break;
                }

                _ends.Add((requests.Length, replies.Length));
            }

            Requests = Encoding.ASCII.GetBytes(requests.ToString());
            Replies = Encoding.ASCII.GetBytes(replies.ToString());
        }

        public byte[] Requests { get; }

        public byte[] Replies { get; }

        /// <summary>Returns the number of reply bytes when only the first <paramref name="requestBytes"/> bytes were sent.</summary>
        public int ReplyBytesFor(int requestBytes) => _ends.LastOrDefault(ends => ends.RequestEnd <= requestBytes).ReplyEnd;
    }
}
