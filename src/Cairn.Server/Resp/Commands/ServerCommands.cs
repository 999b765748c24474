using Cairn.Engine;
using Cairn.Storage;

namespace Cairn.Server.Resp.Commands;

/// <summary>Commands about the server as a whole.</summary>
internal static class ServerCommands
{
    private const CommandFlags AnyTime = CommandFlags.Loading | CommandFlags.Stale;

    // The maximum length of the documentation of all commands.
    private const int DocsBytes = 256 << 10;

    /// <summary>The work to describe all commands, or to add up their statistics, in ordinary elements.</summary>
    public const int AllCommandsWork = 2048;

    // The work to read the statistics of a partition, and to clear an empty one.
    private const int WorkOfPartitionStatistics = 4;
    private const int WorkOfClearing = 8;

    public static CommandInfo[] All { get; } =
    [
        Make("dbsize", 1, CommandFlags.ReadOnly | CommandFlags.Fast | CommandFlags.AllKeys, DbSize),
        Make("flushdb", -1, CommandFlags.Write | CommandFlags.AllKeys, Flush),
        Make("flushall", -1, CommandFlags.Write | CommandFlags.AllKeys, Flush),
        Make("time", 1, AnyTime | CommandFlags.Fast, Time),
        Make("info", -1, AnyTime | CommandFlags.Lists, InfoCommand.Info),
        new CommandInfo
        {
            Name = "command", Arity = -1, Flags = AnyTime, Group = "server", Handler = AllCommands, Subcommands =
            [
                Make("command|count", 2, AnyTime, CommandCount),
                Make("command|docs", -2, AnyTime | CommandFlags.Lists, Docs),
                Make("command|info", -2, AnyTime | CommandFlags.Lists, CommandInfos),
                Make("command|list", -2, AnyTime, CommandList),
                Make("command|getkeys", -4, AnyTime | CommandFlags.Lists, (s, scoped in a, ref w) => CommandGetKeys(s, a, hasFlags: false, ref w)),
                Make("command|getkeysandflags", -4, AnyTime | CommandFlags.Lists, (s, scoped in a, ref w) => CommandGetKeys(s, a, hasFlags: true, ref w)),
                HelpCommand.Of("command", "server"),
            ],
        },
        ConfigCommands.All,
        SlowLogCommands.All,
        new CommandInfo
        {
            Name = "memory", Arity = -2, Flags = CommandFlags.None, Group = "server", Handler = MemoryUsage, Subcommands =
            [
                new CommandInfo
                {
                    Name = "memory|usage", Arity = -3, Flags = CommandFlags.ReadOnly, Group = "server", Handler = MemoryUsage,
                    FirstKey = 2, LastKey = 2, KeyStep = 1,
                },
                HelpCommand.Of("memory", "server"),
            ],
        },
    ];

    /// <summary>Gets the version of Redis whose replies the server gives, for clients that choose features by version.</summary>
    public static ReadOnlySpan<byte> RedisVersion => "7.0.15"u8;

    /// <summary>Creates a command of the group "server" without keys.</summary>
    public static CommandInfo Make(string name, int arity, CommandFlags flags, CommandHandler handler) =>
        new() { Name = name, Arity = arity, Flags = flags, Group = "server", Handler = handler };

    // A user with a prefix learns nothing of other keys, so its keys are counted one by one.
    private static void DbSize(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (session.User!.KeyPrefix.Length == 0)
        {
            session.CountWork(WorkOfPartitionStatistics * session.Server.Store.PartitionCount);
            writer.WriteInteger(session.Server.Pinned.CountKeys(session.Server.Store.GetStatistics()));
            return;
        }

        StoreEngine engine = session.Keys.Engine;
        KeyScan scan = session.BeginScan(filter: null, type: null);
        while (scan.Bucket < engine.BucketCount)
        {
            if (session.MustPause(1, ref writer, scan.Visit(engine)))
            {
                return;
            }

            scan.ForgetKeys();
        }

        writer.WriteInteger(scan.Found);
        session.EndScan();
    }

    private static void Flush(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Count > 2 || (arguments.Count == 2 && !arguments.Is(1, "async"u8) && !arguments.Is(1, "sync"u8)))
        {
            writer.WriteError(RespErrors.Syntax);
            return;
        }

