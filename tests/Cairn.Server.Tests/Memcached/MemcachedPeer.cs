using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.RegularExpressions;

namespace Cairn.Server.Tests.Memcached;

/// <summary>A server with one worker, whichever it is, that is asked the same as another.</summary>
internal sealed partial class MemcachedPeer : IDisposable
{
    /// <summary>Ends what is answered when the last request is not, as where the server has hung up.</summary>
    public const string NoEnd = "(no end)\n";

    // Enough to complete most values that lack something; how many of them are left to be answered tells how much was missing.
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
    /// Empties the server and sends it these requests on a connection of their own, in pieces that it sees one by one. All that it answers
    /// until it has executed what is complete; without what must differ, and with <see cref="NoEnd"/> where it has hung up before.
    /// </summary>
    /// <param name="requests">Each character is a byte.</param>
    /// <param name="cuts">Where a piece ends, in ascending order.</param>
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
        string reply = Normal(ReadToEnd(socket));
        return reply.EndsWith(LastReply, StringComparison.Ordinal) ? FinalReplies().Replace(reply, FinalText) : reply + NoEnd;
    }

    /// <summary>A connection to be asked request by request.</summary>
    public Socket Connect()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = PatienceMs };
        socket.Connect(_server);
        return socket;
    }

    /// <summary>Sends requests, and reads what is answered to them.</summary>
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

    /// <summary>A reply without what must differ: versions, the program's own, and seconds that pass meanwhile.</summary>
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

    // What was sent before on another connection has been seen when this is answered: the one worker serves in the order of arrival.
    private void AwaitSeen()
    {
        Send(_witness, Noop);
        ReadLine(_witness);
    }

    private static void Send(Socket socket, string text) => Send(socket, Encoding.Latin1.GetBytes(text));

    private static void Send(Socket socket, ReadOnlySpan<byte> bytes)
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
            // Hung up in the middle: what was answered tells.
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

    // The client's end is the end of what it sends: the server answers what is complete, then hangs up, too.
    private string ReadToEnd(Socket socket)
    {
        var reply = new StringBuilder();
        try
        {
            socket.Shutdown(SocketShutdown.Send);
            int count;
            while ((count = socket.Receive(_buffer)) > 0)
            {
                reply.Append(Encoding.Latin1.GetString(_buffer, 0, count));
            }
        }
        catch (SocketException e) when (e.SocketErrorCode is SocketError.ConnectionReset or SocketError.NotConnected)
        {
            // It has hung up without reading all. What it had answered was received before.
        }

        return reply.ToString();
    }

    [GeneratedRegex(@"^(VALUE \S+ \d+ \d+) \d+$", RegexOptions.Multiline)]
    private static partial Regex ValueVersion();

    // The digits of a number that became shorter are followed by spaces, unless a reply with the former ones was under way in memcached.
    [GeneratedRegex(@"^(VALUE \S+ \d+|VA) \d+(.*)\n(\d+) *\n", RegexOptions.Multiline)]
    private static partial Regex PaddedNumber();

    [GeneratedRegex(@"(?<=^(?:HD|VA|EX|NF|NS|ME)\b.*) (c|t(?!-)|cas=|la=)\d+", RegexOptions.Multiline)]
    private static partial Regex MetaNumbers();

    [GeneratedRegex(@"(MN\n)*EN klast\n\z")]
    private static partial Regex FinalReplies();

    [GeneratedRegex(@"VERSION \S+")]
    private static partial Regex ProgramVersion();
}
