using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Text;

namespace Cairn.Server.Tests.Testing;

/// <summary>A blocking client. It throws when the server sends nothing for too long.</summary>
internal sealed partial class TestClient : IDisposable
{
    private const nuint UnsentQueue = 0x5411; // SIOCOUTQ

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly byte[] _buffer = new byte[64 << 10];
    private int _start;
    private int _end;

    private TestClient(Socket socket)
    {
        Socket = socket;
        socket.ReceiveTimeout = socket.SendTimeout = (int)Patience.TotalMilliseconds;
    }

    public Socket Socket { get; }

    public static TestClient Connect(EndPoint server, int? receiveBufferBytes = null)
    {
        TestClient client = Create(server.AddressFamily);
        if (receiveBufferBytes is { } bytes)
        {
            client.Socket.ReceiveBufferSize = bytes;
        }

        client.Socket.Connect(server);
        return client;
    }

    /// <summary>Creates a client that is not connected yet.</summary>
    public static TestClient Create(AddressFamily family)
    {
        bool isUnix = family == AddressFamily.Unix;
        var socket = new Socket(family, SocketType.Stream, isUnix ? ProtocolType.Unspecified : ProtocolType.Tcp);
        if (!isUnix)
        {
            socket.NoDelay = true;
        }

        return new TestClient(socket);
    }

    public void Send(string text) => Send(Encoding.ASCII.GetBytes(text));

    public void Send(ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > 0)
        {
            bytes = bytes[Socket.Send(bytes)..];
        }
    }

    /// <summary>Sends until everything is sent or the server closes the connection.</summary>
    public void SendUntilClosed(ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > 0 && Socket.Send(bytes, SocketFlags.None, out _) is > 0 and var sent)
        {
            bytes = bytes[sent..];
        }
    }

    /// <summary>Sends the bytes that the kernel accepts without blocking.</summary>
    public int SendWhatIsTaken(ReadOnlySpan<byte> bytes)
    {
        int sent = Socket.Send(bytes, SocketFlags.None, out SocketError error);
        return error is SocketError.Success or SocketError.WouldBlock ? sent : throw new SocketException((int)error);
    }

    /// <summary>Waits until the server's kernel has received everything.</summary>
    public void UntilDelivered()
    {
        int bytes;
        do
        {
            Assert.Equal(0, Control((int)Socket.Handle, UnsentQueue, out bytes));
        }
        while (bytes > 0);
    }

    /// <summary>Reads the next line without its end; a shorter one if the server closes the connection.</summary>
    public string ReadLine()
    {
        var line = new StringBuilder();
        while (true)
        {
            int end = _buffer.AsSpan(_start, _end - _start).IndexOf((byte)'\n');
            line.Append(Encoding.ASCII.GetString(_buffer, _start, end < 0 ? _end - _start : end));
            if (end >= 0)
            {
                _start += end + 1;
                return line.ToString();
            }

            if (!Fill())
            {
                return line.ToString();
            }
        }
    }

    /// <summary>Reads the next bytes; fewer if the server closes the connection.</summary>
    public byte[] Read(int count)
    {
        byte[] bytes = new byte[count];
        int read = 0;
        while (read < count && (_start < _end || Fill()))
        {
            int next = Math.Min(_end - _start, count - read);
            _buffer.AsSpan(_start, next).CopyTo(bytes.AsSpan(read));
            _start += next;
            read += next;
        }

        return bytes[..read];
    }

    /// <summary>Reads and discards <paramref name="bytes"/> bytes.</summary>
    /// <returns>The number of bytes that arrived before the server closed the connection.</returns>
    public long Skip(long bytes)
    {
        long skipped = 0;
        while (skipped < bytes)
        {
            if (_start == _end && !Fill())
            {
                break;
            }

            int count = (int)Math.Min(_end - _start, bytes - skipped);
            _start += count;
            skipped += count;
        }

        return skipped;
    }

    /// <summary>Reads until the server closes the connection.</summary>
    public string ReadToEnd()
    {
        var text = new StringBuilder();
        do
        {
            text.Append(Encoding.ASCII.GetString(_buffer, _start, _end - _start));
            _start = _end = 0;
        }
        while (Fill());
        return text.ToString();
    }

    /// <summary>Resets the connection.</summary>
    public void Reset()
    {
        Socket.LingerState = new LingerOption(enable: true, seconds: 0);
        Socket.Close();
    }

    public void Dispose() => Socket.Dispose();

    [LibraryImport("libc", EntryPoint = "ioctl", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Control(int descriptor, nuint request, out int value);

    private bool Fill()
    {
        _start = 0;
        _end = Socket.Receive(_buffer);
        return _end > 0;
    }
}
