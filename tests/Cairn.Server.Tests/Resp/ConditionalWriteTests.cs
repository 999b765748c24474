namespace Cairn.Server.Tests.Resp;

/// <summary>Commands that compare before they write, which Redis 8.4 and Valkey 9 introduced. The replies were taken down from Redis 8.6.3; those of
/// DELIFEQ from the documentation of Valkey 9.</summary>
public class ConditionalWriteTests
{
    private const string WrongType = "-WRONGTYPE Operation against a key holding the wrong kind of value";
    private const string Null = "$-1";
    private const string Syntax = "-ERR syntax error";
    private const string NoDigest = "-ERR must be exactly 16 hexadecimal characters";

    [Fact]
    public void Set_compares_as_in_redis_8() => AssertReplies(
    [
        ("SET a 1 IFEQ 1", Null), ("SET a 1", "+OK"), ("SET a 2 IFEQ 1", "+OK"), ("SET a 3 IFEQ 1", Null), ("SET a 3 IFEQ 1 GET", "$1 2"),
        ("SET a 3 ifeq 2 get", "$1 2"), ("SET a 4 IFNE 3", Null), ("SET a 4 IFNE 9", "+OK"), ("SET b 4 IFNE 9", "+OK"), ("SET b 5 IFNE 9 GET", "$1 4"),
        ("SET c 5 IFNE 9 GET", Null), ("GET c", "$1 5"), ("SET a 1 IFEQ", Syntax), ("SET a 1 IFEQ 1 NX", Null), ("SET a 1 NX IFEQ 1", Syntax),
        ("SET a 1 XX IFEQ 4", Syntax), ("SET a 1 IFEQ 1 IFEQ 1", Null), ("SET a 1 IFEQ 4 EX 100 KEEPTTL", Syntax), ("SET a 1 EX 100 IFEQ 4", "+OK"),
        ("TTL a", ":100"), ("SET a 2 IFEQ 1 KEEPTTL", "+OK"), ("TTL a", ":100"), ("SET a 1 IFEQ 2 IFNE 2", Syntax), ("SET a 1 IFEQ 9 IFEQ 2", "+OK"),
        ("TTL a", ":-1"), ("SET a 1 IFEQ 1 IFDEQ 1234567890123456", Syntax), ("SET a 1 IFEQ 1 XX", "+OK"), ("HSET h f v", ":1"), ("SET h 1 IFEQ v", WrongType),
        ("SET h 1 IFNE v", WrongType), ("SET h 1 IFEQ v GET", WrongType), ("SET h 1 IFDEQ 0123456789abcdef", WrongType), ("TYPE h", "+hash"),
        ("SET h 1 IFEQ v NX", Null), ("SET a 1 IFDEQ x NX", Null), ("SET h 1 IFEQ v NX GET", WrongType), ("SET n 1 IFEQ v NX", Null), ("SET n 1 IFNE v NX", "+OK"),
    ]);

    [Fact]
    public void Digests_are_those_of_redis_8() => AssertReplies(
    [
        ("SET a 2", "+OK"), ("DIGEST a", "$16 fb95a7322f5da314"), ("DIGEST nothing", Null), ("SET e \"\"", "+OK"), ("DIGEST e", "$16 2d06800538d394c2"),
        ("SET l " + string.Concat(Enumerable.Repeat("0123456789", 31)), "+OK"), ("DIGEST l", "$16 d3e22fc8e2ae4349"), ("HSET h f v", ":1"), ("DIGEST h", WrongType),
        ("SET a 5 IFDEQ x", NoDigest), ("SET a 5 IFDEQ 0123456789abcdef", Null), ("SET a 5 IFDNE 0123456789abcdef", "+OK"), ("SET z 5 IFDNE x", "+OK"),
        ("SET z 5 IFDEQ x", NoDigest), ("SET y 5 IFDEQ x", Null), ("SET y 5 IFDEQ 0123456789abcdef", Null), ("SET a 5 IFDNE 0123456789ABCDEG", "+OK"),
        ("SET a 5 IFDNE 0123456789abcdef0", NoDigest), ("DIGEST a", "$16 dedb980100c87e72"), ("SET a 6 IFDNE dedb980100c87e72", Null), ("SET a 6 IFDEQ dedb980100c87e72", "+OK"),
    ]);

