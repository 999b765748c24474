using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Cairn.Server.Tests.Resp;

/// <summary>
/// Runs a script of several clients with one request on each line. A line that starts with <c>2></c> belongs to the second client. <c>; </c>
/// separates requests that are sent together. {1} represents the first client's number. After each request, the result contains the reply and all
/// other messages.
/// </summary>
internal static class SeveralClients
{
    private const string Mark = "the mark";
    private const int Count = 3;

    public static string Run(EndPoint server, string script)
    {
        Socket[] clients = [.. Enumerable.Range(0, Count).Select(_ => Connect(server))];
        try
        {
            string[] ids = [.. clients.Select(client => SendAndRead(client, "CLIENT ID")[1..].Trim())];
            SendAndRead(clients[0], "FLUSHALL");
            var transcript = new StringBuilder();
            foreach (string line in script.Split('\n'))
            {
                int number = line[0] - '0';
                string request = line[3..].Replace("; ", "\r\n", StringComparison.Ordinal);
                for (int i = 0; i < Count; i++)
                {
                    request = request.Replace($"{{{i + 1}}}", ids[i], StringComparison.Ordinal);
                }

                transcript.Append(CultureInfo.InvariantCulture, $"{line}\n");
                for (int i = 0; i < Count; i++)
                {
                    // The sender first, so that the other clients have received all consequences of its request.
                    int client = i == 0 ? number - 1 : i <= number - 1 ? i - 1 : i;
                    string got = SendAndRead(clients[client], i == 0 ? request : null);
                    for (int j = 0; j < Count; j++)
                    {
                        got = got.Replace($"redirect\r\n:{ids[j]}\r\n", $"redirect|:{{{j + 1}}}|", StringComparison.Ordinal)
                            .Replace($"id\r\n:{ids[j]}\r\n", $"id|:{{{j + 1}}}|", StringComparison.Ordinal)
                            .Replace($"broken\r\n:{ids[j]}\r\n", $"broken|:{{{j + 1}}}|", StringComparison.Ordinal);
                        got = line.EndsWith("GETREDIR", StringComparison.Ordinal) ? got.Replace($":{ids[j]}\r", $":{{{j + 1}}}\r", StringComparison.Ordinal) : got;
                    }

                    transcript.Append(got.Length == 0 ? "" : $"    {client + 1}: {got.ReplaceLineEndings("|")}\n");
                }
            }

            return transcript.ToString();
        }
        finally
        {
            Array.ForEach(clients, client => client.Dispose());
        }
    }

    private static Socket Connect(EndPoint server)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = 30_000 };
        socket.Connect(server);
        return socket;
    }

    // The mark is sent when the reply has begun to arrive. All messages that the request causes come before the mark.
    private static string SendAndRead(Socket socket, string? request)
    {
        var text = new StringBuilder();
        byte[] buffer = new byte[64 << 10];
        if (socket.SafeHandle.IsClosed)
        {
            return "";
        }

        if (request is not null)
        {
            socket.Send(Encoding.Latin1.GetBytes(request + "\r\n"));
            Receive();
        }

        if (request == "QUIT")
        {
            Assert.Equal(0, socket.Receive(buffer));
            socket.Close();
            return text.ToString();
        }

        socket.Send(Encoding.Latin1.GetBytes($"PING \"{Mark}\"\r\n"));
        while (!text.ToString().EndsWith(Mark + "\r\n", StringComparison.Ordinal))
        {
            Receive();
        }

        string all = text.ToString();
        string end = $"${Mark.Length}\r\n{Mark}\r\n";
        string endInSubscription = "*2\r\n$4\r\npong\r\n" + end;
        return all[..^(all.EndsWith(endInSubscription, StringComparison.Ordinal) ? endInSubscription : end).Length];

        void Receive()
        {
            int count = socket.Receive(buffer);
            text.Append(Encoding.Latin1.GetString(buffer, 0, count == 0 ? throw new IOException("The server closed the connection.") : count));
        }
    }
}
