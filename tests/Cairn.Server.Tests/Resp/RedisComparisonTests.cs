using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using Cairn.Server.Resp.Security;

namespace Cairn.Server.Tests.Resp;

/// <summary>The same requests, sent to redis-server and to a store that is served, get the same replies.</summary>
public partial class RedisComparisonTests
{
    private const string End = "end of the script";

    [RequiresToolFact("redis-server")]
    public async Task Scripts_get_the_replies_of_redis_in_both_protocols()
    {
        using var redis = RedisProcess.Start("--hash-max-listpack-value", "100000"); // Else long fields lose their order.
        await using RespSocketServer cairn = await RespSocketServer.StartAsync();

        var differences = new List<string>();
        foreach (int protocol in new[] { 2, 3 })
        {
            foreach (string script in RedisScripts.All)
            {
                byte[] requests = Encoding.Latin1.GetBytes(script.ReplaceLineEndings("\r\n") + "\r\n");
                string expected = Run(redis.EndPoint, protocol, requests, requests.Length);
                string actual = Run(cairn.EndPoint, protocol, requests, requests.Length);
                if (expected != actual)
                {
                    differences.Add($"RESP{protocol} {Difference(expected, actual)}, in\n{script}");
                }
            }
        }

        Assert.True(differences.Count == 0, string.Join("\n\n", differences));
    }

    [RequiresToolFact("redis-server")]
    public async Task Random_requests_get_the_replies_of_redis_wherever_they_are_cut()
    {
        const int Streams = 40;
        using var redis = RedisProcess.Start("--hash-max-listpack-value", "100000"); // Else long fields lose their order.
        await using RespSocketServer cairn = await RespSocketServer.StartAsync();
        int seed = Environment.GetEnvironmentVariable("CAIRN_RESP_SEED") is { } given
            ? int.Parse(given, CultureInfo.InvariantCulture)
            : Random.Shared.Next();

        for (int stream = seed; stream < seed + Streams; stream++)
        {
            var random = new Random(stream);
            List<string[]> requests = RandomRequests.Make(random, 200);
            byte[] bytes = Encoding.Latin1.GetBytes(string.Concat(requests.Select(Encode)));
            int protocol = random.Next(2, 4);
            string expected = Run(redis.EndPoint, protocol, bytes, bytes.Length);
            string actual = Run(cairn.EndPoint, protocol, bytes, random.Next(1, 400));
            Assert.True(
                expected == actual,
                $"CAIRN_RESP_SEED={stream}, RESP{protocol}: {Difference(expected, actual)}, in\n{string.Join('\n', requests.Select(request => string.Join(' ', request)))}");
        }
    }

    [RequiresToolFact("redis-server")]
    public async Task Clients_that_have_to_authenticate_get_the_replies_of_redis()
    {
        using var redis = RedisProcess.Start(
            "--requirepass", "secret", "--user", "reader", "on", ">p1", "~*", "&*", "+@all", "-@write", "-@admin",
            "--user", "shop", "on", ">p2", "~shop:*", "&*", "+@all");
        await using RespSocketServer cairn = await RespSocketServer.StartAsync(server => server.Users = RespUsers.Parse(
            $"""
            default {Hash("secret")} read-write
            reader {Hash("p1")} read-only
            shop {Hash("p2")} read-write shop:
            """,
            "users"));

        var differences = new List<string>();
        foreach (string script in RedisScripts.Security)
        {
            byte[] requests = Encoding.Latin1.GetBytes(
                (script + $"\nRESET\nAUTH secret\nFLUSHALL\nECHO \"{End}\"\n").ReplaceLineEndings("\r\n"));
            string expected = RunAlone(redis.EndPoint, requests);
            string actual = RunAlone(cairn.EndPoint, requests);
            if (expected != actual)
            {
                differences.Add($"{Difference(expected, actual)}, in\n{script}");
            }
        }

        Assert.True(differences.Count == 0, string.Join("\n\n", differences));

        static string Hash(string password) => "#" + Convert.ToHexStringLower(SHA256.HashData(Encoding.ASCII.GetBytes(password)));
    }

    [RequiresToolFact("redis-server")]
    public async Task Scripts_of_several_clients_get_the_replies_and_pushes_of_redis()
    {
        using var redis = RedisProcess.Start();
        await using RespSocketServer cairn = await RespSocketServer.StartAsync();

        var differences = new List<string>();
        foreach (string script in RedisScripts.SeveralClients)
        {
            string expected = SeveralClients.Run(redis.EndPoint, script);
            string actual = SeveralClients.Run(cairn.EndPoint, script);
            if (expected != actual)
            {
                differences.Add($"redis:\n{expected}\ncairn:\n{actual}");
            }
        }

        Assert.True(differences.Count == 0, string.Join("\n\n", differences));
    }

    private static string RunAlone(EndPoint server, byte[] requests)
    {
        using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = 30_000 };
        socket.Connect(server);
        socket.Send(requests);

        // Connections have numbers.
        return IdPattern().Replace(ReadToEnd(socket), "id\r\n:N\r\n");
    }

    [GeneratedRegex("id\r\n:[0-9]+\r\n")]
    private static partial Regex IdPattern();

    private static string Difference(string expected, string actual)
    {
        int same = expected.Zip(actual).TakeWhile(pair => pair.First == pair.Second).Count();
        int start = Math.Max(0, same - 80);
        return $"redis \"{Part(expected)}\", cairn \"{Part(actual)}\"";

        string Part(string replies) => replies[start..Math.Min(replies.Length, same + 80)].ReplaceLineEndings("|");
    }

    private static string Encode(string[] arguments) =>
        $"*{arguments.Length}\r\n" + string.Concat(arguments.Select(argument => $"${argument.Length}\r\n{argument}\r\n"));

    private static string Run(EndPoint server, int protocol, byte[] requests, int pieceBytes)
    {
        using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = 30_000 };
        socket.Connect(server);
        socket.Send(Encoding.ASCII.GetBytes($"FLUSHALL\r\nHELLO {protocol}\r\nECHO \"{End}\"\r\n"));
        ReadToEnd(socket);
        for (int start = 0; start < requests.Length; start += pieceBytes)
        {
            socket.Send(requests.AsSpan(start, Math.Min(pieceBytes, requests.Length - start)));
        }

        socket.Send(Encoding.ASCII.GetBytes($"\r\nDISCARD\r\nECHO \"{End}\"\r\n")); // It may have ended within a transaction.
        return ReadToEnd(socket);
    }

    // Up to the reply to the last request, or until the server closes.
    private static string ReadToEnd(Socket socket)
    {
        var text = new StringBuilder();
        byte[] buffer = new byte[64 << 10];
        int count;
        while (!text.ToString().EndsWith(End + "\r\n", StringComparison.Ordinal) && (count = socket.Receive(buffer)) > 0)
        {
            text.Append(Encoding.Latin1.GetString(buffer, 0, count));
        }

        return text.ToString();
    }
}
