using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using Cairn.Server.Resp;
using Cairn.Server.Resp.Commands;
using Cairn.Server.Tests.Resp.Clients;

namespace Cairn.Server.Tests.Resp;

/// <summary>Scripts of lock and cache libraries do what they do in redis-server. Other scripts are refused.</summary>
public partial class KnownScriptTests(RespServers servers) : IClassFixture<RespServers>
{
    // The forms in which libraries and applications write the comparison with the caller's token. A is the action.
    private static readonly string[] s_comparisons =
    [
        "if redis.call('get', KEYS[1]) == ARGV[1] then\n    return A\nelse\n    return 0\nend",
        "if redis.call(\"GET\", KEYS[1]) == ARGV[1] then return A end return 0",
        "if (redis.call('get',KEYS[1]) == ARGV[1]) then return A; else return 0; end;",
        "if (redis.call('get', KEYS[1]) == ARGV[1]) then return A end return 0",
        "local value = redis.call('GET', KEYS[1]) -- the token\nif value == ARGV[1] then return A else return 0 end",
        "local key = KEYS[1] local val = redis.call('get', key) --[[ the\ntoken ]] if val == ARGV[1] then return A end return 0",
    ];

    // The scripts for several keys.
    private static readonly string[] s_several =
    [
        """
        for i, key in ipairs(KEYS) do if redis.call("exists", key) == 1 then return 0 end end
        for i, key in ipairs(KEYS) do redis.call("set", key, ARGV[1], "PX", ARGV[2]) end return #KEYS
        """,
        """
        for i, key in ipairs(KEYS) do if redis.call("get", key) ~= ARGV[1] then return 0 end end
        for i, key in ipairs(KEYS) do redis.call("set", key, ARGV[1], "PX", ARGV[2]) end return #KEYS
        """,
        """
        local count = 0
        for i, key in ipairs(KEYS) do if redis.call("get", key) == ARGV[1] then redis.pcall("del", key) count = count + 1 end end return count
        """,
    ];

    private static readonly string[] s_texts =
    [
        .. Compared("redis.call('del', KEYS[1])"),
        .. Compared("redis.call('unlink', KEYS[1])"),
        .. Compared("redis.call('pexpire', KEYS[1], ARGV[2])"),
        .. Compared("redis.call('expire', KEYS[1], ARGV[2])"),
        """
        local key = KEYS[1] local identifier = ARGV[1] local time = ARGV[2] local value = redis.call('get', key)
        if value == identifier then redis.call('pexpire', key, time) return 1 end return 0
        """,
        "local token = redis.call('get', KEYS[1]) if not token or token ~= ARGV[1] then return 0 end redis.call('del', KEYS[1]) return 1",
        "local gva = redis.call('GET', KEYS[1])\r\nif gva == ARGV[1] then\r\n  redis.call('DEL', KEYS[1])\r\n  return 1\r\nend\r\nreturn 0",
        "local token = redis.call('get', KEYS[1]) if not token or token ~= ARGV[1] then return 0 end redis.call('pexpire', KEYS[1], ARGV[2]) return 1",
        """
        local token = redis.call('get', KEYS[1]) if not token or token ~= ARGV[1] then return 0 end
        local expiration = redis.call('pttl', KEYS[1]) if not expiration then expiration = 0 end if expiration < 0 then return 0 end
        local newttl = ARGV[2] if ARGV[3] == "0" then newttl = ARGV[2] + expiration end redis.call('pexpire', KEYS[1], newttl) return 1
        """,
        """
        local val = redis.call("GET", KEYS[1])
        if val == ARGV[1] then return redis.call("DEL", KEYS[1]) elseif val == false then return -1 else return 0 end
        """,
        """
        if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2])
        elseif redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2], "NX") then return 1 else return 0 end
        """,
        """
        local currentVal = redis.call('get', KEYS[1])
        if (currentVal == false) then return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2]) and 1 or 0
        elseif (currentVal == ARGV[1]) then return redis.call('pexpire', KEYS[1], ARGV[2]) else return -1 end
        """,
        """
        local lockClientId = redis.call('GET', KEYS[1]) if lockClientId == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) return true
        elseif not lockClientId then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return true end return false
        """,
        "if (redis.call('GET', KEYS[1]) == ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) return true end return false",
        "local lockClientId = redis.call('GET', KEYS[1]) if lockClientId == ARGV[1] then redis.call('UNLINK', KEYS[1]) return true end return false",
        "if redis.call(\"get\", KEYS[1]) == ARGV[1] then return redis.call(\"pttl\", KEYS[1]) else return -3 end",
        .. s_several,
        .. s_several.Select(text => "redis.pcall('SELECT', tonumber(ARGV[1])) "
            + text.Replace("ARGV[2]", "ARGV[3]", StringComparison.Ordinal).Replace("ARGV[1]", "ARGV[2]", StringComparison.Ordinal)),
        "local exists = redis.call('EXISTS', KEYS[1]) if (exists == 1) then return redis.call('INCRBY', KEYS[1], ARGV[1]) else return false end",
        "return redis.call('INCRBY', KEYS[1], ARGV[1])",
        """
        redis.call('set', KEYS[1], 0, 'EX', ARGV[2], 'NX') local consumed = redis.call('incrby', KEYS[1], ARGV[1])
        local ttl = redis.call('pttl', KEYS[1]) if ttl == -1 then redis.call('expire', KEYS[1], ARGV[2]) ttl = 1000 * ARGV[2] end return {consumed, ttl}
        """,
        .. new[] { "setex", "psetex" }.Select(set => $"return redis.call('exists',KEYS[1])<1 and redis.call('{set}',KEYS[1],ARGV[2],ARGV[1])"),
        .. new[] { "HSET", "HMSET" }.Select(set =>
            $"redis.call('{set}', KEYS[1], 'absexp', ARGV[1], 'sldexp', ARGV[2], 'data', ARGV[4]) if ARGV[3] ~= '-1' then redis.call('EXPIRE', KEYS[1], ARGV[3]) end return 1"),
    ];

