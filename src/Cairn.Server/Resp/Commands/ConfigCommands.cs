using Cairn.Server.Metrics;
using Cairn.Server.Notifications;

namespace Cairn.Server.Resp.Commands;

// CONFIG. Most settings are set when the server starts and can only be read here. The settings of the slow log and the classes of
// keyspace events can be changed. Settings of Redis' encodings and background work have no effect here. They are kept as clients set them, so that a
// program that sets them works.
internal static class ConfigCommands
{
    private const CommandFlags Flags = CommandFlags.Loading | CommandFlags.Stale | CommandFlags.Admin | CommandFlags.NoScript | CommandFlags.Lists;

    private static readonly Setting[] s_settings =
    [
        .. WithoutEffect("active-expire-effort", "1", "hash-max-listpack-entries", "512", "hash-max-listpack-value", "64", "hash-max-ziplist-entries", "512",
            "hash-max-ziplist-value", "64", "hz", "10", "latency-monitor-threshold", "0", "lfu-decay-time", "1", "lfu-log-factor", "10", "list-compress-depth", "0",
            "list-max-listpack-size", "-2", "list-max-ziplist-size", "-2", "maxmemory-samples", "5", "set-max-intset-entries", "512",
            "set-max-listpack-entries", "128", "set-max-listpack-value", "64", "stream-node-max-entries", "100", "zset-max-listpack-entries", "128",
            "zset-max-listpack-value", "64", "zset-max-ziplist-entries", "128", "zset-max-ziplist-value", "64"),
        new("appendonly", _ => "no"),
        new("databases", _ => "1"),
        new("latency-tracking", _ => "yes"),
        new("maxclients", server => Number(server.Engine?.Limits.MaxConnections ?? 0)),
        new("maxmemory", server => Number(server.Store.GetStatistics().FileBytes)),
        new("maxmemory-policy", _ => "allkeys-lru"),
        new("notify-keyspace-events", server => EventLetters.Format(server.Events.Classes)) { Prepare = PrepareEvents },
        new("port", server => Number(server.Port)),
        new("proto-max-bulk-len", _ => "536870912"),
        new("replica-read-only", _ => "yes"),
        new("save", _ => ""),
        new("slave-read-only", _ => "yes"),
        new("slowlog-log-slower-than", server => Number(MicrosecondsOf(server.Metrics.SlowLog)))
        {
            Prepare = ANumber(-1, (server, value) => server.Metrics.SlowLog.Threshold = value < 0 || value > long.MaxValue / TimeSpan.TicksPerMicrosecond
                ? Timeout.InfiniteTimeSpan
                : TimeSpan.FromMicroseconds(value)),
        },
        new("slowlog-max-len", server => Number(server.Metrics.SlowLog.Capacity))
        {
            Prepare = ANumber(0, (server, value) => server.Metrics.SlowLog.Capacity = (int)Math.Min(value, MostSlowRequests)),
        },
        new("timeout", server => Number(
            server.Engine?.Limits.IdleTimeout is { } time && time != Timeout.InfiniteTimeSpan ? (long)time.TotalSeconds : 0)),
        new("tracking-table-max-keys", server => Number(server.Tracking.MostKeys)),
    ];

    // Each request may take some kilobytes.
    private const int MostSlowRequests = 65_536;

    // The work to read a setting, in ordinary elements: some add up figures of the store.
    private const int WorkOfSetting = 16;

    public static CommandInfo All { get; } = new()
    {
        Name = "config", Arity = -2, Flags = CommandFlags.None, Group = "server", Handler = Get, Subcommands =
        [
            Make("config|get", -3, Get),
            Make("config|set", -4, Set),
            Make("config|resetstat", 2, ResetStatistics),
            Make("config|rewrite", 2, Rewrite),
            HelpCommand.Of("config", "server"),
        ],
    };

    private static CommandInfo Make(string name, int arity, CommandHandler handler) =>
        new() { Name = name, Arity = arity, Flags = Flags, Group = "server", Handler = handler };

