using Cairn.Server.Exposition;
using Cairn.Server.Metrics;

namespace Cairn.Server.Resp.Commands;

// INFO, with the sections and names of Redis, for programs that read it. Values without a meaning here are left out, or have the value
// that they have in an idle Redis.
internal static class InfoCommand
{
    private const double BytesPerUnit = 1024;

    // Each section with its name, and whether it is included by default. The others are included by name, or with ALL or EVERYTHING.
    private static readonly Section[] s_sections =
    [
        new("Server", true, Server), new("Clients", true, Clients), new("Memory", true, Memory), new("Persistence", true, _ => Persistence),
        new("Stats", true, Stats), new("Replication", true, _ => Replication), new("CPU", true, _ => Processor()), new("Modules", true, _ => []),
        new("Commandstats", false, CommandStats), new("Errorstats", true, _ => []), new("Latencystats", false, LatencyStats),
        new("Cluster", true, _ => ["cluster_enabled:0"]), new("Keyspace", true, Keyspace),
    ];

    private static string[] Persistence =>
    [
        "loading:0", "async_loading:0", "rdb_changes_since_last_save:0", "rdb_bgsave_in_progress:0", "rdb_last_save_time:0",
        "rdb_last_bgsave_status:ok", "rdb_last_bgsave_time_sec:-1", "rdb_current_bgsave_time_sec:-1", "aof_enabled:0",
        "aof_rewrite_in_progress:0", "aof_rewrite_scheduled:0", "aof_last_rewrite_time_sec:-1", "aof_current_rewrite_time_sec:-1",
        "aof_last_bgrewrite_status:ok", "aof_last_write_status:ok",
    ];

    private static string[] Replication => ["role:master", "connected_slaves:0", "master_failover_state:no-failover", "master_repl_offset:0"];

    // The work of a section beside its characters, in ordinary elements: some add up figures of all commands or partitions.
    private const int SectionWork = 128;

    // Each name is compared with each section, in one turn.
    private const int MaxNames = 1_024;

    public static void Info(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Count - 1 > MaxNames)
        {
            writer.WriteError(Text.Bytes($"ERR INFO takes at most {MaxNames} sections"));
            return;
        }

        var text = new StringBuilder();
        foreach (Section section in s_sections)
        {
            if (!IsWanted(arguments, section))
            {
                continue;
            }

            session.CountWork(SectionWork);
            text.Append(text.Length > 0 ? "\r\n" : "").Append("# ").Append(section.Name).Append("\r\n");
            bool isSecret = section.Lines == Keyspace && session.User!.KeyPrefix.Length > 0; // It would count the keys of others.
            foreach (string line in isSecret ? [] : section.Lines(session.Server))
            {
                text.Append(line).Append("\r\n");
            }
        }

