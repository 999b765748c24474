using System.Security.Cryptography;
using System.Text;
using Cairn.Server.Resp;
using Cairn.Server.Resp.Commands;
using Cairn.Server.Resp.Security;
using Cairn.Server.Tests.Testing;
using StackExchange.Redis;

namespace Cairn.Server.Tests.Resp;

/// <summary>redis-server and a served store give the same replies to the same requests.</summary>
public class RedisComparisonTests
{
    [RequiresToolFact("redis-server")]
    public async Task Scripts_get_the_replies_of_redis_in_both_protocols()
    {
        using var redis = RedisProcess.Start("--hash-max-listpack-value", "100000", "--zset-max-listpack-value", "100000"); // Otherwise long fields lose their order.
        await using StoreServer cairn = await StoreServer.StartAsync();

        var differences = new List<string>();
        foreach (int protocol in new[] { 2, 3 })
        {
            foreach (string script in RedisScripts.All)
            {
                byte[] requests = Encoding.Latin1.GetBytes(script.ReplaceLineEndings("\r\n") + "\r\n");
                string expected = ReplyTexts.Run(redis.EndPoint, protocol, requests, requests.Length);
                string actual = ReplyTexts.Run(cairn.EndPoint(WireProtocol.Resp), protocol, requests, requests.Length);
                if (expected != actual)
                {
                    differences.Add($"RESP{protocol} {ReplyTexts.Difference(expected, actual)}, in\n{script}");
                }
            }
        }

        Assert.True(differences.Count == 0, string.Join("\n\n", differences));
    }

    [RequiresToolFact("redis-server")]
    public async Task Clients_that_have_to_authenticate_get_the_replies_of_redis()
    {
        using var redis = RedisProcess.Start(
            "--requirepass", "secret", "--user", "reader", "on", ">p1", "~*", "&*", "+@all", "-@write", "-@admin",
            "--user", "shop", "on", ">p2", "~shop:*", "&*", "+@all");
        await using StoreServer cairn = await StoreServer.StartAsync(configureResp: server => server.Users = RespUsers.Parse(
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
                (script + $"\nRESET\nAUTH secret\nFLUSHALL\nECHO \"{ReplyTexts.End}\"\n").ReplaceLineEndings("\r\n"));
            string expected = ReplyTexts.RunAlone(redis.EndPoint, requests);
            string actual = ReplyTexts.RunAlone(cairn.EndPoint(WireProtocol.Resp), requests);
            if (expected != actual)
            {
                differences.Add($"{ReplyTexts.Difference(expected, actual)}, in\n{script}");
            }
        }

        Assert.True(differences.Count == 0, string.Join("\n\n", differences));

        static string Hash(string password) => "#" + Convert.ToHexStringLower(SHA256.HashData(Encoding.ASCII.GetBytes(password)));
    }

    [RequiresToolFact("redis-server")]
    public async Task Commands_are_described_as_by_redis()
    {
        using var redis = RedisProcess.Start();
        await using StoreServer cairn = await StoreServer.StartAsync();
        using ConnectionMultiplexer redisConnection = await ConnectionMultiplexer.ConnectAsync(new ConfigurationOptions { EndPoints = { redis.EndPoint } });
        using ConnectionMultiplexer cairnConnection =
            await ConnectionMultiplexer.ConnectAsync(new ConfigurationOptions { EndPoints = { cairn.EndPoint(WireProtocol.Resp) } });

        var differences = new List<string>();
        foreach (CommandInfo command in RespCommands.Table.All.SelectMany(command => command.Subcommands.Prepend(command)))
        {
            RedisResult known = (await redisConnection.GetDatabase().ExecuteAsync("COMMAND", "INFO", command.Name))[0];
            string expected = known.IsNull ? "unknown" : Described(known);
            string actual = Described((await cairnConnection.GetDatabase().ExecuteAsync("COMMAND", "INFO", command.Name))[0]);
            if (!known.IsNull && expected != actual)
            {
                differences.Add($"{command.Name}\n redis {expected}\n cairn {actual}");
            }
        }

        Assert.True(differences.Count == 0, string.Join('\n', differences));

        // Without tips, notes and subcommands. Flags are a set.
        static string Described(RedisResult info) => string.Join(
            ' ',
            [info[1], .. ((RedisResult[])info[2]!).Select(flag => (string?)flag).Order(), .. new[] { 3, 4, 5, 6 }.Select(i => Text(info[i])), Text(info[8])]);

        static string Text(RedisResult result)
        {
            string text = result.Length < 0 ? (string?)result ?? "" : $"[{string.Join(' ', ((RedisResult[])result!).Select(Text))}]";
            return System.Text.RegularExpressions.Regex.Replace(text, "notes (RW|We).*? flags", "flags");
        }
    }

    [RequiresToolFact("redis-server")]
    public async Task Help_has_the_form_of_redis()
    {
        using var redis = RedisProcess.Start();
        await using StoreServer cairn = await StoreServer.StartAsync();

        foreach (CommandInfo command in RespCommands.Table.All.Where(command => command.Subcommands.Length > 0))
        {
            byte[] request = Encoding.ASCII.GetBytes($"{command.Name} HELP\r\nECHO \"{ReplyTexts.End}\"\r\n");
            string[] expected = ReplyTexts.RunAlone(redis.EndPoint, request).Split("\r\n");
            string[] actual = ReplyTexts.RunAlone(cairn.EndPoint(WireProtocol.Resp), request).Split("\r\n");

            Assert.Equal(expected[1], actual[1]);
            Assert.Equal(expected[^5..], actual[^5..]);
            Assert.All(command.Subcommands, subcommand =>
                Assert.Contains(actual, line => (line + " ").StartsWith($"+{subcommand.ShortName.ToUpperInvariant()} ", StringComparison.Ordinal)));
        }
    }

    [RequiresToolFact("redis-server")]
    public async Task Clients_are_listed_with_the_addresses_that_they_connected_to()
    {
        using var redis = RedisProcess.Start();
        await using StoreServer cairn = await StoreServer.StartAsync();

        Assert.Equal(Listed(redis.EndPoint), Listed(cairn.EndPoint(WireProtocol.Resp)));

        // Without ports and numbers that depend on the server.
        static string Listed(System.Net.IPEndPoint server)
        {
            string list = ReplyTexts.RunAlone(server, Encoding.ASCII.GetBytes($"CLIENT INFO\r\nECHO \"{ReplyTexts.End}\"\r\n"));
            Dictionary<string, string> fields = list.Split("\r\n")[1].TrimEnd().Split(' ').Select(field => field.Split('=')).ToDictionary(pair => pair[0], pair => pair[1]);
            return $"{fields["laddr"] == server.ToString()} {int.Parse(fields["fd"], System.Globalization.CultureInfo.InvariantCulture) > 2} {fields["qbuf"] != "0"} {fields["cmd"]}";
        }
    }

    [RequiresToolFact("redis-server")]
    public async Task Scripts_of_several_clients_get_the_replies_and_pushes_of_redis()
    {
        using var redis = RedisProcess.Start();
        await using StoreServer cairn = await StoreServer.StartAsync();

        var differences = new List<string>();
        foreach (string script in RedisScripts.SeveralClients)
        {
            string expected = SeveralClients.Run(redis.EndPoint, script);
            string actual = SeveralClients.Run(cairn.EndPoint(WireProtocol.Resp), script);
            if (expected != actual)
            {
                differences.Add($"redis:\n{expected}\ncairn:\n{actual}");
            }
        }

        Assert.True(differences.Count == 0, string.Join("\n\n", differences));
    }
}
