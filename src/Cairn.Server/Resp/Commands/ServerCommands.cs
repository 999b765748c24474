using System.Globalization;
using System.Text;
using Cairn.Protocol;

namespace Cairn.Server.Resp.Commands;

/// <summary>The server as a whole: what it is, has and may be told.</summary>
internal static class ServerCommands
{
    private const CommandFlags AnyTime = CommandFlags.Loading | CommandFlags.Stale;

    private static readonly (CommandFlags Flag, string Name)[] s_flagNames =
    [
        (CommandFlags.Write, "write"), (CommandFlags.ReadOnly, "readonly"), (CommandFlags.DenyOom, "denyoom"),
        (CommandFlags.Admin, "admin"), (CommandFlags.PubSub, "pubsub"), (CommandFlags.NoScript, "noscript"),
        (CommandFlags.Loading, "loading"), (CommandFlags.Stale, "stale"), (CommandFlags.Fast, "fast"),
        (CommandFlags.NoAuth, "no_auth"), (CommandFlags.NoMulti, "no_multi"),
    ];

    // What clients ask for on connecting.
    private static readonly (string Name, string Value)[] s_settings =
    [
        ("appendonly", "no"), ("databases", "1"), ("maxmemory-policy", "allkeys-lru"), ("notify-keyspace-events", ""),
        ("proto-max-bulk-len", "536870912"), ("replica-read-only", "yes"), ("save", ""), ("slave-read-only", "yes"), ("timeout", "0"),
    ];

    public static CommandInfo[] All { get; } =
    [
        Make("dbsize", 1, CommandFlags.ReadOnly | CommandFlags.Fast | CommandFlags.AllKeys, DbSize),
        Make("flushdb", -1, CommandFlags.Write | CommandFlags.AllKeys, Flush),
        Make("flushall", -1, CommandFlags.Write | CommandFlags.AllKeys, Flush),
        Make("time", 1, AnyTime | CommandFlags.Fast, Time),
        Make("info", -1, AnyTime, Info),
        new CommandInfo
        {
            Name = "command", Arity = -1, Flags = AnyTime, Group = "server", Handler = AllCommands, Subcommands =
            [
                Make("command|count", 2, AnyTime, CommandCount),
                Make("command|docs", -2, AnyTime, CommandDocs),
                Make("command|info", -2, AnyTime, CommandInfos),
                Make("command|list", -2, AnyTime, CommandList),
                Make("command|getkeys", -4, AnyTime, CommandGetKeys),
            ],
        },
        new CommandInfo
        {
            Name = "config", Arity = -2, Flags = CommandFlags.None, Group = "server", Handler = ConfigGet, Subcommands =
            [
                Make("config|get", -3, AnyTime | CommandFlags.Admin | CommandFlags.NoScript, ConfigGet),
                Make("config|set", -4, AnyTime | CommandFlags.Admin | CommandFlags.NoScript, ConfigSet),
                Make("config|resetstat", 2, AnyTime | CommandFlags.Admin | CommandFlags.NoScript, ConfigResetStatistics),
            ],
        },
    ];

    /// <summary>The Redis whose replies these are, for clients that look at the version to know what they may use.</summary>
    public static ReadOnlySpan<byte> RedisVersion => "7.0.15"u8;

    private static CommandInfo Make(string name, int arity, CommandFlags flags, CommandHandler handler) =>
        new() { Name = name, Arity = arity, Flags = flags, Group = "server", Handler = handler };