    // Cairn.Redis.Leasing.RedisLeases.
    private const string AcquireLease = "if ARGV[3] == '1' and redis.call('EXISTS', KEYS[1]) == 1 then return 2 end "
        + "if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end return 0";

    private const string RunIfHeld = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end local at = 2 "
        + "while at < #ARGV do local last = at + ARGV[at] redis.call(unpack(ARGV, at + 1, last)) at = last + 1 end return 1";

    [RequiresToolFact("redis-server")]
    public void Every_known_script_is_answered_as_by_redis()
    {
        string?[] differences = [.. s_texts.Select(text => Difference(Scenario(text)) is { } difference ? $"{difference}, in\n{text}" : null)];

        Assert.DoesNotContain(differences, difference => difference is not null);
    }

    [RequiresToolFact("redis-server")]
    public void Scripts_of_leases_are_answered_as_by_redis()
    {
        string[] Acquire(string onlyIfMissing, string time = "50000") => ["EVAL", AcquireLease, "2", "k", "l", "me", time, onlyIfMissing];
        string[] Run(params string[] rest) => ["EVAL", RunIfHeld, "3", "l", "k", "h", .. rest];
        string[] Store(string owner) =>
            Run(owner, "8", "HSET", "k", "absexp", "-1", "sldexp", "-1", "data", "v", "3", "PEXPIRE", "k", "40000", "2", "UNLINK", "l", "3", "PUBLISH", "c", "m");
        string? difference = Difference(
        [
            ["DEL", "k", "l", "h"],
            Acquire("1"), Acquire("1"), ["GET", "l"], ["TTL", "l"], Acquire("1", "x"), ["SET", "k", "v"], Acquire("1"), Acquire("0"), ["DEL", "l"], Acquire("1"), Acquire("0"),
            ["DEL", "k", "l"], Acquire("0", "x"), Acquire("0", "0"), ["HSET", "l", "f", "v"], Acquire("0"), ["DEL", "l"],
            ["EVALSHA", Sha1(AcquireLease), "2", "k", "l", "me", "50000", "1"],
            Run("you", "2", "DEL", "l"), Run("me", "3", "PEXPIRE", "l", "40000"), ["TTL", "l"], Run("me"), Run("me", "x"), Run("me", "3", "DEL"), Run("me", "x", "DEL", "l"),
            Store("you"), ["EXISTS", "k"], Store("me"), ["HGETALL", "k"], ["TTL", "k"], ["EXISTS", "l"], Store("me"), ["PERSIST", "k"],
            Acquire("0"), Run("me", "2", "PERSIST", "l", "3", "SET", "h", "w", "5", "SET", "k", "v", "PX", "50000", "3", "DEL", "l", "h"), ["MGET", "k", "l", "h"], ["TTL", "k"],
            Acquire("0"), Store("me"), ["GET", "k"], ["GET", "l"],
            Run("me", "3", "PEXPIRE", "l", "x"), Run("me", "2", "PEXPIRE", "l"), Run("me", "2", "NOTHING", "l"), Run("me", "2", "DEL", "l"), ["EXISTS", "l"],
            ["HSET", "l", "f", "v"], Run("me", "2", "DEL", "l"), ["DEL", "l"], ["DEL", "k"],
            ["MULTI"], Acquire("1"), Store("me"), ["GET", "l"], ["EXEC"], ["HGET", "k", "data"],
        ]);

        Assert.Null(difference);
    }

