using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Cairn.Cli.Tests.Serving;

/// <summary>A client without a protocol: it sends text and receives expected text.</summary>
internal sealed class TextClient : IDisposable
{
    private const int PatienceMs = 60_000;

    private readonly Socket _socket;

    public TextClient(int port, int? receiveBufferBytes = null)
    {
        _socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = PatienceMs };
        if (receiveBufferBytes is { } bytes)
        {
            _socket.ReceiveBufferSize = bytes;
        }

        _socket.Connect(IPAddress.Loopback, port);
    }

    public TextClient(string path)
    {
        _socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified) { ReceiveTimeout = PatienceMs };
        _socket.Connect(new UnixDomainSocketEndPoint(path));
    }

    public void Dispose() => _socket.Dispose();

    public void Send(string request) => _socket.Send(Encoding.ASCII.GetBytes(request));

    public void Ask(string request, string reply)
    {
        Send(request);
        Assert.Equal(reply, Receive(reply.Length));
    }

    /// <summary>Receives <paramref name="length"/> characters; fewer if the server closes the connection.</summary>
    public string Receive(int length)
    {
        byte[] received = new byte[length];
        int filled = 0;
        while (filled < length && Receive(received.AsSpan(filled)) is > 0 and var count)
        {
            filled += count;
        }

        return Encoding.ASCII.GetString(received, 0, filled);
    }

    /// <summary>Reads a line without its end; a shorter one if the server closes the connection or sends nothing for long.</summary>
    public string ReadLine()
    {
        var line = new StringBuilder();
        while (Receive(1) is { Length: 1 } next && next != "\n")
        {
            line.Append(next);
        }

        return line.ToString().TrimEnd('\r');
    }

    /// <summary>Reads and discards <paramref name="bytes"/> bytes.</summary>
    /// <returns>The number of bytes that arrived before the server closed the connection or sent nothing for long.</returns>
    public int Skip(int bytes)
    {
        byte[] buffer = new byte[Math.Min(bytes, 64 << 10)];
        int skipped = 0;
        while (skipped < bytes && Receive(buffer.AsSpan(0, Math.Min(buffer.Length, bytes - skipped))) is > 0 and var count)
        {
            skipped += count;
        }

        return skipped;
    }

    public string ReadToEnd()
    {
        using var stream = new NetworkStream(_socket, ownsSocket: false);
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd();
    }

    // Returns 0 if the connection broke because the server was killed, or if the server sends nothing for long.
    private int Receive(Span<byte> bytes) => Math.Max(0, _socket.Receive(bytes, SocketFlags.None, out _));
}