        session.CountWork(text.Length); // Each number is counted or looked up first, so a character takes about as long as an ordinary key.
        writer.WriteVerbatim(Text.Bytes(text.ToString()), "txt"u8);
    }

    private static bool IsWanted(scoped in RespArguments arguments, Section section)
    {
        bool isWanted = arguments.Count == 1 && section.IsDefault;
        for (int i = 1; i < arguments.Count; i++)
        {
            isWanted |= Ascii.EqualsIgnoreCase(arguments[i], section.Name) || arguments.Is(i, "all"u8) || arguments.Is(i, "everything"u8)
                || (arguments.Is(i, "default"u8) && section.IsDefault);
        }

        return isWanted;
    }

    private static string[] Server(RespServer server)
    {
        DateTimeOffset now = server.Clock.GetUtcNow();
        long uptime = (long)server.Uptime.TotalSeconds;
        return
        [
            $"redis_version:{Encoding.ASCII.GetString(ServerCommands.RedisVersion)}", "redis_git_sha1:00000000", "redis_git_dirty:0",
            "redis_mode:standalone", $"os:{RuntimeInformation.OSDescription}", "arch_bits:64", "server_name:cairn",
            $"cairn_version:{typeof(InfoCommand).Assembly.GetName().Version}", $"dotnet_version:{Environment.Version}",
            $"multiplexing_api:{server.Engine?.Io.ToString().ToLowerInvariant() ?? "none"}", $"process_id:{Environment.ProcessId}",
            "process_supervised:no", $"run_id:{server.RunId}", $"tcp_port:{server.Port}",
            $"server_time_usec:{(now - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond}",
            $"uptime_in_seconds:{uptime}", $"uptime_in_days:{uptime / 86_400}", $"executable:{Environment.ProcessPath}", "config_file:",
            "io_threads_active:0",
        ];
    }

    private static string[] Clients(RespServer server) =>
    [
        $"connected_clients:{server.Sessions.Count}", "cluster_connections:0", $"maxclients:{server.Engine?.Limits.MaxConnections ?? 0}",
        $"blocked_clients:{server.HeldByPause}", $"tracking_clients:{server.Tracking.TrackerCount}", "clients_in_timeout_table:0",
    ];

    private static string[] Memory(RespServer server)
    {
        StoreStatistics store = server.Store.GetStatistics();
        long resident = Environment.WorkingSet;
        long system = GC.GetGCMemoryInfo().TotalAvailableMemoryBytes;
        return
        [
            $"used_memory:{store.Totals.Bytes}", $"used_memory_human:{Human(store.Totals.Bytes)}", $"used_memory_rss:{resident}",
            $"used_memory_rss_human:{Human(resident)}", $"used_memory_dataset:{store.Totals.Bytes}", $"total_system_memory:{system}",
            $"total_system_memory_human:{Human(system)}", $"maxmemory:{store.FileBytes}", $"maxmemory_human:{Human(store.FileBytes)}",
            "maxmemory_policy:allkeys-lru", $"mem_fragmentation_ratio:{Fixed(store.Totals.Bytes == 0 ? 1 : resident / (double)store.Totals.Bytes)}",
            $"mem_clients_normal:{server.Engine?.Memory.Bytes ?? 0}", "mem_allocator:cairn", "active_defrag_running:0",
            .. server.Pinned.StatisticsIn(store) is { } pinned
                ? new[] { $"pinned_keys:{pinned.Entries}", $"pinned_memory:{pinned.Bytes}", $"maxmemory_pinned:{pinned.BudgetBytes}" }
                : [],
        ];
    }

    private static string[] Stats(RespServer server)
    {
        RespStatistics.Numbers numbers = server.Statistics.Current;
        RespStatistics.Rates rates = server.Statistics.TakeRates();
        return
        [
            $"total_connections_received:{numbers.Connections}", $"total_commands_processed:{numbers.Commands}",
            $"instantaneous_ops_per_sec:{rates.Commands}", $"total_net_input_bytes:{numbers.BytesReceived}",
            $"total_net_output_bytes:{numbers.BytesSent}", $"instantaneous_input_kbps:{Fixed(rates.KilobytesReceived)}",
            $"instantaneous_output_kbps:{Fixed(rates.KilobytesSent)}", $"rejected_connections:{numbers.Refused}", "sync_full:0",
            "sync_partial_ok:0", "sync_partial_err:0", $"expired_keys:{numbers.Expired}", $"evicted_keys:{numbers.Evicted}",
            $"keyspace_hits:{numbers.Hits}", $"keyspace_misses:{numbers.Misses}",
            $"pubsub_channels:{server.Messages.ChannelCount}", $"pubsub_patterns:{server.Messages.PatternCount}",
            "latest_fork_usec:0", "total_forks:0", "migrate_cached_sockets:0", $"tracking_total_keys:{server.Tracking.KeyCount}",
            $"tracking_total_items:{server.Tracking.KeyCount}", $"tracking_total_prefixes:{server.Tracking.PrefixCount}", $"total_error_replies:{numbers.Errors}",
            $"total_slow_requests:{server.Metrics.SlowLog.Total}", $"dropped_keyspace_events:{server.Events.Dropped}",
        ];
    }

    private static string[] Processor()
    {
        Environment.ProcessCpuUsage usage = Environment.CpuUsage;
        return
        [
            Invariant($"used_cpu_sys:{usage.PrivilegedTime.TotalSeconds:F6}"), Invariant($"used_cpu_user:{usage.UserTime.TotalSeconds:F6}"),
            "used_cpu_sys_children:0.000000", "used_cpu_user_children:0.000000",
        ];
    }

    private static IEnumerable<string> CommandStats(RespServer server) => server.Commands.Executable
        .Select(command => (command.Name, Numbers: server.Statistics.Of(command)))
        .Where(pair => pair.Numbers.Requests + pair.Numbers.Rejected > 0)
        .Select(pair => Invariant(
            $"cmdstat_{pair.Name}:calls={pair.Numbers.Requests},usec={pair.Numbers.BusyNs / 1000},usec_per_call={pair.Numbers.BusyNs / 1000.0 / Math.Max(1, pair.Numbers.Requests):F2},rejected_calls={pair.Numbers.Rejected},failed_calls={pair.Numbers.Errors}"));

    private static IEnumerable<string> LatencyStats(RespServer server) => server.Commands.Executable
        .Where(command => server.Metrics.Total(recorder => recorder.Requests(command.Number)) > 0)
        .Select(command => (command.Name, Latencies: server.Metrics.LatenciesOf(command.Number)))
        .Where(pair => pair.Latencies.Count > 0)
        .Select(pair => Invariant(
            $"latency_percentiles_usec_{pair.Name}:p50={Microseconds(pair.Latencies, 0.5)},p99={Microseconds(pair.Latencies, 0.99)},p99.9={Microseconds(pair.Latencies, 0.999)}"));

    private static string[] Keyspace(RespServer server)
    {
        long keys = server.Pinned.CountKeys(server.Store.GetStatistics());
        (long expiring, TimeSpan average) = server.Store.GetExpiring();
        return keys > 0 ? [$"db0:keys={keys},expires={Math.Min(expiring, keys)},avg_ttl={(long)average.TotalMilliseconds}"] : [];
    }

    private static string Microseconds(LatencyHistogram latencies, double part) => Invariant($"{latencies.Percentile(part) / 1000.0:F3}");

    private static string Fixed(double number) => Invariant($"{number:F2}");

    private static string Human(long bytes)
    {
        double number = bytes;
        int unit = 0;
        while (number >= BytesPerUnit && unit < 4)
        {
            number /= BytesPerUnit;
            unit++;
        }

        return unit == 0 ? Invariant($"{bytes}B") : Invariant($"{number:F2}{"BKMGT"[unit]}");
    }

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);

    private sealed record Section(string Name, bool IsDefault, Func<RespServer, IEnumerable<string>> Lines);
}
