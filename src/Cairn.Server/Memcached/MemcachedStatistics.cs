using System.Reflection;
using Cairn.Server.Connections;
using Cairn.Server.Listening;

namespace Cairn.Server.Memcached;

// The names and the order are those of memcached 1.6, for scripts that read them. Values without a meaning here are those of an idle
// memcached.
/// <summary>The figures that <c>stats</c> shows, in the names and the order of memcached.</summary>
internal sealed class MemcachedStatistics(MemcachedSessions sessions)
{
    // Four figures, with the headers of the binary protocol.
    private const int BytesOfConnection = 384;

    private static readonly string s_productVersion =
        typeof(MemcachedStatistics).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()!.InformationalVersion.Split('+')[0];

    /// <summary>Returns the figures of a group, in the order of memcached; null if there is no such group.</summary>
    /// <param name="group">The name of the group; empty for the general figures.</param>
    /// <param name="asking">The connection that asks; null in tests.</param>
    public IEnumerable<(string Name, string Value)>? Of(ReadOnlySpan<byte> group, ClientConnection? asking = null) => group switch
    {
        [] => GeneralStatistics(),
        _ when group.SequenceEqual("settings"u8) => Settings(),
        _ when group.SequenceEqual("items"u8) => ItemStatistics(),
        _ when group.SequenceEqual("slabs"u8) => SlabStatistics(),
        _ when group.SequenceEqual("sizes"u8) => [("sizes_status", "disabled")],
        _ when group.SequenceEqual("conns"u8) => Connections(asking),
        _ => null,
    };

    /// <summary>Returns the approximate length in bytes of a reply whose length clients can determine; 0 for other groups.</summary>
    public long LengthOf(ReadOnlySpan<byte> arguments) =>
        arguments.StartsWith("conns"u8) ? (long)BytesOfConnection * (sessions.Options.Server.Engine?.ConnectionCount ?? 0)
        : arguments.StartsWith("detail dump"u8) ? sessions.Prefixes.Length
        : 0;

