namespace Cairn.Server.Resp.Commands;

// EVAL and related commands. The server executes no Lua. It knows the scripts of some libraries (KnownScripts), and does natively what they
// do, while it holds the partitions of their keys.
internal static class ScriptCommands
{
    private const CommandFlags Flags = CommandFlags.NoScript | CommandFlags.Stale;
    private const CommandFlags Changes = Flags | CommandFlags.Write | CommandFlags.DenyOom;
    private const int KeyArgument = 3;

    // The characters of a script whose digests are computed in the time of one ordinary key.
    private const int CharactersOfElement = 32;

    public static CommandInfo[] All { get; } =
    [
        Make("eval", Changes, EvaluateText),
        Make("evalsha", Changes, EvaluateDigest),
        Make("eval_ro", Flags | CommandFlags.ReadOnly, EvaluateText),
        Make("evalsha_ro", Flags | CommandFlags.ReadOnly, EvaluateDigest),
        new CommandInfo
        {
            Name = "script", Arity = -2, Flags = CommandFlags.None, Group = "scripting", Handler = Exists, Subcommands =
            [
                new CommandInfo { Name = "script|load", Arity = 3, Flags = Flags, Group = "scripting", Handler = Load },
                new CommandInfo { Name = "script|exists", Arity = -3, Flags = CommandFlags.NoScript | CommandFlags.Lists, Group = "scripting", Handler = Exists },
                new CommandInfo { Name = "script|flush", Arity = -2, Flags = CommandFlags.NoScript, Group = "scripting", Handler = Flush },
                new CommandInfo { Name = "script|kill", Arity = 2, Flags = CommandFlags.NoScript, Group = "scripting", Handler = Kill },
                HelpCommand.Of("script", "scripting"),
            ],
        },
        Make("fcall", Flags, Call),
        Make("fcall_ro", Flags | CommandFlags.ReadOnly, Call),
        new CommandInfo
        {
            Name = "function", Arity = -2, Flags = CommandFlags.None, Group = "scripting", Handler = List, Subcommands =
            [
                Function("delete", 3, CommandFlags.Write, (s, scoped in a, ref w) => w.WriteError("ERR Library not found"u8)),
                Function("flush", -2, CommandFlags.Write, FlushFunctions),
                Function("kill", 2, CommandFlags.None, Kill),
                Function("list", -2, CommandFlags.None, List),
                Function("load", -3, CommandFlags.Write | CommandFlags.DenyOom, (s, scoped in a, ref w) => w.WriteError(NotExecuted)),
                Function("stats", 2, CommandFlags.None, Statistics),
                HelpCommand.Of("function", "scripting"),
            ],
        },
    ];

    private static ReadOnlySpan<byte> NotExecuted =>
        "ERR Lua is not executed, except the scripts that docs/protocols.md lists under Known scripts. Use WATCH and MULTI, SET IFEQ or DELEX."u8;

    private static CommandInfo Make(string name, CommandFlags flags, CommandHandler handler) => new()
    {
        Name = name, Arity = -3, Flags = flags, Group = "scripting", Handler = handler,
        FirstKey = KeyArgument, KeyStep = 1, HasKeyCount = true,
    };

    private static CommandInfo Function(string name, int arity, CommandFlags flags, CommandHandler handler) =>
        new() { Name = "function|" + name, Arity = arity, Flags = flags | CommandFlags.NoScript, Group = "scripting", Handler = handler };

    private static void EvaluateText(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!TryReadKeyCount(arguments, out int keys, ref writer))
        {
            return;
        }

