using System.Net;
using System.Net.Sockets;
using System.Text;
using Cairn.Soak.Load;

namespace Cairn.Soak.Pressure;

/// <summary>A client that takes from the server more than it gives: it asks for much, and reads little and slowly.</summary>
/// <remarks>Its first request is one that any client gets an answer to at once. A server that refuses clients does it there.</remarks>
internal sealed class CrowdClient : IDisposable
{
    // Small, so that what the client does not read stays at the server and not in the kernel.
    private const int ReceiveBufferBytes = 4096;
    private const int ReadBytes = 2048;
    private const string Greeting = "+PONG\r\n";

    private static readonly byte[] s_ping = "PING\r\n"u8.ToArray();
    private static readonly byte[] s_buffer = new byte[ReadBytes]; // One thread drives all clients, and no code looks at the bytes.

    private readonly Socket _socket;
    private readonly Greed _greed;
    private ReadOnlyMemory<byte> _unsent;
    private int _steps;

    public CrowdClient(int port, Greed greed)
    {
        _greed = greed;
        _socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)
        {
            NoDelay = true,
            ReceiveBufferSize = ReceiveBufferBytes,
            LingerState = new LingerOption(enable: true, seconds: 0), // Tens of thousands of ports would wait for their time otherwise.
        };
        _socket.Connect(IPAddress.Loopback, port);
        _socket.Blocking = false;
        _unsent = s_ping;
        Send();
    }

    /// <summary>Whether it was answered.</summary>
    public bool IsAccepted { get; private set; }

    /// <summary>Whether the server ended the connection.</summary>
    public bool IsClosed { get; private set; }

    public bool IsReader => _greed.Kind == GreedyKind.SlowReader;

    /// <summary>Reads and sends a little. Called about once a second.</summary>
    public void Step()
    {
        if (IsClosed)
        {
            return;
        }

        int received = _socket.Receive(s_buffer, SocketFlags.None, out SocketError error);
        if ((received == 0 && error == SocketError.Success) || error is not (SocketError.Success or SocketError.WouldBlock))
        {
            IsClosed = true;
            return;
        }

        if (!IsAccepted)
        {
            if (received == 0)
            {
                return;
            }

            IsAccepted = Encoding.ASCII.GetString(s_buffer, 0, received) == Greeting;
            IsClosed = !IsAccepted;
            _unsent = _greed.Begin;
        }
        else if (_unsent.IsEmpty && _steps < _greed.MostSteps)
        {
            _steps++;
            _unsent = _greed.GoOn;
        }

        Send();
    }

    public void Dispose() => _socket.Dispose();

    private void Send()
    {
        if (!_unsent.IsEmpty && !IsClosed)
        {
            int sent = _socket.Send(_unsent.Span, SocketFlags.None, out SocketError error);
            if (error == SocketError.Success)
            {
                _unsent = _unsent[sent..];
            }
            else
            {
                IsClosed = error != SocketError.WouldBlock;
            }
        }
    }
}

/// <summary>What a client of the crowd does.</summary>
internal enum GreedyKind
{
    /// <summary>Asks for one value of 1 MiB, and reads 2 KiB a second.</summary>
    SlowReader,

    /// <summary>Asks for a thousand such values in one request.</summary>
    ManyValues,

    /// <summary>Asks for 17 of them in a transaction, which is the most that one may ask for.</summary>
    Transaction,

    /// <summary>Queues a request of 10 KB a second in a transaction that does not end.</summary>
    Queue,

    /// <summary>Subscribes to a channel of 40 KB a second, and reads 2.</summary>
    Subscriber,

    /// <summary>Sends a value of 4 MB, 10 KB a second.</summary>
    HalfValue,
}

/// <summary>What a kind of client sends.</summary>
/// <param name="Kind">Its kind.</param>
/// <param name="Begin">Its request.</param>
/// <param name="GoOn">What follows in each step.</param>
/// <param name="MostSteps">In how many steps.</param>
internal sealed record Greed(GreedyKind Kind, byte[] Begin, byte[] GoOn, int MostSteps)
{
    /// <summary>The channel of <see cref="GreedyKind.Subscriber"/>.</summary>
    public const string Channel = "news";

    /// <summary>The key of a long value.</summary>
    public const string LongKey = "long";

    /// <summary>Its length.</summary>
    public const int LongBytes = 1 << 20;

    private const int PieceBytes = 10_000;
    private const int HalfValueBytes = 4_000_000;

    private static readonly string s_piece = new('p', PieceBytes);

    public static Greed SlowReader { get; } = new(GreedyKind.SlowReader, Bytes(RespClient.Request("GET", LongKey)), [], 0);

    public static Greed[] Greedy { get; } =
    [
        new(GreedyKind.ManyValues, Bytes(RespClient.Request(["MGET", .. Enumerable.Repeat(LongKey, 1_000)])), [], 0),
        new(
            GreedyKind.Transaction,
            Bytes(string.Concat(["MULTI\r\n", .. Enumerable.Repeat(RespClient.Request("GET", LongKey), 17), "EXEC\r\n"])), [], 0),
        new(GreedyKind.Queue, "MULTI\r\n"u8.ToArray(), Bytes(RespClient.Request("SET", "queued", s_piece)), int.MaxValue),
        new(GreedyKind.Subscriber, Bytes(RespClient.Request("SUBSCRIBE", Channel)), [], 0),
        new(
            GreedyKind.HalfValue,
            Bytes(FormattableString.Invariant($"*3\r\n$3\r\nSET\r\n$4\r\nhalf\r\n${HalfValueBytes}\r\n")), Bytes(s_piece), (HalfValueBytes / PieceBytes) - 1),
    ];

    private static byte[] Bytes(string text) => Encoding.ASCII.GetBytes(text);
}
