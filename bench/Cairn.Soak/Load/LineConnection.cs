using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Cairn.Soak.Load;

/// <summary>A blocking connection with a small buffer. It sends text, and reads lines and blocks of a known length.</summary>
internal sealed class LineConnection : IDisposable
{
    // Longer than any pause of a machine that also does other work, and shorter than a piece.
    private const int TimeoutMs = 30_000;

    private readonly Socket _socket;
    private readonly byte[] _buffer = new byte[64 << 10];
    private int _start;
    private int _end;

    public LineConnection(int port)
    {
        _socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)
        {
            NoDelay = true,
            ReceiveTimeout = TimeoutMs,
            SendTimeout = TimeoutMs,
        };
        try
        {
            _socket.Connect(IPAddress.Loopback, port);
        }
        catch
        {
            _socket.Dispose();
            throw;
        }
    }

    public void Send(string text)
    {
        byte[] bytes = Encoding.ASCII.GetBytes(text);
        for (int sent = 0; sent < bytes.Length;)
        {
            sent += _socket.Send(bytes.AsSpan(sent));
        }
    }

    /// <summary>Reads up to the next line end. Returns the line without it.</summary>
    public string ReadLine()
    {
        while (true)
        {
            int end = _buffer.AsSpan(_start, _end - _start).IndexOf("\r\n"u8);
            if (end >= 0)
            {
                string line = Encoding.ASCII.GetString(_buffer, _start, end);
                _start += end + 2;
                return line;
            }

            Fill();
        }
    }

    /// <summary>Reads <paramref name="length"/> bytes and the line end after them.</summary>
    public string ReadBlock(int length)
    {
        var text = new StringBuilder(length);
        int left = length + 2;
        while (left > 0)
        {
            if (_start == _end)
            {
                Fill();
            }

            int count = Math.Min(left, _end - _start);
            text.Append(Encoding.ASCII.GetString(_buffer, _start, count));
            _start += count;
            left -= count;
        }

        return text.ToString(0, length);
    }

    /// <summary>Reads a few bytes, as a slow client does. Returns 0 if the server has closed the connection.</summary>
    public int ReadSome(int most) => _socket.Receive(_buffer.AsSpan(0, Math.Min(most, _buffer.Length)));

    /// <summary>Closes the connection with a reset.</summary>
    public void Reset()
    {
        _socket.LingerState = new LingerOption(enable: true, seconds: 0);
        _socket.Dispose();
    }

    public void Dispose() => _socket.Dispose();

    public static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);

    private void Fill()
    {
        if (_start == _end)
        {
            _start = _end = 0;
        }
        else if (_end == _buffer.Length)
        {
            _buffer.AsSpan(_start, _end - _start).CopyTo(_buffer);
            _end -= _start;
            _start = 0;
        }

        int count = _socket.Receive(_buffer.AsSpan(_end));
        if (count == 0)
        {
            throw new SocketException((int)SocketError.ConnectionReset);
        }

        _end += count;
    }
}