    private static void Get(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        // The tally has one bit for each matching setting.
        for (int i = session.BeginAt(2); i < arguments.Count; i++)
        {
            if (session.MustPause(i, ref writer, s_settings.Length))
            {
                return;
            }

            if (!Text.TryReadPattern(Text.Bytes(Text.Latin(arguments[i]).ToLowerInvariant()), out KeyFilter? filter, ref writer))
            {
                return;
            }

            for (int setting = 0; setting < s_settings.Length; setting++)
            {
                session.Tally |= filter.Matches(s_settings[setting].Name) ? 1L << setting : 0;
            }
        }

        int found = BitOperations.PopCount((ulong)session.Tally);
        session.CountWork(found * WorkOfSetting);
        writer.WriteMapHeader(found);
        for (int setting = 0; setting < s_settings.Length; setting++)
        {
            if ((session.Tally & (1L << setting)) != 0)
            {
                writer.WriteText(s_settings[setting].Name);
                writer.WriteText(s_settings[setting].Get(session.Server));
            }
        }
    }

    // All settings are checked before any is changed. A setting that keeps its value is accepted.
    private static void Set(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Count % 2 != 0)
        {
            writer.WriteError("ERR wrong number of arguments for 'config|set' command"u8);
            return;
        }

        List<Action> changes = [];
        HashSet<string> named = new(StringComparer.OrdinalIgnoreCase);
        for (int i = 2; i < arguments.Count; i += 2)
        {
            string name = Text.Latin(arguments[i]);
            Setting? setting = Array.Find(s_settings, known => known.Name.Equals(name, StringComparison.OrdinalIgnoreCase));
            if (setting is null)
            {
                writer.WriteError(Text.Bytes($"ERR Unknown option or number of arguments for CONFIG SET - '{name}'"));
                return;
            }

            Action? change = null;
            string? mistake = !named.Add(name) ? "duplicate parameter" : Prepare(session.Server, setting, arguments[i + 1], out change);
            if (mistake is not null)
            {
                writer.WriteError(Text.Bytes($"ERR CONFIG SET failed (possibly related to argument '{name}') - {mistake}"));
                return;
            }

            if (change is not null)
            {
                changes.Add(change);
            }
        }

        changes.ForEach(change => change());
        writer.WriteOk();
    }

    private static string? Prepare(RespServer server, Setting setting, ReadOnlySpan<byte> text, out Action? change)
    {
        if (setting.Prepare is { } prepare)
        {
            return prepare(server, text, out change);
        }

        change = null;
        return setting.Get(server).Equals(Text.Latin(text), StringComparison.OrdinalIgnoreCase) ? null : "can't set immutable config";
    }

    // Names and their defaults, which are those of Redis 7.
    private static IEnumerable<Setting> WithoutEffect(params string[] namesAndValues) =>
        namesAndValues.Chunk(2).Select(pair => new Setting(pair[0], server => server.SettingsWithoutEffect.GetValueOrDefault(pair[0], pair[1]))
        {
            Prepare = ANumber(long.MinValue, (server, value) => server.SettingsWithoutEffect[pair[0]] = Number(value)),
        });

    private static PrepareChange ANumber(long least, Action<RespServer, long> set) =>
        (RespServer server, ReadOnlySpan<byte> text, out Action? change) =>
        {
            change = null;
            if (!Text.TryParse(text, out long value))
            {
                return "argument couldn't be parsed into an integer";
            }

            if (value < least)
            {
                return $"argument must be between {least} and {long.MaxValue} inclusive";
            }

            change = () => set(server, value);
            return null;
        };

    private static string? PrepareEvents(RespServer server, ReadOnlySpan<byte> text, out Action? change)
    {
        change = null;
        if (!EventLetters.TryParse(Text.Latin(text), out EventClasses classes))
        {
            return "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.";
        }

        change = () => server.Events.Classes = classes;
        return null;
    }

    private static void ResetStatistics(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        session.CountWork(ServerCommands.AllCommandsWork);
        session.Server.Statistics.Reset();
        writer.WriteOk();
    }

    private static void Rewrite(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        writer.WriteError("ERR The server is running without a config file"u8);

    private static long MicrosecondsOf(SlowLog log) => log.ThresholdNs == SlowLog.Off ? -1 : log.ThresholdNs / 1000;

    private static string Number(long number) => number.ToString(CultureInfo.InvariantCulture);

    /// <summary>Checks a value. Returns the error, or null and the change to make.</summary>
    private delegate string? PrepareChange(RespServer server, ReadOnlySpan<byte> text, out Action? change);

    private sealed record Setting(string Name, Func<RespServer, string> Get)
    {
        /// <summary>Gets the function that prepares a change; null if the setting cannot be changed while the server runs.</summary>
        public PrepareChange? Prepare { get; init; }
    }
}
