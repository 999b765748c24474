namespace Cairn.Server.Resp.Commands;

// The parts of the replies to COMMAND INFO, COMMAND LIST and COMMAND GETKEYSANDFLAGS that are not in the table of commands: the categories of access, and how
// a command uses its keys. The words and their order are those of Redis.
internal static class CommandFacts
{
    // In the order in which Redis lists them.
    private static readonly string[] s_categories =
        ["keyspace", "read", "write", "set", "sortedset", "hash", "string", "pubsub", "admin", "fast", "slow", "dangerous", "connection", "transaction", "scripting"];

    // How commands use their keys. Commands that only read them, and are not listed, access their values. The second key of a command with
    // two keys that are used differently is its name with a 2.
    private static readonly Dictionary<string, string> s_keyFlags = new (string Flags, string Commands)[]
    {
        ("RO", "exists hexists hlen hstrlen scard sismember strlen touch type watch zcard object|encoding object|freq object|idletime object|refcount memory|usage"),
        ("RO access", "copy"),
        ("RW access update", "decr decrby eval evalsha fcall getex getset hincrby hincrbyfloat incr incrby incrbyfloat zincrby"),
        ("RW access update variable_flags", "set"),
        ("RW access delete", "getdel rename renamenx zpopmax zpopmin"),
        ("RW insert", "append hsetnx sadd"),
        ("RW update", "expire expireat hmset hset persist pexpire pexpireat setrange zadd"),
        ("RW delete", "delifeq hdel srem zrem zremrangebyrank zremrangebyscore"),
        ("RW delete variable_flags", "delex"),
        ("RM delete", "del unlink"),
        ("OW update", "mset msetex psetex setex copy2 rename2"),
        ("OW insert", "msetnx setnx renamenx2"),
    }.SelectMany(line => line.Commands.Split(' ').Select(command => KeyValuePair.Create(command, line.Flags))).ToDictionary(StringComparer.Ordinal);

    // Commands whose reply is not deferred while a script or module is busy; here it has no effect.
    private static readonly HashSet<string> s_alwaysAllowed =
        ["auth", "discard", "function|kill", "function|stats", "hello", "multi", "quit", "reset", "script|kill", "unwatch", "watch"];

    private static readonly HashSet<string> s_alsoDangerous = ["flushall", "flushdb", "info", "keys"];

    private static readonly (CommandFlags Flag, string Name)[] s_flagNames =
    [
        (CommandFlags.Write, "write"), (CommandFlags.ReadOnly, "readonly"), (CommandFlags.DenyOom, "denyoom"),
        (CommandFlags.Admin, "admin"), (CommandFlags.PubSub, "pubsub"), (CommandFlags.NoScript, "noscript"),
        (CommandFlags.Loading, "loading"), (CommandFlags.Stale, "stale"), (CommandFlags.Fast, "fast"),
        (CommandFlags.NoAuth, "no_auth"), (CommandFlags.NoMulti, "no_multi"),
    ];

    /// <summary>Returns the categories of a command, in order, without the at sign.</summary>
    public static string[] CategoriesOf(CommandInfo command)
    {
        CommandFlags flags = command.Flags;
        bool isAdmin = (flags & CommandFlags.Admin) != 0 || command.Name == "role";
        bool isScript = command is { Group: "scripting", HasKeyCount: true }; // Whether it writes depends on the script.
        string group = command.Name switch
        {
            "dbsize" or "flushall" or "flushdb" => "keyspace",
            _ when command.Name.StartsWith("command", StringComparison.Ordinal) => "connection",
            _ when command.Subcommands.Length > 0 || command.Name == "acl|whoami" => "",
            _ => command.Group switch { "generic" => "keyspace", "transactions" => "transaction", "pubsub" => "", "sorted-set" => "sortedset", string other => other },
        };
        return
        [
            .. s_categories.Where(category => category == group || category switch
            {
                "read" => (flags & CommandFlags.ReadOnly) != 0 && !isScript,
                "write" => (flags & CommandFlags.Write) != 0 && !isScript,
                "pubsub" => (flags & CommandFlags.PubSub) != 0,
                "admin" => isAdmin,
                "fast" => (flags & CommandFlags.Fast) != 0,
                "slow" => (flags & CommandFlags.Fast) == 0,
                "dangerous" => isAdmin || s_alsoDangerous.Contains(command.Name),
                _ => false,
            }),
        ];
    }

    /// <summary>Returns the properties of a command.</summary>
    public static List<string> FlagsOf(CommandInfo command)
    {
        bool isScript = command is { Group: "scripting", HasKeyCount: true };
        CommandFlags hidden = isScript ? CommandFlags.Write | CommandFlags.DenyOom : CommandFlags.None;
        List<string> names = [.. s_flagNames.Where(pair => (command.Flags & ~hidden & pair.Flag) != 0).Select(pair => pair.Name)];
        if (s_alwaysAllowed.Contains(command.Name))
        {
            names.Add("allow_busy");
        }
        else if (command.Name == "exec")
        {
            names.Add("skip_slowlog");
        }

        if (isScript)
        {
            names.AddRange(["skip_monitor", "no_mandatory_keys"]);
        }

        if (command.HasKeyCount)
        {
            names.Add("movablekeys");
        }

        return names;
    }

    /// <summary>Returns how a command uses its keys. There are two elements if it uses its second key in another way.</summary>
    public static string[] KeyFlagsOf(CommandInfo command)
    {
        string first = s_keyFlags.GetValueOrDefault(command.Name, "RO access");
        return command.FirstKey == 0 ? [] : s_keyFlags.TryGetValue(command.Name + "2", out string? second) ? [first, second] : [first];
    }
}
