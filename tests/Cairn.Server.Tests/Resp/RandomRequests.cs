using System.Globalization;
using Cairn.Server.Resp.Commands;

namespace Cairn.Server.Tests.Resp;

/// <summary>Mostly valid requests on few keys, so that they collide. No result depends on time.</summary>
internal static class RandomRequests
{
    private static readonly string[] s_keys = ["a", "b", "c", "n", "h", "z"];

    private static readonly string[] s_values =
    [
        "", "0", "1", "-1", "10", "007", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1.5", "0.1", " 1", "1 ",
        "text", "\r\n", "\0", "a longer value than the others of this list, to see where it is cut",
    ];

    private static readonly string[] s_scores = ["0", "1", "-1", "2", "2", "3", "0.1", "1.5", "1e300", "1e-400", "inf", "-inf", "x", ""];

    private static readonly string[] s_limits = ["0", "1", "-1", "2", "(1", "(2", "(0.1", "3", "-inf", "+inf", "(inf", "x", ""];

    private static readonly string[] s_numbers = ["0", "1", "-1", "5", "-5", "100", "-100", "9223372036854775807", "x", "1.5", ""];

    private static readonly string[] s_options = "NX XX GT LT CH INCR GET KEEPTTL EXAT PXAT PERSIST MATCH COUNT WITHSCORES BYSCORE REV LIMIT REPLACE DB ASYNC SYNC FOO".Split(' ');

    private static readonly string[] s_shapes =
    [
        "", "K", "K W", "K W W", "K O W", "K W O", "K W W O", "W O K W", "K W W W W", "K O O W W", "K W W O W W", "K M O",
    ];

    // Commands whose reply depends on time, on the order of keys, on the server, or on other clients; those of Redis 8; and those with subcommands.
    private static readonly string[] s_notAny =
    [
        "expire", "pexpire", "setex", "psetex", "ttl", "pttl", "dbsize", "time", "keys", "scan", "randomkey", "smembers", "sscan", "info", "command", "quit", "hello", "watch", "unsubscribe",
        "punsubscribe", "subscribe", "psubscribe", "eval", "eval_ro", "evalsha", "evalsha_ro", "delex", "delifeq", "digest", "msetex",
    ];

    // K is a key, V a value, W a value that is also a key, O an option of any command, S a score, L a limit of scores, N a number, M a time in the far future, and | separates alternatives.
    private static readonly string[] s_forms =
    [
        "GET K", "GET K", "SET K V", "SET K V", "SET K V NX", "SET K V XX", "SET K V GET", "SET K V KEEPTTL", "SET K V EXAT M",
        "SET K V PXAT M|0|-1|x XX", "SET K V NX GET", "SET K V NX XX", "SET K V EX", "SETNX K V", "GETSET K V", "GETDEL K", "GETEX K",
        "GETEX K PERSIST", "GETEX K EXAT M", "GETEX K EX 0", "MGET K K K", "MSET K V K V", "MSET K V K", "MSETNX K V K V", "APPEND K V",
        "STRLEN K", "GETRANGE K N N", "SETRANGE K N V", "INCR K", "DECR K", "INCRBY K N", "DECRBY K N", "INCRBYFLOAT K 0.5|0.1|-2.25|1e3|x",
        "DEL K K", "UNLINK K", "EXISTS K K", "TOUCH K", "TYPE K", "RENAME K K", "RENAMENX K K", "COPY K K", "COPY K K REPLACE",
        "HSET h K V", "HSET h K V K V", "HSET K K V", "HMSET h K V", "HSETNX h K V", "HGET h K", "HGET K K", "HMGET h K K K", "HGETALL h",
        "HGETALL K", "HKEYS h", "HVALS h", "HDEL h K", "HDEL h K K", "HEXISTS h K", "HLEN h", "HSTRLEN h K", "HINCRBY h K N",
        "HINCRBYFLOAT h K 0.1|2|x", "HSCAN h 0",
        "SADD K 1", "SADD a V", "SREM K 1", "SREM K V K", "SCARD K", "SISMEMBER K 1", "SMISMEMBER K V 1",
        "ZADD z S K", "ZADD z S K S V", "ZADD z S K S K S K", "ZADD K S K", "ZADD z NX|XX|GT|LT|CH|INCR S K", "ZADD z NX|XX|GT|LT NX|XX|GT|LT|CH|INCR S K",
        "ZINCRBY z S K", "ZREM z K", "ZREM z K V", "ZREMRANGEBYSCORE z L L", "ZREMRANGEBYRANK z N N", "ZCARD K", "ZCOUNT z L L", "ZSCORE z K",
        "ZMSCORE z K V", "ZRANK z K", "ZREVRANK z K", "ZRANGE z N N", "ZRANGE z 0 -1 WITHSCORES", "ZRANGE z L L BYSCORE", "ZRANGE z N N REV|WITHSCORES|BYSCORE",
        "ZRANGE z L L BYSCORE REV", "ZRANGE z L L BYSCORE LIMIT N N", "ZREVRANGE z N N", "ZRANGEBYSCORE z L L", "ZREVRANGEBYSCORE z L L WITHSCORES", "ZSCAN z 0", "MULTI", "EXEC", "EXEC", "DISCARD", "EXPIREAT K M", "EXPIREAT K M NX|XX|GT|LT", "PEXPIREAT K 0", "EXPIRETIME K", "PERSIST K", "NOTHING K V", "GET", "SELECT 0|1|x",
    ];