    /// <summary>Sets all counts to zero.</summary>
    public void Reset()
    {
        sessions.ResetCounters();
        sessions.Prefixes.Clear();
    }

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);

    private static string Seconds(TimeSpan time) => time.TotalSeconds.ToString("F6", CultureInfo.InvariantCulture);

    private static string YesNo(bool isSo) => isSo ? "yes" : "no";

    private IEnumerable<(string Name, string Value)> GeneralStatistics()
    {
        MemcachedCounters counters = sessions.Total();
        StoreStatistics store = sessions.Store.GetStatistics();
        StoreCounts counts = sessions.StoreCountsSinceReset(store);
        ServerEngine? engine = sessions.Options.Server.Engine;
        DateTimeOffset now = sessions.Options.Clock.GetUtcNow();
        Environment.ProcessCpuUsage processor = Environment.CpuUsage;
        TrafficCounts traffic = sessions.TrafficSinceReset();
        (int Watchers, long Written, long Sent, long Skipped) watch = sessions.Watch.Figures;
        return
        [
            ("pid", Text(Environment.ProcessId)),
            ("uptime", Text((long)sessions.Uptime.TotalSeconds)),
            ("time", Text(now.ToUnixTimeSeconds())),
            ("version", sessions.Options.Version),
            ("pointer_size", Text(8 * IntPtr.Size)),
            ("rusage_user", Seconds(processor.UserTime)),
            ("rusage_system", Seconds(processor.PrivilegedTime)),
            ("max_connections", Text(engine?.Limits.MaxConnections ?? 0)),
            ("curr_connections", Text(engine?.ConnectionCount ?? 1)),
            ("total_connections", Text(traffic.Accepted)),
            ("rejected_connections", Text(traffic.Refused)),
            ("connection_structures", Text(engine?.ConnectionCount ?? 1)),
            ("response_obj_oom", "0"),
            ("response_obj_count", "0"),
            ("response_obj_bytes", "0"),
            ("read_buf_count", "0"),
            ("read_buf_bytes", Text(engine?.Memory.Bytes ?? 0)),
            ("read_buf_bytes_free", "0"),
            ("read_buf_oom", "0"),
            ("reserved_fds", "0"),
            ("cmd_get", Text(counters.Gets)),
            ("cmd_set", Text(counters.Sets)),
            ("cmd_flush", Text(counters.Flushes)),
            ("cmd_touch", Text(counters.Touches)),
            ("cmd_meta", Text(counters.MetaCommands)),
            ("get_hits", Text(counters.GetHits)),
            ("get_misses", Text(counters.GetMisses)),
            ("get_expired", Text(counters.GetExpired)),
            ("get_flushed", Text(counters.GetFlushed)),
            ("delete_misses", Text(counters.DeleteMisses)),
            ("delete_hits", Text(counters.DeleteHits)),
            ("incr_misses", Text(counters.IncrMisses)),
            ("incr_hits", Text(counters.IncrHits)),
            ("decr_misses", Text(counters.DecrMisses)),
            ("decr_hits", Text(counters.DecrHits)),
            ("cas_misses", Text(counters.CasMisses)),
            ("cas_hits", Text(counters.CasHits)),
            ("cas_badval", Text(counters.CasMismatches)),
            ("touch_hits", Text(counters.TouchHits)),
            ("touch_misses", Text(counters.TouchMisses)),
            ("store_too_large", Text(counters.TooLarge)),
            ("store_no_memory", Text(counters.NoMemory)),
            ("auth_cmds", Text(counters.Authentications)),
            ("auth_errors", Text(counters.AuthenticationErrors)),
            .. IdleSeconds() == 0 ? [] : Figures(("idle_kicks", Text(traffic.Idle))),
            ("bytes_read", Text(traffic.Received)),
            ("bytes_written", Text(traffic.Sent)),
            ("limit_maxbytes", Text(store.FileBytes)),
            ("accepting_conns", "1"),
            ("listen_disabled_num", "0"),
            ("time_in_listen_disabled_us", "0"),
            ("threads", Text(sessions.Options.Server.Workers)),
            ("conn_yields", Text(counters.Yields)),
            ("hash_power_level", Text(System.Numerics.BitOperations.Log2((ulong)Math.Max(1, store.IndexSlots)))),
            ("hash_bytes", Text(8 * store.IndexSlots)),
            ("hash_is_expanding", "0"),
            ("slab_reassign_rescues", "0"),
            ("slab_reassign_chunk_rescues", "0"),
            ("slab_reassign_evictions_nomem", "0"),
            ("slab_reassign_inline_reclaim", "0"),
            ("slab_reassign_busy_items", "0"),
            ("slab_reassign_busy_deletes", "0"),
            ("slab_reassign_running", "0"),
            ("slabs_moved", "0"),
            ("lru_crawler_running", "0"),
            ("lru_crawler_starts", "0"),
            ("lru_maintainer_juggles", "0"),
            ("malloc_fails", "0"),
            ("log_worker_dropped", "0"),
            ("log_worker_written", Text(watch.Written)),
            ("log_watcher_skipped", Text(watch.Skipped)),
            ("log_watcher_sent", Text(watch.Sent)),
            ("log_watchers", Text(watch.Watchers)),
            ("unexpected_napi_ids", "0"),
            ("round_robin_fallback", "0"),
            ("bytes", Text(store.Totals.Bytes)),
            ("curr_items", Text(store.Totals.Entries)),
            ("total_items", Text(counts.Sets)),
            ("slab_global_page_pool", Text(store.FreeSegments)),
            ("expired_unfetched", Text(counts.ExpirationsUnread)),
            ("evicted_unfetched", Text(counts.EvictionsUnread)),
            ("evicted_active", "0"),
            ("evictions", Text(counts.Evictions)),
            ("reclaimed", Text(counts.Reclaimed)),
            ("crawler_reclaimed", "0"),
            ("crawler_items_checked", "0"),
            ("lrutail_reflocked", "0"),
            ("moves_to_cold", "0"),
            ("moves_to_warm", "0"),
            ("moves_within_lru", "0"),
            ("direct_reclaims", "0"),
            ("lru_bumps_dropped", "0"),
            ("cairn_version", s_productVersion),
            .. sessions.Options.Pinned.StatisticsIn(store) is { } pinned
                ? new[] { ("pinned_items", Text(pinned.Entries)), ("pinned_bytes", Text(pinned.Bytes)), ("limit_pinned_bytes", Text(pinned.BudgetBytes)) }
                : [],
        ];
    }

    private IEnumerable<(string Name, string Value)> Settings()
    {
        MemcachedOptions options = sessions.Options;
        MemcachedServerInfo server = options.Server;
        StoreStatistics store = sessions.Store.GetStatistics();
        Listener? tcp = Listeners().FirstOrDefault(listener => !listener.IsUnix);
        return
        [
            ("maxbytes", Text(store.FileBytes)),
            ("maxconns", Text(server.Engine?.Limits.MaxConnections ?? 0)),
            ("tcpport", Text(tcp?.EndPoint!.Port ?? 0)),
            ("udpport", "0"),
            ("inter", tcp?.EndPoint!.Address.ToString() ?? "NULL"),
            ("verbosity", Text(sessions.Verbosity)),
            ("oldest", "0"),
            ("evictions", sessions.Store.Engine.EvictsEntries ? "on" : "off"),
            ("domain_socket", Listeners().FirstOrDefault(listener => listener.IsUnix)?.Address.UnixPath ?? "NULL"),
            ("umask", Convert.ToString((int)options.UnixMode, 8)),
            ("shutdown_command", YesNo(options.Shutdown is not null)),
            ("growth_factor", "1.25"),
            ("chunk_size", "48"),
            ("num_threads", Text(server.Workers)),
            ("num_threads_per_udp", "0"),
            ("stat_key_prefix", sessions.Prefixes.Delimiter.ToString()),
            ("detail_enabled", YesNo(sessions.Prefixes.IsOn)),
            ("reqs_per_event", Text(server.Engine?.Limits.MaxRequestsPerTurn ?? 0)),
            ("cas_enabled", YesNo(options.TellsVersions)),
            ("tcp_backlog", Text(server.Engine?.Backlog ?? 0)),
            ("binding_protocol", Binding()),
            ("auth_enabled_sasl", YesNo(options.Credentials is not null && options.WireFormat != MemcachedWireFormat.Text)),
            ("auth_enabled_ascii", options.WireFormat != MemcachedWireFormat.Binary ? options.UsersPath ?? "no" : "no"),
            ("item_size_max", Text(options.MaxItemBytes)),
            ("maxconns_fast", "yes"),
            ("hashpower_init", "0"),
            .. sessions.Tuning.Settings(),
            ("flush_enabled", YesNo(options.AllowFlush)),
            ("dump_enabled", YesNo(options.AllowDump)),
            .. sessions.Tuning.LruSettings(),
            ("idle_timeout", Text(IdleSeconds())),
            ("track_sizes", "no"),
            ("inline_ascii_response", "no"),
            ("worker_logbuf_size", "65536"),
            ("watcher_logbuf_size", Text(options.WatcherBytes)),
            ("read_buf_mem_limit", Text(server.Engine is { } limited ? limited.Limits.MaxBufferBytes >> 20 : 0)),
            ("memory_file", sessions.Store.Path),
            ("ssl_enabled", YesNo(server.Engine is { } secure && secure.Listeners.Any(listener => secure.ServiceOf(listener).Certificates is not null))),
        ];
    }

    private string Binding() => sessions.Options.WireFormat switch
    {
        MemcachedWireFormat.Text => "ascii",
        MemcachedWireFormat.Binary => "binary",
        _ => "auto-negotiate",
    };

    private long IdleSeconds() =>
        sessions.Options.Server.Engine?.Limits.IdleTimeout is { } time && time != Timeout.InfiniteTimeSpan ? (long)time.TotalSeconds : 0;

    // The store has no slabs. memcached-tool and other programs expect at least one.
    private IEnumerable<(string Name, string Value)> ItemStatistics()
    {
        StoreStatistics store = sessions.Store.GetStatistics();
        StoreCounts counts = sessions.StoreCountsSinceReset(store);
        return store.Totals.Entries == 0
            ? []
            :
            [
                ("items:1:number", Text(store.Totals.Entries)),
                ("items:1:number_hot", "0"),
                ("items:1:number_warm", "0"),
                ("items:1:number_cold", Text(store.Totals.Entries)),
                ("items:1:age_hot", "0"),
                ("items:1:age_warm", "0"),
                ("items:1:age", "0"),
                ("items:1:mem_requested", Text(store.Totals.Bytes + (store.Totals.Entries * EntryCommands.ItemBytesBeyondEntry))),
                ("items:1:evicted", Text(counts.Evictions)),
                ("items:1:evicted_nonzero", "0"),
                ("items:1:evicted_time", "0"),
                ("items:1:outofmemory", Text(store.Totals.Declined)),
                ("items:1:tailrepairs", "0"),
                ("items:1:reclaimed", Text(counts.Reclaimed)),
                ("items:1:expired_unfetched", Text(counts.ExpirationsUnread)),
                ("items:1:evicted_unfetched", Text(counts.EvictionsUnread)),
                ("items:1:evicted_active", "0"),
                ("items:1:crawler_reclaimed", "0"),
                ("items:1:crawler_items_checked", "0"),
                ("items:1:lrutail_reflocked", "0"),
                ("items:1:moves_to_cold", "0"),
                ("items:1:moves_to_warm", "0"),
                ("items:1:moves_within_lru", "0"),
                ("items:1:direct_reclaims", "0"),
                ("items:1:hits_to_hot", "0"),
                ("items:1:hits_to_warm", "0"),
                ("items:1:hits_to_cold", Text(store.Totals.Hits)),
                ("items:1:hits_to_temp", "0"),
            ];
    }

    private IEnumerable<(string Name, string Value)> SlabStatistics()
    {
        MemcachedCounters counters = sessions.Total();
        StoreStatistics store = sessions.Store.GetStatistics();
        long perPage = Math.Max(1, store.BytesPerSegment / 96);
        return
        [
            ("1:chunk_size", "96"),
            ("1:chunks_per_page", Text(perPage)),
            ("1:total_pages", Text(store.Segments)),
            ("1:total_chunks", Text(perPage * store.Segments)),
            ("1:used_chunks", Text(store.Totals.Entries)),
            ("1:free_chunks", Text(Math.Max(0, (perPage * store.Segments) - store.Totals.Entries))),
            ("1:free_chunks_end", "0"),
            ("1:get_hits", Text(counters.GetHits)),
            ("1:cmd_set", Text(counters.Sets)),
            ("1:delete_hits", Text(counters.DeleteHits)),
            ("1:incr_hits", Text(counters.IncrHits)),
            ("1:decr_hits", Text(counters.DecrHits)),
            ("1:cas_hits", Text(counters.CasHits)),
            ("1:cas_badval", Text(counters.CasMismatches)),
            ("1:touch_hits", Text(counters.TouchHits)),
            ("active_slabs", "1"),
            ("total_malloced", Text(store.FileBytes)),
        ];
    }

    // The numbers are those of the descriptors, as in memcached: listeners first, then clients.
    private IEnumerable<(string Name, string Value)> Connections(ClientConnection? asking)
    {
        foreach (Listener listener in Listeners())
        {
            yield return ($"{Text(listener.Descriptor)}:addr", AddressOf(listener));
            yield return ($"{Text(listener.Descriptor)}:state", "conn_listening");
            yield return ($"{Text(listener.Descriptor)}:secs_since_last_cmd", Text((long)sessions.Uptime.TotalSeconds));
        }

        IEnumerable<ClientConnection> connections = sessions.Options.Server.Engine?.Connections ?? [];
        foreach (ClientConnection connection in connections.OrderBy(connection => connection.Id))
        {
            string number = Text(connection.Channel.Descriptor);
            yield return ($"{number}:addr", connection.Remote is null ? "unix:" : $"tcp:{connection.RemoteText}");
            yield return ($"{number}:listen_addr", AddressOf(connection.Listener));
            yield return ($"{number}:state", StateOf(connection, asking));
            yield return ($"{number}:secs_since_last_cmd", Text((long)connection.IdleTime.TotalSeconds));
        }
    }

    private static string StateOf(ClientConnection connection, ClientConnection? asking) =>
        connection == asking ? "conn_parse_cmd"
        : connection.Session.OnlyReceives ? "conn_watch"
        : !connection.IsOpen ? "conn_closing"
        : connection.WaitingInputBytes > 0 && connection.Session.NeededBytes > 0 ? "conn_nread"
        : "conn_read";

    private static string AddressOf(Listener listener) => listener.IsUnix ? $"unix:{listener.Address.UnixPath}" : $"tcp:{listener.EndPoint}";

    private IEnumerable<Listener> Listeners() => (sessions.Options.Server.Engine?.Listeners ?? [])
        .Where(listener => listener.Name.StartsWith("memcached", StringComparison.OrdinalIgnoreCase));

    private static (string Name, string Value)[] Figures(params (string Name, string Value)[] figures) => figures;
}
