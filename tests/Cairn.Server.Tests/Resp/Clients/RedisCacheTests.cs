using System.Security.Cryptography;
using System.Text;

namespace Cairn.Server.Tests.Resp.Clients;

/// <summary>
/// The bytes that Microsoft's IDistributedCache for Redis sends through StackExchange.Redis. The package itself is not part of the tests.
/// </summary>
public class RedisCacheTests(RespServers servers) : IClassFixture<RespServers>
{
    private const string Digest = "3915ee22fda531a1d5661f2523d0443fd35ff0a4";
    private const string Ticks = "639183744000000000";
    private const string Data = "\0\r\n\u00ff value";

    // The script with which versions 6 to 8 set. Its line ends and indentation are those of the original source.
    private static readonly string s_script = string.Join("\r\n                ",
        "",
        "redis.call('HSET', KEYS[1], 'absexp', ARGV[1], 'sldexp', ARGV[2], 'data', ARGV[4])",
        "if ARGV[3] ~= '-1' then",
        "  redis.call('EXPIRE', KEYS[1], ARGV[3])",
        "end",
        "return 1");

    // The connection sequence of StackExchange.Redis 2 and 3, without the commands that only identify the server.
    private static readonly string[][] s_connecting =
    [
        ["CLIENT", "SETNAME", "web(SE.Redis-v2.8.16)"],
        ["CONFIG", "GET", "slave-read-only"],
        ["CONFIG", "GET", "replica-read-only"],
        ["CONFIG", "GET", "databases"],
        ["CONFIG", "GET", "timeout"],
        ["SENTINEL", "MASTERS"],
        ["GET", "__Booksleeve_TieBreak"],
        ["ECHO", "\u0001\u00ff\r\n\0*$+-:\u0080\u007f\u00fe abc"],
        ["SUBSCRIBE", "__Booksleeve_MasterChanged"],
        ["PING"],
        ["UNSUBSCRIBE", "__Booksleeve_MasterChanged"],
    ];

    [RequiresToolFact("redis-server")]
    public void Versions_9_and_10_are_answered_as_by_redis() => AssertAlike(
    [
        .. s_connecting,
        .. GetAndRefresh("cache:page"),
        ["HMSET", "cache:page", "absexp", "-1", "sldexp", "12000000000", "data", Data],
        ["EXPIRE", "cache:page", "1200"],
        .. GetAndRefresh("cache:page"),
        ["EXPIRE", "cache:page", "1200"],
        ["HMSET", "cache:page", "absexp", Ticks, "sldexp", "-1", "data", ""],
        ["PEXPIRE", "cache:page", "59999400"],
        .. GetAndRefresh("cache:page"),
        ["HMSET", "cache:ever", "absexp", "-1", "sldexp", "-1", "data", Data],
        .. GetAndRefresh("cache:ever"),
        ["UNLINK", "cache:page"],
        ["UNLINK", "cache:page"],
        .. GetAndRefresh("cache:page"),
        ["SET", "cache:text", "no hash"],
        .. GetAndRefresh("cache:text"),
        ["HMSET", "cache:text", "absexp", "-1", "sldexp", "-1", "data", Data],
    ]);

    [RequiresToolFact("redis-server")]
    public void Versions_6_to_8_with_their_script_are_answered_as_by_redis() => AssertAlike(
    [
        .. s_connecting,
        ["SCRIPT", "LOAD", s_script],
        ["SCRIPT", "EXISTS", Digest, "0000000000000000000000000000000000000000"],
        ["EVALSHA", Digest, "1", "cache:page", "-1", "12000000000", "1200", Data],
        ["TTL", "cache:page"],
        .. GetAndRefresh("cache:page"),
        ["EXPIRE", "cache:page", "1200"],
        ["EVALSHA", Digest, "1", "cache:page", Ticks, "-1", "60", ""],
        .. GetAndRefresh("cache:page"),
        ["EVALSHA", Digest, "1", "cache:ever", "-1", "-1", "-1", Data],
        ["TTL", "cache:ever"],
        ["EVAL", s_script, "1", "cache:other", "-1", "-1", "100", Data],
        .. GetAndRefresh("cache:other"),
        ["MULTI"],
        ["EVALSHA", Digest, "1", "cache:other", "-1", "-1", "100", "x"],
        ["HGETALL", "cache:other"],
        ["EXEC"],
        ["EVALSHA", "0000000000000000000000000000000000000000", "0"],
        ["DEL", "cache:page"],
    ]);

    [Fact]
    public void Script_has_the_digest_that_is_known() =>
#pragma warning disable CA5350 // The digest names scripts in this protocol; it protects no secret.
        Assert.Equal(Digest, Convert.ToHexStringLower(SHA1.HashData(Encoding.ASCII.GetBytes(s_script))));
#pragma warning restore CA5350

    // The cache's sequence for reading an entry, with and without a copy of its data.
    private static string[][] GetAndRefresh(string key) =>
    [
        ["HMGET", key, "absexp", "sldexp", "data"],
        ["HMGET", key, "absexp", "sldexp"],
        ["HGET", key, "data"],
        ["TYPE", key],
        ["TTL", key],
    ];

    private void AssertAlike(string[][] requests)
    {
        byte[] bytes = Encoding.Latin1.GetBytes(string.Concat(requests.Select(ReplyTexts.Encode)));
        foreach (int protocol in new[] { 2, 3 })
        {
            string redis = ReplyTexts.Run(servers.Redis, protocol, bytes, bytes.Length);
            string cairn = ReplyTexts.Run(servers.Cairn, protocol, bytes, bytes.Length);

            Assert.True(redis == cairn, $"RESP{protocol}: {ReplyTexts.Difference(redis, cairn)}");
        }
    }
}
