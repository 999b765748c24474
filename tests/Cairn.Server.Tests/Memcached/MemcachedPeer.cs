using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.RegularExpressions;

namespace Cairn.Server.Tests.Memcached;

/// <summary>A server with one worker, memcached or Cairn, that gets the same requests as another.</summary>
internal sealed partial class MemcachedPeer : IDisposable
{
    /// <summary>The end of a reply without an answer to the last request, as when the server has closed the connection.</summary>
    public const string NoEnd = "(no end)\n";

    // Enough to complete most values that lack bytes. The number of them that are answered shows how many bytes were missing.
    private const int FinalNoops = 100;

    private const string LastRequest = "mg last k\r\n";
    private const string LastReply = "EN klast\n";
    private const string Noop = "mn\r\n";
    private const string NoopReply = "MN\r\n";
    private const int PatienceMs = 30_000;

    private readonly IPEndPoint _server;
    private readonly Socket _witness;
    private readonly byte[] _buffer = new byte[64 << 10];

    public MemcachedPeer(IPEndPoint server)
    {
        _server = server;
        _witness = Connect();
    }

    /// <summary>
    /// Empties the server and sends it these requests on a new connection, in pieces that it receives separately. Returns all replies to
    /// complete requests, without parts that must differ, and with <see cref="NoEnd"/> if the server closed the connection before the end.
    /// </summary>
    /// <param name="requests">The requests; each character is one byte.</param>
    /// <param name="cuts">The positions at which pieces end, ascending.</param>
    public string Ask(string requests, params ReadOnlySpan<int> cuts)
    {
        using Socket socket = Connect();
        Send(socket, "flush_all\r\n");
        ReadLine(socket);
        byte[] bytes = Encoding.Latin1.GetBytes(requests + string.Concat(Enumerable.Repeat(Noop, FinalNoops)) + LastRequest);
        int start = 0;
        foreach (int cut in cuts)
        {
            Send(socket, bytes.AsSpan(start..cut));
            AwaitSeen();
            start = cut;
        }

        Send(socket, bytes.AsSpan(start));
        string reply = Normal(Encoding.Latin1.GetString(ReadToEnd(socket)));
        return reply.EndsWith(LastReply, StringComparison.Ordinal) ? FinalReplies().Replace(reply, FinalText) : reply + NoEnd;
    }

    /// <summary>Opens a connection for single requests.</summary>
    public Socket Connect()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = PatienceMs };
        socket.Connect(_server);
        return socket;
    }

    /// <summary>Sends requests and returns their replies.</summary>
    public string Ask(Socket socket, string requests)
    {
        Send(socket, requests + Noop);
        var reply = new StringBuilder();
        do
        {
            int count = socket.Receive(_buffer);
            Assert.NotEqual(0, count);
            reply.Append(Encoding.Latin1.GetString(_buffer, 0, count));
        }
        while (!EndsWithNoop(reply));

        return reply.ToString(0, reply.Length - NoopReply.Length);
    }

    public void Dispose() => _witness.Dispose();

    /// <summary>Returns a reply without parts that must differ: versions, the program's own, and elapsed seconds.</summary>
    public static string Normal(string reply)
    {
        reply = reply.Replace("\r\n", "\n", StringComparison.Ordinal);
        reply = ValueVersion().Replace(reply, "$1 N");
        reply = PaddedNumber().Replace(reply, "$1 N$2\n$3\n");
        reply = MetaNumbers().Replace(reply, " $1N");
        return ProgramVersion().Replace(reply, "VERSION N");
    }

    private static string FinalText(Match match) => $"({match.Groups[1].Captures.Count} x MN)\n";

    private static bool EndsWithNoop(StringBuilder reply) =>
        reply.Length >= NoopReply.Length && reply.ToString(reply.Length - NoopReply.Length, NoopReply.Length) == NoopReply;

    /// <summary>Waits until the server has seen everything that was sent before. Its single worker serves in the order of
    /// arrival.</summary>
    public void AwaitSeen()
    {
        Send(_witness, Noop);
        ReadLine(_witness);
    }

    private static void Send(Socket socket, string text) => Send(socket, Encoding.Latin1.GetBytes(text));

    public static void Send(Socket socket, ReadOnlySpan<byte> bytes)
    {
        try
        {
            while (!bytes.IsEmpty)
            {
                bytes = bytes[socket.Send(bytes)..];
            }
        }
        catch (SocketException e) when (e.SocketErrorCode is SocketError.ConnectionReset or SocketError.Shutdown)
        {
            // The server closed the connection in the middle; its replies show that.
        }
    }

    private void ReadLine(Socket socket)
    {
        do
        {
            int count = socket.Receive(_buffer);
            Assert.NotEqual(0, count);
            if (_buffer[count - 1] == '\n')
            {
                return;
            }
        }
        while (true);
    }

    /// <summary>Closes the client's side, and reads what the server still sends before it closes too.</summary>
    public byte[] ReadToEnd(Socket socket)
    {
        var reply = new MemoryStream();
        try
        {
            socket.Shutdown(SocketShutdown.Send);
            int count;
            while ((count = socket.Receive(_buffer)) > 0)
            {
                reply.Write(_buffer, 0, count);
            }
        }
        catch (SocketException e) when (e.SocketErrorCode is SocketError.ConnectionReset or SocketError.NotConnected)
        {
            // The server closed without reading everything. Its replies arrived before.
        }

        return reply.ToArray();
    }

    [GeneratedRegex(@"^(VALUE \S+ \d+ \d+) \d+$", RegexOptions.Multiline)]
    private static partial Regex ValueVersion();

    // A number that became shorter is followed by spaces, unless memcached was already sending a reply with the old digits.
    [GeneratedRegex(@"^(VALUE \S+ \d+|VA) \d+(.*)\n(\d+) *\n", RegexOptions.Multiline)]
    private static partial Regex PaddedNumber();

    [GeneratedRegex(@"(?<=^(?:HD|VA|EX|NF|NS|ME)\b.*) (c|t(?!-)|cas=|la=)\d+", RegexOptions.Multiline)]
    private static partial Regex MetaNumbers();

    [GeneratedRegex(@"(MN\n)*EN klast\n\z")]
    private static partial Regex FinalReplies();

    [GeneratedRegex(@"VERSION \S+")]
    private static partial Regex ProgramVersion();
}
