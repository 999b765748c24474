using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Cairn.Cli.Tests.Serving;

/// <summary>A client that knows no protocol: it sends, and expects to be sent.</summary>
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

    /// <summary>So many characters, or fewer if the server ends.</summary>
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

    /// <summary>A line without its end; what there is of it if the server ends or says nothing for long.</summary>
    public string ReadLine()
    {
        var line = new StringBuilder();
        while (Receive(1) is { Length: 1 } next && next != "\n")
        {
            line.Append(next);
        }

        return line.ToString().TrimEnd('\r');
    }

    /// <summary>Reads so many bytes.</summary>
    /// <returns>How many came before the server ended or said nothing for long.</returns>
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

    // 0 if the server was killed, and so was the connection, or if it says nothing for long.
    private int Receive(Span<byte> bytes) => Math.Max(0, _socket.Receive(bytes, SocketFlags.None, out _));
}