        session.CountWork(arguments[1].Length / CharactersOfElement);
        if (session.Server.Scripts.TryLearn(arguments[1], out KnownScript? script))
        {
            Evaluate(session, arguments, script, keys, ref writer);
        }
        else
        {
            writer.WriteError(NotExecuted);
        }
    }

    private static void EvaluateDigest(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        // An invalid digest is reported before the number of keys is checked; an unknown digest is reported afterwards.
        int keys = 0;
        if (arguments[1].Length == 2 * ScriptText.DigestBytes && !TryReadKeyCount(arguments, out keys, ref writer))
        {
            return;
        }

        if (session.Server.Scripts.TryFind(arguments[1], out KnownScript? script))
        {
            Evaluate(session, arguments, script, keys, ref writer);
        }
        else
        {
            writer.WriteError("NOSCRIPT No matching script. Please use EVAL."u8);
        }
    }

    private static void Evaluate(RespSession session, scoped in RespArguments arguments, KnownScript script, int keys, ref RespWriter writer)
    {
        var call = new ScriptCall(arguments, keys);
        if (arguments[0].Length > 0 && arguments[0][^1] is (byte)'o' or (byte)'O')
        {
            writer.WriteError("ERR Write commands are not allowed from read-only scripts."u8); // Every known script may write.
        }
        else if (keys < script.Keys || call.ArgumentCount < script.Arguments)
        {
            writer.WriteError(Text.Bytes($"ERR the script takes at least {script.Keys} key(s) and {script.Arguments} argument(s)"));
        }
        else if (keys > RespArguments.MaxPairs)
        {
            writer.WriteError(Text.Bytes($"ERR a script has at most {RespArguments.MaxPairs} keys"));
        }
        else if (!session.TryHoldKeys(arguments, KeyArgument, KeyArgument + keys - 1, 1))
        {
            writer.WriteError(RespErrors.Busy);
        }
        else
        {
            try
            {
                script.Handler(session, call, ref writer);
            }
            finally
            {
                session.EndHold();
            }
        }
    }

    private static bool TryReadKeyCount(scoped in RespArguments arguments, out int keys, ref RespWriter writer)
    {
        keys = 0;
        if (!Text.TryParse(arguments[2], out long count))
        {
            writer.WriteError(RespErrors.NotAnInteger);
        }
        else if (count > arguments.Count - KeyArgument)
        {
            writer.WriteError("ERR Number of keys can't be greater than number of args"u8);
        }
        else if (count < 0)
        {
            writer.WriteError("ERR Number of keys can't be negative"u8);
        }
        else
        {
            keys = (int)count;
            return true;
        }

        return false;
    }

    private static void Load(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!session.Server.Scripts.TryLearn(arguments[2], out _))
        {
            writer.WriteError(NotExecuted);
            return;
        }

        Span<byte> digest = stackalloc byte[ScriptText.DigestBytes];
        ScriptText.Digest(arguments[2], digest);
        writer.WriteText(Convert.ToHexStringLower(digest));
    }

    private static void Exists(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (session.ResumeAt == 0)
        {
            writer.WriteArrayHeader(arguments.Count - 2);
        }

        for (int i = Math.Max(session.ResumeAt, 2); i < arguments.Count && !session.MustPause(i, ref writer); i++)
        {
            writer.WriteInteger(session.Server.Scripts.TryFind(arguments[i], out _) ? 1 : 0);
        }
    }

    private static void Flush(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Count > 3 || (arguments.Count == 3 && !arguments.Is(2, "async"u8) && !arguments.Is(2, "sync"u8)))
        {
            writer.WriteError("ERR SCRIPT FLUSH only support SYNC|ASYNC option"u8);
        }
        else
        {
            session.Server.Scripts.Forget();
            writer.WriteOk();
        }
    }

    // There are no functions, because they are written in Lua.
    private static void Call(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        writer.WriteError("ERR Function not found"u8);

    // Scripts take one turn, so none is in execution when another command is.
    private static void Kill(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        writer.WriteError("NOTBUSY No scripts in execution right now."u8);

    private static void FlushFunctions(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Count > 3)
        {
            writer.WriteError([.. "ERR unknown subcommand or wrong number of arguments for '"u8, .. arguments[1], .. "'. Try FUNCTION HELP."u8]);
        }
        else if (arguments.Count == 3 && !arguments.Is(2, "async"u8) && !arguments.Is(2, "sync"u8))
        {
            writer.WriteError("ERR FUNCTION FLUSH only supports SYNC|ASYNC option"u8);
        }
        else
        {
            writer.WriteOk();
        }
    }

    private static void List(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        for (int i = 2; i < arguments.Count; i++)
        {
            if (arguments.Is(i, "libraryname"u8) && ++i == arguments.Count)
            {
                writer.WriteError("ERR library name argument was not given"u8);
                return;
            }

            if (!arguments.Is(i, "withcode"u8) && !arguments.Is(i - 1, "libraryname"u8))
            {
                writer.WriteError([.. "ERR Unknown argument "u8, .. arguments[i]]);
                return;
            }
        }

        writer.WriteArrayHeader(0);
    }

    private static void Statistics(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        writer.WriteMapHeader(2);
        writer.WriteBulk("running_script"u8);
        writer.WriteNull();
        writer.WriteBulk("engines"u8);
        writer.WriteMapHeader(1);
        writer.WriteBulk("LUA"u8);
        writer.WriteMapHeader(2);
        writer.WriteBulk("libraries_count"u8);
        writer.WriteInteger(0);
        writer.WriteBulk("functions_count"u8);
        writer.WriteInteger(0);
    }
}