    [Fact]
    public void Deletions_compare_as_in_redis_8_and_valkey_9() => AssertReplies(
    [
        ("SET a 5", "+OK"), ("DELEX a IFEQ 6", ":0"), ("DELEX a IFEQ 5", ":1"), ("DELEX a IFEQ 5", ":0"), ("SET b 1", "+OK"), ("DELEX b", ":1"), ("DELEX nothing IFNE 1", ":0"),
        ("HSET h f v", ":1"), ("DELEX h IFEQ v", "-ERR Key should be of string type if conditions are specified"),
        ("DELEX h XX 1", "-ERR Key should be of string type if conditions are specified"), ("DELEX h", ":1"), ("SET a 1", "+OK"), ("DELEX a IFDEQ x", NoDigest),
        ("DELEX a IFDNE x", NoDigest), ("DELEX a IFDNE 0123456789abcdef", ":1"), ("SET a 1", "+OK"), ("DELEX a ifne 1", ":0"), ("DELEX a IFNE 2", ":1"), ("SET a 1", "+OK"),
        ("DELEX a IFEQ", "-ERR wrong number of arguments for 'delex' command"), ("DELEX a IFEQ 1 IFEQ 1", "-ERR wrong number of arguments for 'delex' command"),
        ("DELEX nothing XX 1", ":0"), ("DELEX a XX 1", "-ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"), ("DELEX nothing IFDEQ x", ":0"),
        ("DELIFEQ a 2", ":0"), ("DELIFEQ a 1", ":1"), ("DELIFEQ a 1", ":0"), ("HSET h f v", ":1"), ("DELIFEQ h v", WrongType),
        ("DELIFEQ a", "-ERR wrong number of arguments for 'delifeq' command"),
    ]);

    [Fact]
    public void Several_keys_are_set_with_an_expiration_as_in_redis_8() => AssertReplies(
    [
        ("MSETEX 2 a 1 b 2", ":1"), ("MGET a b", "*2 $1 1 $1 2"), ("MSETEX 2 a 1 b 2 NX", ":0"), ("MSETEX 2 a 3 n 2 NX", ":0"), ("EXISTS n", ":0"), ("MSETEX 2 a 3 b 4 XX", ":1"),
        ("MSETEX 2 a 3 q 4 XX", ":0"), ("MSETEX 2 a 3 b 4 EX 100", ":1"), ("TTL b", ":100"), ("MSETEX 2 a 3 b 5 KEEPTTL", ":1"), ("TTL b", ":100"), ("GET b", "$1 5"),
        ("MSETEX 2 a 3 b 5 XX KEEPTTL PX 100", Syntax), ("MSETEX 2 a 3 b 5 PX 100000 XX", ":1"), ("TTL a", ":100"), ("MSETEX 2 a 3 b 5", ":1"), ("TTL a", ":-1"),
        ("MSETEX 2 a 3 b 5 EX 0", "-ERR invalid expire time in 'msetex' command"), ("MSETEX 2 a 3 b 5 EX x", "-ERR value is not an integer or out of range"),
        ("MSETEX 2 a 3 b 5 NX XX", Syntax), ("MSETEX 0 a 3 b 5", "-ERR invalid numkeys value"), ("MSETEX -1 a 3 b 5", "-ERR invalid numkeys value"),
        ("MSETEX x a 3 b 5", "-ERR invalid numkeys value"), ("MSETEX 99999999999 a 3", "-ERR invalid numkeys value"), ("MSETEX 3 a 3 b 5", "-ERR wrong number of key-value pairs"),
        ("MSETEX 2 x 1 y", "-ERR wrong number of key-value pairs"), ("MSETEX 1 a 3 b 5", Syntax), ("MSETEX 1 a", "-ERR wrong number of arguments for 'msetex' command"),
        ("MSETEX 2 a 1 a 2", ":1"), ("GET a", "$1 2"), ("MSETEX 1 a 1 EXAT 1", ":1"), ("EXISTS a", ":0"), ("MSETEX 1 a 1 GET", Syntax), ("MSETEX 1 a 1 IFEQ 1", Syntax),
        ("MSETEX 1 NX 1 NX", ":1"), ("GET NX", "$1 1"), ("HSET h f v", ":1"), ("MSETEX 1 h v XX", ":1"), ("TYPE h", "+string"),
        ("MSETEX 2 x 1 y 2 EX 50 EX 200", ":1"), ("TTL y", ":200"), ("MSETEX 2 x 1 y 2 EX 100 PX 200", Syntax), ("MSETEX 1 x 1 EX", Syntax),
        ("COMMAND GETKEYS MSETEX 2 a b c d EX 1", "*2 $1 a $1 c"),
    ]);

    [Fact]
    public void Users_with_a_prefix_may_compare_and_set_their_own_keys_only()
    {
        using var host = new RespHost();
        host.Server.Users = Cairn.Server.Resp.Security.RespUsers.Parse("default nopass read-write shop:", "users");
        RespClient client = host.Connect();

        Assert.Equal(":1\r\n", client.Run("MSETEX 2 shop:a 1 shop:b 2"));
        Assert.StartsWith("-NOPERM", client.Run("MSETEX 2 shop:a 1 b 2"), StringComparison.Ordinal);
        Assert.StartsWith("-NOPERM", client.Run("DELEX b"), StringComparison.Ordinal);
        Assert.StartsWith("-NOPERM", client.Run("EVAL x 2 shop:a b"), StringComparison.Ordinal);
    }

    private static void AssertReplies((string Request, string Reply)[] exchanges)
    {
        using var host = new RespHost();
        RespClient client = host.Connect();

        string[] actual = [.. exchanges.Select(exchange => $"{exchange.Request} -> {client.Run(exchange.Request).ReplaceLineEndings(" ").TrimEnd()}")];

        Assert.Equal(exchanges.Select(exchange => $"{exchange.Request} -> {exchange.Reply}"), actual);
    }
}
