using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Cairn.Simulation.Scheduling;
using Cairn.Simulation.Servers;

namespace Cairn.Simulation;

/// <summary>The model of Redis answers as a real server does, with the commands that the client uses.</summary>
public sealed class ModelTests
{
    private const string Acquire = "if ARGV[3] == '1' and redis.call('EXISTS', KEYS[1]) == 1 then return 2 end "
        + "if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end return 0";

    private static readonly string[][] s_commands =
    [
        ["PING"], ["SET", "a", "1"], ["GET", "a"], ["GET", "b"], ["SET", "a", "2", "NX", "PX", "5000"], ["SET", "b", "2", "NX", "PX", "5000"],
        ["EXISTS", "a", "b", "c"], ["HSET", "h", "absexp", "-1", "sldexp", "-1", "data", "value"], ["HSET", "h", "data", "other"],
        ["HMGET", "h", "absexp", "data", "none"], ["HMGET", "none", "data"], ["PTTL", "h"], ["PTTL", "none"], ["PERSIST", "h"], ["PEXPIRE", "h", "9000000"],
        ["PERSIST", "h"], ["PEXPIRE", "none", "5"], ["UNLINK", "a", "none"], ["DEL", "b"],
        ["PUBLISH", "channel", "text"], ["EVALSHA", "0000000000000000000000000000000000000000", "0"],
        ["EVAL", Acquire, "2", "h", "lease", "me", "5000", "1"], ["EVAL", Acquire, "2", "none", "lease", "me", "5000", "1"],
        ["EVAL", Acquire, "2", "none", "lease", "other", "5000", "0"], ["GET", "lease"], ["CLIENT", "SETNAME", "name"], ["CLIENT", "TRACKING", "OFF"],
        ["CLIENT", "TRACKING", "ON", "BCAST", "NOLOOP", "PREFIX", "x:"], ["SET", "x:1", "own"], ["CLIENT", "TRACKING", "OFF"], ["NONSENSE"],
    ];

    private static readonly string[][] s_transaction = [["MULTI"], ["SET", "c", ""], ["UNLINK", "c"], ["EXEC"]];

    [RequiresToolFact("redis-server")]
    public async Task Model_answers_as_the_server_does()
    {
        int port = FreePorts.Take();
        using ServerProgram server = ServerProgram.Start(
            "redis-server", ["--port", $"{port}", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"], "Ready to accept connections");
        using var client = new TcpClient();
        await client.ConnectAsync(IPAddress.Loopback, port);
        await SendAsync(client, [["HELLO", "3"]]);
        var world = new World(1, new History(isKept: false));
        var model = new VirtualRedis(world, "server", new SeededRandom(1));
        var session = new RedisSession(null, 1);

        foreach (string[][] commands in s_commands.Select(command => new[] { command }).Append(s_transaction))
        {
            string expected = await SendAsync(client, commands);

            string actual = string.Concat(commands.Select(command => Encoding.Latin1.GetString(model.Execute(session, command))));

            Assert.Equal($"{string.Join(' ', commands[0])}: {WithoutText(expected)}", $"{string.Join(' ', commands[0])}: {WithoutText(actual)}");
        }
    }

    // Errors are compared by their code: no code reads the text behind it.
    private static string WithoutText(string reply) => reply.StartsWith('-') ? reply.Split(' ')[0] : reply;

    // Sends commands, and returns their replies. The reply to the ECHO behind them marks the end.
    private static async Task<string> SendAsync(TcpClient client, string[][] commands)
    {
        const string End = "$3\r\nend\r\n";
        var request = new StringBuilder();
        foreach (string[] words in (string[][])[.. commands, ["ECHO", "end"]])
        {
            request.Append(CultureInfo.InvariantCulture, $"*{words.Length}\r\n");
            foreach (string word in words)
            {
                request.Append(CultureInfo.InvariantCulture, $"${word.Length}\r\n{word}\r\n");
            }
        }

        NetworkStream stream = client.GetStream();
        await stream.WriteAsync(Encoding.Latin1.GetBytes(request.ToString()));
        string reply = "";
        byte[] buffer = new byte[4096];
        while (!reply.EndsWith(End, StringComparison.Ordinal))
        {
            int read = await stream.ReadAsync(buffer);
            Assert.NotEqual(0, read);
            reply += Encoding.Latin1.GetString(buffer, 0, read);
        }

        return reply[..^End.Length];
    }
}
