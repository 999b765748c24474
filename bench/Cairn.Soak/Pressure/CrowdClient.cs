using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Cairn.Soak.Load;

namespace Cairn.Soak.Pressure;

/// <summary>A client that requests much data, and reads little of it and slowly.</summary>
/// <remarks>Its first request is a PING, or a noop of memcached's binary protocol, which a server answers at once. A server that refuses clients refuses them at this request.</remarks>
internal sealed class CrowdClient : IDisposable
{
    // The buffer is small, so that unread replies stay at the server and not in the kernel.
    private const int ReceiveBufferBytes = 4096;
    private const int ReadBytes = 2048;
    private const string Greeting = "+PONG\r\n";

    private static readonly byte[] s_ping = "PING\r\n"u8.ToArray();
    private static readonly byte[] s_noop = Greed.Binary(opcode: 0x0a, "", 0);
    private static readonly byte[] s_buffer = new byte[ReadBytes]; // One thread drives all clients, and no code reads the bytes.

    private readonly Socket _socket;
    private readonly Greed _greed;
    private ReadOnlyMemory<byte> _unsent;
    private int _steps;

    public CrowdClient(PressedServer server, Greed greed)
    {
        _greed = greed;
        _socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)
        {
            NoDelay = true,
            ReceiveBufferSize = ReceiveBufferBytes,
            LingerState = new LingerOption(enable: true, seconds: 0), // Otherwise tens of thousands of ports would stay in TIME_WAIT.
        };
        _socket.Connect(IPAddress.Loopback, greed.IsBinary ? server.MemcachedPort : server.Port);
        _socket.Blocking = false;
        _unsent = greed.IsBinary ? s_noop : s_ping;
        Send();
    }

    /// <summary>Gets whether the server answered the client.</summary>
    public bool IsAccepted { get; private set; }

    /// <summary>Gets whether the server ended the connection.</summary>
    public bool IsClosed { get; private set; }

    public bool IsReader => _greed.Kind == GreedyKind.SlowReader;

    /// <summary>Reads and sends a little. The crowd calls it about once a second.</summary>
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

            IsAccepted = _greed.IsBinary ? received == s_noop.Length && s_buffer[0] == 0x81 : Encoding.ASCII.GetString(s_buffer, 0, received) == Greeting;
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

/// <summary>The kinds of clients in the crowd.</summary>
internal enum GreedyKind
{
    /// <summary>Requests one value of 1 MiB, and reads 2 KiB a second.</summary>
    SlowReader,

    /// <summary>Requests a thousand such values in one request.</summary>
    ManyValues,

    /// <summary>Requests 17 such values in a transaction, which is the most that a transaction may request.</summary>
    Transaction,

    /// <summary>Queues requests of 10 KB a second in a transaction that never ends.</summary>
    Queue,

    /// <summary>Subscribes to a channel of 40 KB a second, and reads 2 KiB a second.</summary>
    Subscriber,

    /// <summary>Sends a value of 4 MB, at 10 KB a second.</summary>
    HalfValue,

    /// <summary>Requests all fields of a hash of 1 MiB a hundred times.</summary>
    ManyFields,

    /// <summary>Requests a thousand values of 1 MiB with quiet gets of memcached's binary protocol.</summary>
    QuietGets,

    /// <summary>As <see cref="HalfValue"/>, in memcached's binary protocol.</summary>
    BinaryHalfValue,
}

/// <summary>The data that a kind of client sends.</summary>
/// <param name="Kind">The kind of client.</param>
/// <param name="Begin">The first request after the greeting.</param>
/// <param name="GoOn">The data that the client sends in each further step.</param>
/// <param name="MostSteps">The number of further steps.</param>
internal sealed record Greed(GreedyKind Kind, byte[] Begin, byte[] GoOn, int MostSteps)
{
    /// <summary>The channel of <see cref="GreedyKind.Subscriber"/>.</summary>
    public const string Channel = "news";

    /// <summary>The key of a long value.</summary>
    public const string LongKey = "long";

    /// <summary>The length of the long value in bytes.</summary>
    public const int LongBytes = 1 << 20;

    /// <summary>The key of a hash of many fields, of almost 1 MiB.</summary>
    public const string HashKey = "hash";

    /// <summary>The number of fields of the hash.</summary>
    public const int HashFields = 25_000;

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
        new(GreedyKind.ManyFields, Bytes(string.Concat(Enumerable.Repeat(RespClient.Request("HGETALL", HashKey), 100))), [], 0),
        new(GreedyKind.QuietGets, [.. Enumerable.Repeat(Binary(opcode: 0x0d, LongKey, 0), 1_000).SelectMany(request => request)], [], 0),
        new(GreedyKind.BinaryHalfValue, Binary(opcode: 0x01, "half", HalfValueBytes), Bytes(s_piece), (HalfValueBytes / PieceBytes) - 1),
    ];

    /// <summary>Gets whether the client speaks memcached's binary protocol.</summary>
    public bool IsBinary => Kind >= GreedyKind.QuietGets;

    /// <summary>Creates a request of memcached's binary protocol, without its value. A request with a value has flags and an expiration.</summary>
    public static byte[] Binary(byte opcode, string key, int valueBytes)
    {
        int extras = valueBytes > 0 ? 8 : 0;
        byte[] request = new byte[24 + extras + key.Length];
        request[0] = 0x80;
        request[1] = opcode;
        request[3] = (byte)key.Length;
        request[4] = (byte)extras;
        BinaryPrimitives.WriteInt32BigEndian(request.AsSpan(8), extras + key.Length + valueBytes);
        Encoding.ASCII.GetBytes(key).CopyTo(request, 24 + extras);
        return request;
    }

    private static byte[] Bytes(string text) => Encoding.ASCII.GetBytes(text);
}