    private static void DbSize(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        writer.WriteInteger(CountKeys(session.Server.Store));

    private static long CountKeys(CairnStore store)
    {
        StoreStatistics statistics = store.GetStatistics();
        return Math.Max(0, statistics.Entries - statistics.Collections.Where(collection => collection.Name.Length > 0).Sum(collection => collection.Entries));
    }

    private static void Flush(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Count > 2 || (arguments.Count == 2 && !arguments.Is(1, "async"u8) && !arguments.Is(1, "sync"u8)))
        {
            writer.WriteError(RespErrors.Syntax);
            return;
        }

        session.Server.Tracking.BeginFlush();
        try
        {
            if (session.Server.Store.Clear())
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

    private static void Info(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        RespServer server = session.Server;
        StoreStatistics statistics = server.Store.GetStatistics();
        long uptime = (long)(server.Clock.GetUtcNow() - server.StartedAt).TotalSeconds;
        long keys = CountKeys(server.Store);
        (string Name, string[] Lines)[] sections =
        [
            ("Server",
            [
                $"redis_version:{Encoding.ASCII.GetString(RedisVersion)}", "redis_mode:standalone", $"os:{Environment.OSVersion}", "arch_bits:64",
                "server_name:cairn", $"process_id:{Environment.ProcessId}", $"run_id:{server.RunId}", $"tcp_port:{server.Port}",
                $"uptime_in_seconds:{uptime}", $"uptime_in_days:{uptime / 86_400}",
            ]),
            ("Clients", [$"connected_clients:{server.Sessions.Count}", "blocked_clients:0"]),
            ("Memory",
            [
                $"used_memory:{statistics.Bytes}", $"used_memory_human:{statistics.Bytes}B", $"used_memory_rss:{Environment.WorkingSet}",
                $"maxmemory:{statistics.FileBytes}", "maxmemory_policy:allkeys-lru",
            ]),
            ("Persistence", ["loading:0", "rdb_bgsave_in_progress:0", "aof_enabled:0"]),
            ("Stats",
            [
                $"total_connections_received:{server.ConnectionCount}", $"total_commands_processed:{server.CommandCount}",
                "instantaneous_ops_per_sec:0", $"expired_keys:{statistics.Expirations}", $"evicted_keys:{statistics.Evictions}",
                $"keyspace_hits:{statistics.Hits}", $"keyspace_misses:{statistics.Misses}",
            ]),
            ("Replication", ["role:master", "connected_slaves:0", "master_repl_offset:0"]),
            ("CPU", []),
            ("Modules", []),
            ("Errorstats", []),
            ("Cluster", ["cluster_enabled:0"]),
            ("Keyspace", keys > 0 ? [$"db0:keys={keys},expires=0,avg_ttl=0"] : []),
        ];
        var text = new StringBuilder();
        foreach ((string name, string[] lines) in sections)
        {
            if (!IsSectionWanted(arguments, name))
            {
                continue;
            }

            text.Append(text.Length > 0 ? "\r\n" : "").Append("# ").Append(name).Append("\r\n");
            foreach (string line in lines)
            {
                text.Append(line).Append("\r\n");
            }
        }

        writer.WriteVerbatim(Text.Bytes(text.ToString()), "txt"u8);
    }

    private static bool IsSectionWanted(scoped in RespArguments arguments, string name)
    {
        bool isWanted = arguments.Count == 1;
        for (int i = 1; i < arguments.Count; i++)
        {
            isWanted |= Ascii.EqualsIgnoreCase(arguments[i], name) || arguments.Is(i, "all"u8)
                || arguments.Is(i, "default"u8) || arguments.Is(i, "everything"u8);
        }

        return isWanted;
    }

    private static void AllCommands(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        writer.WriteArrayHeader(CommandTable.All.Length);
        foreach (CommandInfo command in CommandTable.All)
        {
            WriteCommand(command, ref writer);
        }
    }

    private static void CommandCount(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        writer.WriteInteger(CommandTable.All.Length);

    private static void CommandDocs(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        List<CommandInfo> commands = [];
        for (int i = 2; i < arguments.Count; i++)
        {
            if (FindWhole(arguments[i]) is { } command)
            {
                commands.Add(command);
            }
        }

        WriteDocs(arguments.Count == 2 ? CommandTable.All : commands, ref writer);
    }

    private static void WriteDocs(IReadOnlyCollection<CommandInfo> commands, ref RespWriter writer)
    {
        writer.WriteMapHeader(commands.Count);
        foreach (CommandInfo command in commands)
        {
            writer.WriteBulk(Text.Bytes(command.Name));
            writer.WriteMapHeader(command.Subcommands.Length > 0 ? 3 : 2);
            writer.WriteBulk("summary"u8);
            writer.WriteBulk("As in Redis."u8);
            writer.WriteBulk("group"u8);
            writer.WriteBulk(Text.Bytes(command.Group));
            if (command.Subcommands.Length > 0)
            {
                writer.WriteBulk("subcommands"u8);
                WriteDocs(command.Subcommands, ref writer);
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

        writer.WriteArrayHeader(arguments.Count - 2);
        for (int i = 2; i < arguments.Count; i++)
        {
            if (FindWhole(arguments[i]) is { } command)
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
        if (arguments.Count != 2)
        {
            writer.WriteError(RespErrors.Syntax);
            return;
        }

        writer.WriteSetHeader(CommandTable.All.Length);
        foreach (CommandInfo command in CommandTable.All)
        {
            writer.WriteBulk(Text.Bytes(command.Name));
        }
    }

    private static void CommandGetKeys(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        CommandInfo? command = CommandTable.Find(arguments[2]);
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

        int last = command.LastKeyOf(count);
        writer.WriteArrayHeader(((last - command.FirstKey) / command.KeyStep) + 1);
        for (int i = command.FirstKey; i <= last; i += command.KeyStep)
        {
            writer.WriteBulk(arguments[i + 2]);
        }
    }

    private static CommandInfo? FindWhole(ReadOnlySpan<byte> name)
    {
        int bar = name.IndexOf((byte)'|');
        return bar < 0 ? CommandTable.Find(name) : CommandTable.Find(name[..bar])?.FindSubcommand(name[(bar + 1)..]);
    }

    private static void WriteCommand(CommandInfo command, ref RespWriter writer)
    {
        writer.WriteArrayHeader(10);
        writer.WriteBulk(Text.Bytes(command.Name));
        writer.WriteInteger(command.Arity);
        writer.WriteSetHeader(s_flagNames.Count(pair => (command.Flags & pair.Flag) != 0));
        foreach ((CommandFlags flag, string name) in s_flagNames)
        {
            if ((command.Flags & flag) != 0)
            {
                writer.WriteSimple(Text.Bytes(name));
            }
        }

        writer.WriteInteger(command.FirstKey);
        writer.WriteInteger(command.LastKey);
        writer.WriteInteger(command.KeyStep);
        writer.WriteSetHeader(0); // ACL categories: there are none.
        writer.WriteArrayHeader(0); // Tips.
        writer.WriteArrayHeader(0); // Key specifications beyond first, last and step.
        writer.WriteArrayHeader(command.Subcommands.Length);
        foreach (CommandInfo subcommand in command.Subcommands)
        {
            WriteCommand(subcommand, ref writer);
        }
    }

    private static void ConfigGet(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        var found = new List<(string Name, string Value)>();
        foreach ((string name, string value) in s_settings.Append(("maxmemory", session.Server.Store.GetStatistics().FileBytes.ToString(CultureInfo.InvariantCulture))))
        {
            for (int i = 2; i < arguments.Count; i++)
            {
                if (KeyFilter.Glob(Text.Latin(arguments[i]).ToLowerInvariant()).Matches(Text.Bytes(name)))
                {
                    found.Add((name, value));
                    break;
                }
            }
        }

        writer.WriteMapHeader(found.Count);
        foreach ((string name, string value) in found)
        {
            writer.WriteBulk(Text.Bytes(name));
            writer.WriteBulk(Text.Bytes(value));
        }
    }

    // Settings are given when the server starts. One that would change nothing is accepted.
    private static void ConfigSet(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Count % 2 != 0)
        {
            writer.WriteError("ERR wrong number of arguments for 'config|set' command"u8);
            return;
        }

        for (int i = 2; i < arguments.Count; i += 2)
        {
            string name = Text.Latin(arguments[i]);
            (string Name, string Value) setting = s_settings.FirstOrDefault(known => known.Name.Equals(name, StringComparison.OrdinalIgnoreCase));
            if (setting.Name is null)
            {
                writer.WriteError(Text.Bytes($"ERR Unknown option or number of arguments for CONFIG SET - '{name}'"));
                return;
            }

            if (!setting.Value.Equals(Text.Latin(arguments[i + 1]), StringComparison.OrdinalIgnoreCase))
            {
                writer.WriteError(Text.Bytes($"ERR CONFIG SET failed (possibly related to argument '{name}') - can't set immutable config"));
                return;
            }
        }

        writer.WriteOk();
    }

    private static void ConfigResetStatistics(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        writer.WriteOk();
}