        session.CountWork((WorkOfClearing * session.Server.Store.PartitionCount) + session.Server.Tracking.TrackerCount);
        session.Server.Tracking.BeginFlush();
        try
        {
            if (session.Keys.Pinned.Clear(session.Server.Store))
            {
                writer.WriteOk();
            }
            else
            {
                writer.WriteError(RespErrors.Busy);
            }
        }
        finally
        {
            session.Server.Tracking.EndFlush();
        }
    }

    private static void Time(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        long microseconds = (session.Server.Clock.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond;
        writer.WriteArrayHeader(2);
        writer.WriteBulk(microseconds / 1_000_000);
        writer.WriteBulk(microseconds % 1_000_000);
    }

    // The size of the entry in its segment, plus its slot in the index.
    private static void MemoryUsage(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        for (int i = 3; i < arguments.Count; i += 2)
        {
            if (!arguments.Is(i, "samples"u8) || i + 1 == arguments.Count)
            {
                writer.WriteError(RespErrors.Syntax);
                return;
            }

            if (!Text.TryParse(arguments[i + 1], out long samples))
            {
                writer.WriteError(RespErrors.NotAnInteger);
                return;
            }

            if (samples < 0)
            {
                writer.WriteError(RespErrors.Syntax);
                return;
            }
        }

        if (!session.Keys.TryGetInfo(arguments[2], out EntryInfo info))
        {
            writer.WriteNull();
            return;
        }

        int fields = info.DeadlineUnixMs != long.MaxValue ? sizeof(uint) + sizeof(long) : info.Flags != 0 ? sizeof(uint) : 0;
        int bytes = EntryView.HeaderBytes + fields + arguments[2].Length + info.ValueBytes;
        writer.WriteInteger(((bytes + (EntryView.Alignment - 1)) & -EntryView.Alignment) + sizeof(ulong));
    }

    private static void AllCommands(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (session.MustAwaitMemory(DocsBytes, 1, ref writer))
        {
            return;
        }

        session.CountWork(AllCommandsWork);
        writer.WriteArrayHeader(session.Server.Commands.All.Length);
        foreach (CommandInfo command in session.Server.Commands.All)
        {
            WriteCommand(command, ref writer);
        }
    }

    private static void CommandCount(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        writer.WriteInteger(session.Server.Commands.All.Length);

    private static void Docs(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Count == 2)
        {
            if (!session.MustAwaitMemory(DocsBytes, 1, ref writer))
            {
                session.CountWork(AllCommandsWork);
                WriteDocs(session.Server.Commands.All, ref writer);
            }

            return;
        }

        if (session.ResumeAt == 0)
        {
            int found = 0;
            for (int i = 2; i < arguments.Count; i++)
            {
                found += FindWhole(session.Server.Commands, arguments[i]) is null ? 0 : 1;
            }

            writer.WriteMapHeader(found);
        }

        for (int i = Math.Max(session.ResumeAt, 2); i < arguments.Count && !session.MustPause(i, ref writer); i++)
        {
            if (FindWhole(session.Server.Commands, arguments[i]) is { } command)
            {
                WriteDocs(command, ref writer);
            }
        }
    }

    private static void WriteDocs(CommandInfo[] commands, ref RespWriter writer)
    {
        writer.WriteMapHeader(commands.Length);
        foreach (CommandInfo command in commands)
        {
            WriteDocs(command, ref writer);
        }
    }

    private static void WriteDocs(CommandInfo command, ref RespWriter writer)
    {
        CommandDocs docs = CommandDocs.Of(command);
        bool hasArguments = docs.Arguments.Length > 0;
        writer.WriteText(command.Name);
        writer.WriteMapHeader(3 + (command.Subcommands.Length > 0 ? 1 : 0) + (hasArguments ? 1 : 0));
        writer.WriteBulk("summary"u8);
        writer.WriteText(docs.Summary);
        writer.WriteBulk("since"u8);
        writer.WriteText(docs.Since);
        writer.WriteBulk("group"u8);
        writer.WriteText(command.Group);
        if (hasArguments)
        {
            writer.WriteBulk("arguments"u8);
            WriteArguments(docs.Arguments, ref writer);
        }

        if (command.Subcommands.Length > 0)
        {
            writer.WriteBulk("subcommands"u8);
            WriteDocs(command.Subcommands, ref writer);
        }
    }

    private static void WriteArguments(CommandDocs.Argument[] arguments, ref RespWriter writer)
    {
        writer.WriteArrayHeader(arguments.Length);
        foreach (CommandDocs.Argument argument in arguments)
        {
            string[] flags = [.. argument.IsOptional ? ["optional"] : Array.Empty<string>(), .. argument.IsMultiple ? ["multiple"] : Array.Empty<string>()];
            writer.WriteMapHeader(2 + (argument.Token.Length > 0 ? 1 : 0) + (flags.Length > 0 ? 1 : 0) + (argument.Parts.Length > 0 ? 1 : 0));
            writer.WriteBulk("name"u8);
            writer.WriteText(argument.Name);
            writer.WriteBulk("type"u8);
            writer.WriteText(argument.Kind);
            if (argument.Token.Length > 0)
            {
                writer.WriteBulk("token"u8);
                writer.WriteText(argument.Token);
            }

            if (flags.Length > 0)
            {
                writer.WriteBulk("flags"u8);
                writer.WriteSetHeader(flags.Length);
                foreach (string flag in flags)
                {
                    writer.WriteSimple(Text.Bytes(flag));
                }
            }

            if (argument.Parts.Length > 0)
            {
                writer.WriteBulk("arguments"u8);
                WriteArguments(argument.Parts, ref writer);
            }
        }
    }

    private static void CommandInfos(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Count == 2)
        {
            AllCommands(session, arguments, ref writer);
            return;
        }

        if (session.ResumeAt == 0)
        {
            writer.WriteArrayHeader(arguments.Count - 2);
        }

        for (int i = Math.Max(session.ResumeAt, 2); i < arguments.Count && !session.MustPause(i, ref writer); i++)
        {
            if (FindWhole(session.Server.Commands, arguments[i]) is { } command)
            {
                WriteCommand(command, ref writer);
            }
            else
            {
                writer.WriteNull();
            }
        }
    }

    private static void CommandList(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        Func<CommandInfo, bool>? isWanted = null;
        KeyFilter? pattern = null;
        string value = arguments.Count == 5 ? Text.Latin(arguments[4]) : "";
        if (arguments.Count == 5 && arguments.Is(2, "filterby"u8))
        {
            if (arguments.Is(3, "pattern"u8) && !Text.TryReadPattern(Text.Bytes(value.ToLowerInvariant()), out pattern, ref writer))
            {
                return;
            }

            isWanted = pattern is not null ? command => pattern.Matches(command.Name)
                : arguments.Is(3, "aclcat"u8) ? command => CommandFacts.CategoriesOf(command).Contains(value, StringComparer.OrdinalIgnoreCase)
                : arguments.Is(3, "module"u8) ? _ => false
                : null;
        }

        if (arguments.Count != 2 && isWanted is null)
        {
            writer.WriteError(RespErrors.Syntax);
            return;
        }

        session.CountWork(AllCommandsWork / 4);

        // Filters select subcommands, too. The reply to a filter is no set, as in Redis.
        CommandInfo[] commands = isWanted is null ? session.Server.Commands.All
            : [.. session.Server.Commands.All.SelectMany(command => command.Subcommands.Prepend(command)).Where(isWanted)];
        if (isWanted is null)
        {
            writer.WriteSetHeader(commands.Length);
        }
        else
        {
            writer.WriteArrayHeader(commands.Length);
        }

        foreach (CommandInfo command in commands)
        {
            writer.WriteText(command.Name);
        }
    }

    private static void CommandGetKeys(RespSession session, scoped in RespArguments arguments, bool hasFlags, ref RespWriter writer)
    {
        CommandInfo? command = session.Server.Commands.Find(arguments[2]);
        if (command is { Subcommands.Length: > 0 } && arguments.Count > 3)
        {
            command = command.FindSubcommand(arguments[3]);
        }

        if (command is null)
        {
            writer.WriteError("ERR Invalid command specified"u8);
            return;
        }

        if (command.FirstKey == 0)
        {
            writer.WriteError("ERR The command has no key arguments"u8);
            return;
        }

        int count = arguments.Count - 2;
        if (!command.AcceptsCount(count))
        {
            writer.WriteError("ERR Invalid number of arguments specified for command"u8);
            return;
        }

        int last = command.LastKeyOf(arguments, 2);
        if (last < command.FirstKey && command.Group != "scripting")
        {
            writer.WriteError("ERR Invalid arguments specified for command"u8);
            return;
        }

        string[] flags = CommandFacts.KeyFlagsOf(command);
        if (last < command.FirstKey)
        {
            writer.WriteArrayHeader(0);
        }
        else if (session.ResumeAt == 0)
        {
            writer.WriteArrayHeader(((last - command.FirstKey) / command.KeyStep) + 1);
        }

        for (int i = Math.Max(session.ResumeAt, command.FirstKey); i <= last && !session.MustPause(i, ref writer); i += command.KeyStep)
        {
            if (hasFlags)
            {
                writer.WriteArrayHeader(2);
            }

            writer.WriteBulk(arguments[i + 2]);
            if (hasFlags)
            {
                WriteWords(flags[i > command.FirstKey ? ^1 : 0].Split(' '), ref writer);
            }
        }
    }

    private static void WriteWords(IReadOnlyCollection<string> words, ref RespWriter writer)
    {
        writer.WriteSetHeader(words.Count);
        foreach (string word in words)
        {
            writer.WriteSimple(Text.Bytes(word));
        }
    }

    private static void WriteKeySpecifications(CommandInfo command, ref RespWriter writer)
    {
        string[] flags = CommandFacts.KeyFlagsOf(command);
        writer.WriteArrayHeader(flags.Length);
        for (int i = 0; i < flags.Length; i++)
        {
            writer.WriteMapHeader(3);
            writer.WriteBulk("flags"u8);
            WriteWords(flags[i].Split(' '), ref writer);
            int last = command.LastKey < 0 ? command.LastKey : flags.Length > 1 ? 0 : command.LastKey - command.FirstKey;
            WriteStep("begin_search", "index", [("index", command.HasKeyCount ? command.FirstKey - 1 : command.FirstKey + i)], ref writer);
            if (command.HasKeyCount)
            {
                WriteStep("find_keys", "keynum", [("keynumidx", 0), ("firstkey", 1), ("keystep", command.KeyStep)], ref writer);
            }
            else
            {
                WriteStep("find_keys", "range", [("lastkey", last), ("keystep", command.KeyStep), ("limit", 0)], ref writer);
            }
        }
    }

    private static void WriteStep(string name, string type, (string Name, int Value)[] numbers, ref RespWriter writer)
    {
        writer.WriteText(name);
        writer.WriteMapHeader(2);
        writer.WriteBulk("type"u8);
        writer.WriteText(type);
        writer.WriteBulk("spec"u8);
        writer.WriteMapHeader(numbers.Length);
        foreach ((string key, int value) in numbers)
        {
            writer.WriteText(key);
            writer.WriteInteger(value);
        }
    }

    private static CommandInfo? FindWhole(CommandTable commands, ReadOnlySpan<byte> name)
    {
        int bar = name.IndexOf((byte)'|');
        return bar < 0 ? commands.Find(name) : commands.Find(name[..bar])?.FindSubcommand(name[(bar + 1)..]);
    }

    private static void WriteCommand(CommandInfo command, ref RespWriter writer)
    {
        writer.WriteArrayHeader(10);
        writer.WriteBulk(Text.Bytes(command.Name));
        writer.WriteInteger(command.Arity);
        WriteWords(CommandFacts.FlagsOf(command), ref writer);
        bool isCounted = command.HasKeyCount; // Redis does not describe these by first, last and step.
        writer.WriteInteger(isCounted ? 0 : command.FirstKey);
        writer.WriteInteger(isCounted ? 0 : command.LastKey);
        writer.WriteInteger(isCounted ? 0 : command.KeyStep);
        WriteWords([.. CommandFacts.CategoriesOf(command).Select(category => "@" + category)], ref writer);
        writer.WriteArrayHeader(0); // Tips.
        WriteKeySpecifications(command, ref writer);
        writer.WriteArrayHeader(command.Subcommands.Length);
        foreach (CommandInfo subcommand in command.Subcommands)
        {
            WriteCommand(subcommand, ref writer);
        }
    }
}
