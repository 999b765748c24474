using System.Security.Cryptography;
using System.Text;
using Cairn.Server.Resp.Security;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Resp;

/// <summary>redis-server and a served store give the same replies to the same requests.</summary>
public class RedisComparisonTests
{
    [RequiresToolFact("redis-server")]
    public async Task Scripts_get_the_replies_of_redis_in_both_protocols()
    {
        using var redis = RedisProcess.Start("--hash-max-listpack-value", "100000"); // Otherwise long fields lose their order.
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