    [Theory]
    [InlineData("names a key that is not in KEYS", "2", "DEL", "other")]
    [InlineData("names a key that is not in KEYS", "3", "DEL", "k", "other")]
    [InlineData("can execute HSET", "2", "GET", "k")]
    [InlineData("can execute HSET", "5", "SET", "k", "v", "GET", "NX")]
    [InlineData("can execute HSET", "2", "BLPOP", "k")]
    [InlineData("can execute HSET", "1", "FLUSHALL")]
    [InlineData("can execute HSET", "1", "EXEC")]
    [InlineData("can execute HSET", "1", "UNLINK")]
    [InlineData("at most 8 commands", "1", "65")]
    public void A_holder_of_a_lease_executes_only_short_commands_on_the_keys_of_the_script(string reason, params string[] command)
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        string[] words = command[^1] == "65" ? ["65", "DEL", .. Enumerable.Repeat("k", 64)] : command;
        client.Run("SET k v", "SET other w");

        string reply = client.Send(ReplyTexts.Encode(["EVAL", RunIfHeld, "1", "k", "v", .. words]));

        Assert.StartsWith("-ERR the script ", reply, StringComparison.Ordinal);
        Assert.Contains(reason, reply, StringComparison.Ordinal);
        Assert.Equal("$1\r\nv\r\n$1\r\nw\r\n", client.Run("GET k", "GET other"));
    }

    [Fact]
    public void A_holder_of_a_lease_executes_at_most_eight_commands()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        client.Run("SET k v");
        string[] Persist(int times) => [.. Enumerable.Repeat((string[])["2", "PERSIST", "k"], times).SelectMany(words => words)];

        Assert.Equal(":1\r\n", client.Send(ReplyTexts.Encode(["EVAL", RunIfHeld, "1", "k", "v", .. Persist(8)])));
        Assert.Contains("at most 8", client.Send(ReplyTexts.Encode(["EVAL", RunIfHeld, "1", "k", "v", .. Persist(9)])), StringComparison.Ordinal);
    }

    [Fact]
    public void A_message_that_a_script_publishes_to_its_own_client_follows_the_reply()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        client.Run("HELLO 3");
        client.Run("SET k v", "SUBSCRIBE c");

        string reply = client.Send(ReplyTexts.Encode(["EVAL", RunIfHeld, "1", "k", "v", "3", "PUBLISH", "c", "m"]));

        Assert.Equal(":1\r\n>3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n", reply);
    }

    [Fact]
    public void Every_digest_in_the_table_is_that_of_a_script_in_these_tests()
    {
        string[] tested = [.. s_texts.Append(AcquireLease).Append(RunIfHeld).Select(text => ScriptText.NormalDigest(Encoding.Latin1.GetBytes(text))).Order(StringComparer.Ordinal)];

        Assert.Equal(tested, ScriptTable.All.SelectMany(script => script.Digests).Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Documents_list_every_known_script()
    {
        string document = File.ReadAllText(RepositoryFile.At("docs", "protocols.md"));

        Assert.All(ScriptTable.All, script => Assert.Contains($"| {script.Name} |", document, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("return 1")]
    [InlineData("if redis.call('get', KEYS[1]) == ARGV[2] then return redis.call('del', KEYS[1]) else return 0 end")]
    [InlineData("if redis.call('get', keys[1]) == argv[1] then return redis.call('del', keys[1]) else return 0 end")]
    [InlineData("-- if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end")]
    [InlineData("--[[")]
    [InlineData("'")]
    [InlineData("\"\\")]
    [InlineData("")]
    [InlineData("local k = KEYS[1] local t = ARGV[2] if redis.call('get', k) == t then return redis.call('del', k) else return 0 end")]
    [InlineData("local k = KEYS[1] k = KEYS[2] if redis.call('get', k) == ARGV[1] then return redis.call('del', k) else return 0 end")]
    [InlineData("local k = KEYS[1] .. 'x' if redis.call('get', k) == ARGV[1] then return redis.call('del', k) else return 0 end")]
    [InlineData("local k = KEYS[1] or 'x' if redis.call('get', k) == ARGV[1] then return redis.call('del', k) else return 0 end")]
    [InlineData("local k = KEYS[1] local k = KEYS[2] if redis.call('get', k) == ARGV[1] then return redis.call('del', k) else return 0 end")]
    [InlineData("do local k = KEYS[1] end if redis.call('get', k) == ARGV[1] then return redis.call('del', k) else return 0 end")]
    [InlineData("local redis = KEYS[1] if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end")]
    [InlineData("local value = redis.call('get', KEYS[1]) if val == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end")]
    [InlineData("local k, t = KEYS[1], ARGV[1] if redis.call('get', k) == t then return redis.call('del', k) else return 0 end")]
    [InlineData("local")]
    [InlineData("local x =")]
    [InlineData("local x = KEYS[")]
    [InlineData("local x = KEYS[1]")]
    public void Other_scripts_are_refused_with_the_page_that_lists_the_known_ones(string text)
    {
        using var host = new RespHost();
        RespClient client = host.Connect();

        foreach (string[] request in new string[][] { ["EVAL", text, "1", "k", "v"], ["EVAL_RO", text, "1", "k", "v"], ["SCRIPT", "LOAD", text] })
        {
            Assert.StartsWith(
                "-ERR Lua is not executed, except the scripts that docs/protocols.md lists under Known scripts.",
                client.Send(ReplyTexts.Encode(request)),
                StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("local key = KEYS[1]\nlocal token = ARGV[1]\nif redis.call('GET', key) == token then\n  return redis.call('DEL', key)\nelse\n  return 0\nend")]
    [InlineData("local key = KEYS[1]; -- the lock\nlocal value = redis.call('get', key); if value == ARGV[1] then return redis.call('del', key); end; return 0")]
    [InlineData("local call = ARGV[1] local current = redis.call('get', KEYS[1]) if current == call then return redis.call('unlink', KEYS[1]) else return 0 end")]
    public void A_known_script_may_give_names_to_its_keys_and_arguments(string text)
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        client.Send(ReplyTexts.Encode(["SET", "k", "token"]));

        Assert.Equal(":0\r\n", client.Send(ReplyTexts.Encode(["EVAL", text, "1", "k", "other"])));
        Assert.Equal(":1\r\n", client.Send(ReplyTexts.Encode(["EVAL", text, "1", "k", "token"])));
        Assert.Equal("$-1\r\n", client.Send(ReplyTexts.Encode(["GET", "k"])));
    }

    [Fact]
    public void Scripts_may_not_be_longer_than_the_known_ones()
    {
        using var host = new RespHost();
        string known = s_texts[0] + new string(' ', 4096 - s_texts[0].Length);

        Assert.Equal(":0\r\n", host.Connect().Send(ReplyTexts.Encode(["EVAL", known, "1", "k", "v"])));
        Assert.StartsWith("-ERR Lua", host.Connect().Send(ReplyTexts.Encode(["EVAL", known + " ", "1", "k", "v"])), StringComparison.Ordinal);
    }

    [Fact]
    public void Texts_of_a_script_are_remembered_up_to_a_limit()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        string first = Sha1(s_texts[0]);
        client.Send(ReplyTexts.Encode(["SCRIPT", "LOAD", s_texts[0]]));

        Assert.Equal("*1\r\n:1\r\n", client.Send(ReplyTexts.Encode(["SCRIPT", "EXISTS", first])));

        for (int i = 1; i <= 1024; i++)
        {
            client.Send(ReplyTexts.Encode(["SCRIPT", "LOAD", s_texts[0] + new string(' ', i)]));
        }

        Assert.Equal("*1\r\n:0\r\n", client.Send(ReplyTexts.Encode(["SCRIPT", "EXISTS", first])));
        Assert.StartsWith("-NOSCRIPT", client.Send(ReplyTexts.Encode(["EVALSHA", first, "1", "k", "v"])), StringComparison.Ordinal);
    }

    [Fact]
    public void A_script_with_too_few_keys_or_arguments_is_an_error_that_says_what_it_takes()
    {
        using var host = new RespHost();

        Assert.Equal(
            "-ERR the script takes at least 1 key(s) and 1 argument(s)\r\n",
            host.Connect().Send(ReplyTexts.Encode(["EVAL", s_texts[0], "0", "k", "v"])));
        Assert.Equal(
            "-ERR the script takes at least 1 key(s) and 1 argument(s)\r\n", host.Connect().Send(ReplyTexts.Encode(["EVAL", s_texts[0], "1", "k"])));
    }

    private static IEnumerable<string> Compared(string action) => s_comparisons.Select(form => form.Replace("A ", action + " ", StringComparison.Ordinal).Replace("A\n", action + "\n", StringComparison.Ordinal).Replace("A;", action + ";", StringComparison.Ordinal));

    private string? Difference(List<string[]> scenario)
    {
        byte[] requests = Encoding.Latin1.GetBytes(string.Concat(scenario.Select(ReplyTexts.Encode)));
        string redis = Comparable(ReplyTexts.Run(servers.Redis, 2, requests, requests.Length));
        string cairn = Comparable(ReplyTexts.Run(servers.Cairn, 2, requests, requests.Length));
        return redis == cairn ? null : ReplyTexts.Difference(redis, cairn);
    }

    private static string Sha1(string text) =>
#pragma warning disable CA5350 // The digest names scripts in this protocol; it protects no secret.
        Convert.ToHexStringLower(SHA1.HashData(Encoding.Latin1.GetBytes(text)));
#pragma warning restore CA5350

    private static List<string[]> Scenario(string text)
    {
        string[] database = text.Contains("SELECT", StringComparison.Ordinal) ? ["0"] : [];
        string[] Evaluate(string time = "50000", string how = "0") => ["EVAL", text, "1", "k", .. database, "token", time, how];
        string[] two = ["EVAL", text, "2", "k", "l", .. database, "token", "50000"];
        return
        [
            ["EVALSHA", Sha1(text), "x", "k"],
            Evaluate(), ["GET", "k"], ["TTL", "k"], Evaluate(), ["TTL", "k"],
            ["SET", "k", "other"], Evaluate(), ["GET", "k"], ["TTL", "k"],
            ["SET", "k", "token"], Evaluate(), ["GET", "k"], ["TTL", "k"],
            ["SET", "k", "token", "PX", "40000"], Evaluate(), ["TTL", "k"],
            ["SET", "k", "token", "PX", "40000"], Evaluate(how: "1"), ["TTL", "k"],
            ["SET", "k", "token", "PX", "40000"], ["EVALSHA", Sha1(text), "1", "k", .. database, "token", "50000", "0"], ["TTL", "k"],
            ["SET", "k", "token", "PX", "40000"], Evaluate(time: "x"), Evaluate(time: "-1"), ["GET", "k"], Evaluate(time: "9223372036854775807"), ["TTL", "k"],
            ["DEL", "k"], ["HSET", "k", "f", "v"], Evaluate(), ["DEL", "k"],
            two, ["MGET", "k", "l"], ["SET", "l", "other"], two, ["MGET", "k", "l"], ["MSET", "k", "token", "l", "token"], two, ["MGET", "k", "l"], ["TTL", "l"],
            ["SET", "k", "7"], ["EVAL", text, "1", "k", .. database, "5", "50000"], ["GET", "k"], ["EVAL", text, "1", "none", .. database, "5", "50000"], ["MGET", "k", "none"], ["DEL", "k", "none"],
            ["MULTI"], Evaluate(), ["GET", "k"], ["EXEC"],
            ["DEL", "k"], ["EVAL", text, "1", "k", .. database, "token", "50000", "100", "data"], ["TYPE", "k"], ["TTL", "k"],
            ["SCRIPT", "EXISTS", Sha1(text), Sha1(text).ToUpperInvariant(), Sha1("return 1"), "x"],
            ["EVAL", text, "-1"], ["EVAL", text, "2", "k"], ["EVAL", text, "x"], ["EVALSHA", "x", "0"],
        ];
    }

    // Redis says where in a script an error happened. Remaining times are about 40 or 50 seconds, or 50,000 seconds, in milliseconds.
    private static string Comparable(string replies) => TimePattern().Replace(ErrorPattern().Replace(replies, "$1"), Rounded);

    // A millisecond passes between the two servers, so 40,000 and 39,999 must be equal: a time is rounded to its first digit.
    private static string Rounded(Match time)
    {
        double unit = Math.Pow(10, time.Length - 2);
        return string.Create(CultureInfo.InvariantCulture, $":about {Math.Round(long.Parse(time.ValueSpan[1..], CultureInfo.InvariantCulture) / unit) * unit} ms");
    }

    [GeneratedRegex(@"^(-[A-Z]+) .*$", RegexOptions.Multiline)]
    private static partial Regex ErrorPattern();

    [GeneratedRegex(@":([345]\d{4}|\d{8})\b")]
    private static partial Regex TimePattern();
}
