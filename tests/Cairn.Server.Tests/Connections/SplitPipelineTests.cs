using System.Net.Sockets;
using System.Text;
using Cairn.Server.Tests.Memcached;
using Cairn.Server.Tests.Memcached.Binary;
using Cairn.Server.Tests.Resp;
using Cairn.Server.Tests.Testing;
using Xunit.Abstractions;

namespace Cairn.Server.Tests.Connections;

/// <summary>The network can split a pipeline anywhere. The replies are those to the pipeline in one piece.</summary>
public sealed class SplitPipelineTests(ITestOutputHelper output)
{
    private const int Requests = 20;

    public static TheoryData<WireProtocol, int> Protocols => new()
    {
        { WireProtocol.Memcached, 0 },
        { WireProtocol.Binary, 0 },
        { WireProtocol.Resp, 2 },
        { WireProtocol.Resp, 3 },
    };

    [Theory]
    [MemberData(nameof(Protocols))]
    public async Task Replies_to_a_pipeline_are_the_same_wherever_it_is_split(WireProtocol protocol, int version)
    {
        await using StoreServer server = await StoreServer.StartAsync();
        using var witness = new MemcachedPeer(server.EndPoint(WireProtocol.Memcached));
        var run = new SeededRun(output, part: 0);
        foreach (int seed in run.Seeds(inShort: 1, inPartOfLong: 100))
        {
            byte[] pipeline = Make(new Random(seed), protocol, version);
            string whole = Ask(pipeline, []);

            Check(Enumerable.Range(1, pipeline.Length - 1), "at each byte");
            for (int cut = 1; cut < pipeline.Length; cut++)
            {
                Check([cut], $"at byte {cut}");
            }

            void Check(IEnumerable<int> cuts, string where)
            {
                string split = Ask(pipeline, cuts);
                Assert.True(whole == split, $"{run.Replay(seed)}\nSplit {where}: {split}\nWhole: {whole}");
            }
        }

        // The server has one worker. So after a reply to the witness, it has seen the piece that was sent before.
        string Ask(byte[] pipeline, IEnumerable<int> cuts)
        {
            using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = 30_000 };
            socket.Connect(server.EndPoint(protocol));
            int start = 0;
            foreach (int cut in cuts)
            {
                MemcachedPeer.Send(socket, pipeline.AsSpan(start..cut));
                witness.AwaitSeen();
                start = cut;
            }

            MemcachedPeer.Send(socket, pipeline.AsSpan(start));
            byte[] replies = witness.ReadToEnd(socket);
            Assert.NotEmpty(replies);
            return protocol switch
            {
                WireProtocol.Memcached => MemcachedPeer.Normal(Encoding.Latin1.GetString(replies)),
                WireProtocol.Binary => string.Join('\n', BinaryReply.ReadAll(replies).Select(reply => reply.ToNormalText())),
                _ => ReplyTexts.WithoutNumbers(Encoding.Latin1.GetString(replies)),
            };
        }
    }

    // The store is emptied first, so that each run begins with the same content.
    private static byte[] Make(Random random, WireProtocol protocol, int version) => protocol switch
    {
        WireProtocol.Memcached => Encoding.Latin1.GetBytes("flush_all\r\n" + Memcached.RandomRequests.Make(random, Requests)),
        WireProtocol.Binary => [.. BinaryRequest.Make(BinaryRequest.Flush), .. BinaryRandomRequests.Make(random, Requests)],
        _ => Encoding.Latin1.GetBytes(
            $"FLUSHALL\r\nHELLO {version}\r\n"
            + string.Concat(Resp.RandomRequests.Make(random, Requests, Resp.RandomRequests.ConnectionForms).Select(ReplyTexts.Encode))),
    };
}
