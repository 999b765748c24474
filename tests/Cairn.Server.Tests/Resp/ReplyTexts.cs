using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.RegularExpressions;

namespace Cairn.Server.Tests.Resp;

/// <summary>Returns replies of servers as text that can be compared.</summary>
internal static partial class ReplyTexts
{
    /// <summary>The reply to the last request of a comparison.</summary>
    public const string End = "end of the script";

    /// <summary>Empties the server, sends the requests in pieces, and returns their replies.</summary>
    public static string Run(EndPoint server, int protocol, byte[] requests, int pieceBytes)
    {
        using Socket socket = Connect(server);
        socket.Send(Encoding.ASCII.GetBytes($"FLUSHALL\r\nHELLO {protocol}\r\nECHO \"{End}\"\r\n"));
        ReadToEnd(socket);
        for (int start = 0; start < requests.Length; start += pieceBytes)
        {
            socket.Send(requests.AsSpan(start, Math.Min(pieceBytes, requests.Length - start)));
        }

        // The script may have ended within a transaction or a subscription.
        socket.Send(Encoding.ASCII.GetBytes($"\r\nDISCARD\r\nRESET\r\nECHO \"{End}\"\r\n"));
        return WithoutNumbers(ReadToEnd(socket));
    }

    /// <summary>Returns the replies to requests that end with the echo of <see cref="End"/>.</summary>
    public static string RunAlone(EndPoint server, byte[] requests)
    {
        using Socket socket = Connect(server);
        socket.Send(requests);
        return WithoutNumbers(ReadToEnd(socket));
    }

    /// <summary>Returns the replies to requests that may be incomplete, until the server has closed the connection.</summary>
    public static string RunToClose(EndPoint server, byte[] requests)
    {
        using Socket socket = Connect(server);
        socket.Send(requests);
        socket.Shutdown(SocketShutdown.Send);
        return WithoutNumbers(ReadToEnd(socket));
    }

    /// <summary>Returns replies without the numbers of connections.</summary>
    public static string WithoutNumbers(string replies) => IdPattern().Replace(replies, "id\r\n:N\r\n");

    /// <summary>Returns the first difference between replies.</summary>
    public static string Difference(string expected, string actual)
    {
        int same = expected.Zip(actual).TakeWhile(pair => pair.First == pair.Second).Count();
        int start = Math.Max(0, same - 80);
        return $"redis \"{Part(expected)}\", cairn \"{Part(actual)}\"";

        string Part(string replies) => replies[Math.Min(start, replies.Length)..Math.Min(replies.Length, same + 80)].ReplaceLineEndings("|");
    }

    /// <summary>Encodes a request as clients send it.</summary>
    public static string Encode(string[] arguments) =>
        $"*{arguments.Length}\r\n" + string.Concat(arguments.Select(argument => $"${argument.Length}\r\n{argument}\r\n"));

    private static Socket Connect(EndPoint server)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = 30_000 };
        socket.Connect(server);
        return socket;
    }

    // Reads up to the reply to the last request, or until the server closes the connection.
    private static string ReadToEnd(Socket socket)
    {
        var text = new StringBuilder();
        byte[] buffer = new byte[64 << 10];
        int count;
        while (!text.ToString(Math.Max(0, text.Length - End.Length - 2), Math.Min(text.Length, End.Length + 2)).Equals(End + "\r\n", StringComparison.Ordinal)
            && (count = socket.Receive(buffer)) > 0)
        {
            text.Append(Encoding.Latin1.GetString(buffer, 0, count));
        }

        return text.ToString();
    }

    [GeneratedRegex("id\r\n:[0-9]+\r\n")]
    private static partial Regex IdPattern();
}
