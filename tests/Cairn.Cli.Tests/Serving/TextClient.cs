using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Cairn.Cli.Tests.Serving;

/// <summary>A client that knows no protocol: it sends, and expects to be sent.</summary>
internal sealed class TextClient : IDisposable
{
    private readonly Socket _socket;

    public TextClient(int port)
    {
        _socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        _socket.Connect(IPAddress.Loopback, port);
    }

    public TextClient(string path)
    {
        _socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
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
        try
        {
            while (filled < length && _socket.Receive(received.AsSpan(filled)) is > 0 and var count)
            {
                filled += count;
            }
        }
        catch (SocketException)
        {
            // Killed, and so was the connection.
        }

        return Encoding.ASCII.GetString(received, 0, filled);
    }

    public string ReadToEnd()
    {
        using var stream = new NetworkStream(_socket, ownsSocket: false);
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd();
    }
}