    /// <summary>Gets further forms, which change the connection's state. None uses WATCH: removing a missing key counts as a change.</summary>
    public static string[] ConnectionForms { get; } =
    [
        "HELLO 2|3|4|x", "HELLO 3 SETNAME V", "RESET", "UNWATCH", "SUBSCRIBE c", "UNSUBSCRIBE", "UNSUBSCRIBE c", "UNSUBSCRIBE",
        "PSUBSCRIBE c*", "PUNSUBSCRIBE", "PUNSUBSCRIBE c*", "PUBLISH c V", "PING", "PING V", "ECHO V", "CLIENT SETNAME V", "CLIENT GETNAME",
        "AUTH V", "ACL WHOAMI", "CLIENT TRACKINGINFO", "CLIENT CACHING YES", "SUBSTR K N N", "EVALSHA V N", "COMMAND GETKEYS SET K V",
        "MULTI", "MULTI V", "EXEC V", "QUEUE",
    ];

    /// <summary>Gets forms of every command with any arguments: mostly errors, which show in which order the server makes its checks.</summary>
    public static string[] AnyForms { get; } =
    [
        .. from command in RespCommands.Table.All
           where command.Subcommands.Length == 0 && !s_notAny.Contains(command.Name)
           from shape in s_shapes
           select $"{command.Name} {shape}".TrimEnd(),
    ];

    public static List<string[]> Make(Random random, int count, params string[] moreForms)
    {
        string[] forms = [.. s_forms, .. moreForms];
        var requests = new List<string[]>();
        bool isQueueing = false;
        while (requests.Count < count)
        {
            string[] request = [.. Pick(random, forms).Split(' ').Select(word => Fill(random, word))];

            // Redis 7.0 writes a message to the client itself into the reply of EXEC. Later versions and Cairn write it behind the reply.
            if (request[0] == "PUBLISH" && isQueueing)
            {
                continue;
            }

            isQueueing = request is ["MULTI"] || (isQueueing && request is not (["EXEC"] or ["DISCARD"] or ["RESET"]));
            requests.Add(request);
        }

        return requests;
    }

    private static string Fill(Random random, string word) => Pick(random, word.Split('|')) switch
    {
        "K" => Pick(random, s_keys),
        "V" => Pick(random, s_values),
        "S" => Pick(random, s_scores),
        "L" => Pick(random, s_limits),
        "N" => Pick(random, s_numbers),
        "W" => Pick(random, [.. s_values[1..], "inf", "-inf", "(1", "5"]).Replace('\0', '0'),
        "O" => Pick(random, s_options),
        "M" => (4_102_444_800 + random.Next(3)).ToString(CultureInfo.InvariantCulture),
        string other => other,
    };

    private static string Pick(Random random, string[] choices) => choices[random.Next(choices.Length)];
}
