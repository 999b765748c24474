using System.Buffers.Binary;
using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Cairn.Server.Tests.Memcached.Binary;

/// <summary>A server that gets requests of the binary protocol.</summary>
internal sealed class BinaryPeer(IPEndPoint server) : IDisposable
{
    // Enough to complete most values that lack bytes. The number of them that are answered shows how many bytes were missing.
    private const int FinalNoops = 100;
    private const uint FirstFinal = 0x46494E00;

    private readonly MemcachedPeer _peer = new(server);

    /// <summary>
    /// Empties the server and sends it these requests on a new connection, in pieces that it receives separately. Returns all replies, and
    /// with <see cref="MemcachedPeer.NoEnd"/> if the server closed the connection before the end.
    /// </summary>
    public string Ask(ReadOnlySpan<byte> requests, params ReadOnlySpan<int> cuts)
    {
        using Socket socket = _peer.Connect();
        MemcachedPeer.Send(socket, BinaryRequest.Make(BinaryRequest.Flush));
        Receive(socket, 24);
        byte[] bytes = [.. requests, .. Enumerable.Range(0, FinalNoops).SelectMany(i => BinaryRequest.Make(BinaryRequest.Noop, opaque: FirstFinal + (uint)i))];
        int start = 0;
        foreach (int cut in cuts)
        {
            MemcachedPeer.Send(socket, bytes.AsSpan(start..cut));
            _peer.AwaitSeen();
            start = cut;
        }

        MemcachedPeer.Send(socket, bytes.AsSpan(start));
        List<BinaryReply> replies = BinaryReply.ReadAll(_peer.ReadToEnd(socket));
        int noops = replies.Count(IsFinal);
        string text = string.Concat(replies.Where(reply => !IsFinal(reply)).Select(reply => reply.ToNormalText() + "\n"));
        return noops == 0 ? text + MemcachedPeer.NoEnd : string.Create(CultureInfo.InvariantCulture, $"{text}({noops} x noop)\n");
    }

    /// <summary>Opens a connection for <see cref="AskOne"/>.</summary>
    public Socket Connect() => _peer.Connect();

    /// <summary>Sends a request, and returns its replies.</summary>
    public static List<BinaryReply> AskOne(Socket socket, byte[] request)
    {
        MemcachedPeer.Send(socket, [.. request, .. BinaryRequest.Make(BinaryRequest.Noop, opaque: 77)]);
        var bytes = new List<byte>();
        while (true)
        {
            byte[] header = Receive(socket, 24);
            bytes.AddRange(header);
            bytes.AddRange(Receive(socket, BinaryPrimitives.ReadInt32BigEndian(header.AsSpan(8))));
            if (header[1] == BinaryRequest.Noop)
            {
                return [.. BinaryReply.ReadAll(bytes.ToArray()).SkipLast(1)];
            }
        }
    }

    public void Dispose() => _peer.Dispose();

    private static bool IsFinal(BinaryReply reply) => reply.Opcode == BinaryRequest.Noop && reply.Opaque - FirstFinal < FinalNoops;

    private static byte[] Receive(Socket socket, int count)
    {
        byte[] bytes = new byte[count];
        for (int read = 0; read < count;)
        {
            int next = socket.Receive(bytes.AsSpan(read));
            Assert.NotEqual(0, next);
            read += next;
        }

        return bytes;
    }
}
