using Cairn.Server.Connections;
using Cairn.Server.Memcached;
using Cairn.Server.Metrics;
using static Cairn.Server.Exposition.MetricFamily;

namespace Cairn.Server.Exposition;

/// <summary>All metrics of a server. A test checks that docs/reference/metrics.md matches them.</summary>
internal static class MetricTable
{
    public static IReadOnlyList<MetricFamily> All { get; } =
    [
        // --- Requests ---
        Counter("cairn.requests", "", "Requests by protocol, command, its family, and result: ok, error, or rejected before it was executed.", Requests),
        Counter("cairn.lookups", "", "Keys that requests looked up, by result: hit, miss, or mismatch (a cas with an outdated version).", Lookups),
        OfLatencies(
            "cairn.request.duration",
            "Time from when a worker learned of a request until the replies of its batch were handed to the kernel, by protocol and family of commands.",
            RequestDurations),
        Counter("cairn.request.work", "s", "Time that workers spent on requests, by protocol and family of commands.", RequestWork),
        Counter("cairn.slow_requests", "", "Requests that took as long as the slow log's threshold, or longer.", s => s.Source.Requests.SlowLog.Total),
        Counter("cairn.keyspace_events.dropped", "", "Keyspace events that were not sent because too many waited.", s => s.Source.Memcached.Options.Events.Dropped),

        // --- Connections ---
        Gauge("cairn.connections", "", "Connections now.", s => s.Engine.ConnectionCount),
        Gauge("cairn.connections.limit", "", "Connections that are allowed at once.", s => s.Engine.Limits.MaxConnections),
        Counter("cairn.connections.accepted", "", "Connections since the start.", s => s.Engine.AcceptedCount),
        Counter("cairn.connections.refused", "", "Clients that were refused because there were too many connections.", s => s.Engine.RefusedCount),
        Counter("cairn.connections.closed", "", "Connections that have ended, by reason.", ClosedConnections),
        Counter("cairn.network.received", "By", "Bytes that arrived from clients.", s => s.Total(recorder => Volatile.Read(ref recorder.BytesReceived))),
        Counter("cairn.network.sent", "By", "Bytes sent to clients.", s => s.Total(recorder => Volatile.Read(ref recorder.BytesSent))),
        Gauge("cairn.buffers.size", "By", "Memory in the buffers of connections.", s => s.Engine.Memory.Bytes),
        Gauge("cairn.buffers.limit", "By", "Memory that the buffers of connections may take.", s => s.Engine.Limits.MaxBufferBytes),
        Counter("cairn.authentication.failures", "", "Clients of memcached's protocol that gave a wrong user or password.", s => s.Memcached.AuthenticationErrors),

        // --- The store, with the operations of all processes ---
        Gauge("cairn.store.entries", "", "Entries in the store.", s => s.Store.Totals.Entries),
        Gauge("cairn.store.entries.size", "By", "Bytes of the entries in the store: keys, values and headers.", s => s.Store.Totals.Bytes),
        Gauge("cairn.store.file.size", "By", "Size of the store's file.", s => s.Store.FileBytes),
        Gauge("cairn.store.file.limit", "By", "Maximum size of the store's file.", s => s.Store.MaxCapacityBytes),
        Gauge("cairn.store.segments", "", "Segments of the store's file, used and free.", Segments),
        Gauge("cairn.store.segment.size", "By", "Bytes of one segment, the unit of eviction.", s => s.Store.BytesPerSegment),
        Gauge("cairn.store.index.slots", "", "Entries that the store's index has room for.", s => s.Store.IndexSlots),
        Gauge("cairn.store.partitions", "", "Partitions of the store.", s => s.Store.Partitions.Count),
        Gauge("cairn.store.openings", "", "Processes that have the store open, or openings within one.", s => s.Store.Openings),
        Counter("cairn.store.reads", "", "Reads of the store by result, by all processes since it was created.", Reads),
        Counter("cairn.store.writes", "", "Values written to the store, by all processes since it was created.", s => s.Store.Totals.Sets),
        Counter("cairn.store.removals", "", "Values removed from the store by request.", s => s.Store.Totals.Removals),
        Counter("cairn.store.evictions", "", "Entries evicted to make room.", s => s.Store.Totals.Evictions),
        Counter("cairn.store.displacements", "", "Evictions because the index had no room for a key. They also count as evictions.", s => s.Store.Totals.Displacements),
        Counter("cairn.store.expirations", "", "Entries removed, or replaced, after they had expired.", s => s.Store.Totals.Expirations),
        Gauge("cairn.store.expired.size", "By", "Bytes of expired entries whose room is not free yet, because live entries are in the same segments.", s => s.Store.Totals.ExpiredBytes),
        Counter("cairn.store.ghost_hits", "", "Keys that were written again soon after their eviction.", s => s.Store.Totals.GhostHits),
        Counter("cairn.store.declined_writes", "", "Writes that found no room, because everything was pinned.", s => s.Store.Totals.Declined),
        Counter("cairn.store.dropped_writes", "", "Writes that did not get the lock in time and only removed the earlier value.", s => s.Store.Totals.Dropped),
        Counter("cairn.store.lock_waits", "", "Waits of operations for a partition's lock.", s => s.Store.Totals.LockWaits),
        Counter("cairn.store.recoveries", "", "Times that a partition was repaired after a process died in the middle of a write.", s => s.Store.Totals.Recoveries),
        Gauge("cairn.store.failed_checkpoints", "", "Failed attempts to write a snapshot since the last successful one; meanwhile the log grows.", s => s.Store.FailedCheckpoints),
        Counter("cairn.store.damaged_entries", "", "Entries found to be damaged, and removed.", s => s.Store.Totals.DamagedEntries),
        Gauge("cairn.collection.entries", "", "Entries of each named collection.", s => Collections(s, collection => collection.Entries)),
        Gauge("cairn.collection.entries.size", "By", "Bytes of the entries of each named collection.", s => Collections(s, collection => collection.Bytes)),

        // --- The server itself ---
        Gauge("cairn.ready", "", "1 if clients should be sent to the server, else 0.", s => s.Health.IsReady ? 1 : 0),
        Gauge("cairn.workers", "", "Threads that serve connections.", s => s.Engine.WorkerCount),
        Gauge("cairn.build.info", "", "Always 1; the labels are the version, the runtime, and the event loop that serves connections.", BuildInfo),
        Counter("cairn.gc.allocated", "By", "Bytes allocated on the managed heap.", _ => GC.GetTotalAllocatedBytes()),
        Counter("cairn.gc.collections", "", "Garbage collections by generation; each also counts for the lower generations.", Collections),
        Counter("process.cpu", "s", "Processor time of the process, in the kernel and outside.", s => s.Process.CpuSeconds),
        Gauge("process.start_time", "s", "When the process started, as a Unix time.", s => s.Process.StartUnixSeconds),
        Gauge("process.resident_memory", "By", "Memory of the process, including the part of the store's file that is in memory.", s => s.Process.ResidentBytes),
        Gauge("process.anonymous_memory", "By", "Memory of the process that belongs to no file: all except the store and the program.", s => Known(s.Process.AnonymousBytes)),
        Gauge("process.open_fds", "", "Files and sockets that the process has open.", s => Known(s.Process.OpenFiles)),
        Gauge("process.max_fds", "", "Files and sockets that the process may have open.", s => Known(s.Process.MaxOpenFiles)),
    ];

    private static IEnumerable<Sample> Requests(ServerSnapshot snapshot)
    {
        foreach (MeteredCommand command in snapshot.Commands)
        {
            long requests = snapshot.Total(recorder => recorder.Requests(command.Id));
            long errors = snapshot.Total(recorder => recorder.Errors(command.Id));
            long rejected = snapshot.Total(recorder => recorder.Rejected(command.Id));
            if (requests != 0 || rejected != 0)
            {
                yield return Of(Math.Max(0, requests - errors), "ok");
                yield return Of(errors, "error");
                yield return Of(rejected, "rejected");
            }

            Sample Of(long count, string result) =>
                new(count, ("protocol", command.Protocol), ("family", NameOf(command.Family)), ("command", command.Name), ("result", result));
        }
    }

    private static IEnumerable<Sample> Lookups(ServerSnapshot snapshot)
    {
        MemcachedCounters m = snapshot.Memcached;
        yield return Of(MemcachedCommands.Protocol, CommandFamily.Get, m.GetHits, "hit");
        yield return Of(MemcachedCommands.Protocol, CommandFamily.Get, m.GetMisses, "miss");
        yield return Of(MemcachedCommands.Protocol, CommandFamily.Set, m.CasHits, "hit");
        yield return Of(MemcachedCommands.Protocol, CommandFamily.Set, m.CasMisses, "miss");
        yield return Of(MemcachedCommands.Protocol, CommandFamily.Set, m.CasMismatches, "mismatch");
        yield return Of(MemcachedCommands.Protocol, CommandFamily.Delete, m.DeleteHits, "hit");
        yield return Of(MemcachedCommands.Protocol, CommandFamily.Delete, m.DeleteMisses, "miss");
        yield return Of(MemcachedCommands.Protocol, CommandFamily.Arithmetic, m.IncrHits + m.DecrHits, "hit");
        yield return Of(MemcachedCommands.Protocol, CommandFamily.Arithmetic, m.IncrMisses + m.DecrMisses, "miss");
        yield return Of(MemcachedCommands.Protocol, CommandFamily.Touch, m.TouchHits, "hit");
        yield return Of(MemcachedCommands.Protocol, CommandFamily.Touch, m.TouchMisses, "miss");
        foreach (IGrouping<(string Protocol, CommandFamily Family), MeteredCommand> family in snapshot.Commands
            .Where(command => command.Protocol != MemcachedCommands.Protocol)
            .GroupBy(command => (command.Protocol, command.Family)))
        {
            long hits = family.Sum(command => snapshot.Total(recorder => recorder.Hits(command.Id)));
            long misses = family.Sum(command => snapshot.Total(recorder => recorder.Misses(command.Id)));
            if (hits != 0 || misses != 0 || family.Key.Family == CommandFamily.Get)
            {
                yield return Of(family.Key.Protocol, family.Key.Family, hits, "hit");
                yield return Of(family.Key.Protocol, family.Key.Family, misses, "miss");
            }
        }

        static Sample Of(string protocol, CommandFamily family, long count, string result) =>
            new(count, ("protocol", protocol), ("family", NameOf(family)), ("result", result));
    }

    private static IEnumerable<Latencies> RequestDurations(ServerSnapshot snapshot) =>
        snapshot.UsedFamilies().Select(family => new Latencies(
            snapshot.Source.Requests.LatenciesOf(family.Commands), ("protocol", family.Protocol), ("family", NameOf(family.Family))));

    private static IEnumerable<Sample> RequestWork(ServerSnapshot snapshot) =>
        snapshot.UsedFamilies().Select(family => new Sample(
            family.Commands.Sum(command => snapshot.Total(recorder => recorder.BusyNs(command))) / 1e9,
            ("protocol", family.Protocol),
            ("family", NameOf(family.Family))));

    private static IEnumerable<Sample> ClosedConnections(ServerSnapshot snapshot) =>
        Enum.GetValues<CloseReason>()
            .Where(reason => reason != CloseReason.None)
            .Select(reason => new Sample(snapshot.Engine.EndedCount(reason), ("reason", NameOf(reason))));

    private static IEnumerable<Sample> Segments(ServerSnapshot snapshot) =>
    [
        new(snapshot.Store.Segments - snapshot.Store.FreeSegments, ("state", "used")),
        new(snapshot.Store.FreeSegments, ("state", "free")),
    ];

    private static IEnumerable<Sample> Reads(ServerSnapshot snapshot) =>
    [
        new(snapshot.Store.Totals.Hits, ("result", "hit")),
        new(snapshot.Store.Totals.Misses, ("result", "miss")),
    ];

    private static IEnumerable<Sample> Collections(ServerSnapshot snapshot, Func<CollectionStatistics, long> of) =>
        snapshot.Store.Collections.Select(collection => new Sample(of(collection), ("collection", collection.Name)));

    private static IEnumerable<Sample> Collections(ServerSnapshot snapshot) =>
        Enumerable.Range(0, GC.MaxGeneration + 1).Select(generation => new Sample(
            GC.CollectionCount(generation), ("generation", generation.ToString(System.Globalization.CultureInfo.InvariantCulture))));

    private static IEnumerable<Sample> BuildInfo(ServerSnapshot snapshot) =>
    [
        new(
            1,
            ("version", ProcessFigures.Version),
            ("runtime", RuntimeInformation.FrameworkDescription),
            ("io", NameOf(snapshot.Engine.Io))),
    ];

    private static IEnumerable<Sample> Known(long? number) => number is { } known ? [new Sample(known)] : [];

    // Converts ReaderTooSlow to reader_too_slow.
    private static string NameOf<T>(T value)
        where T : struct, Enum
    {
        string name = value.ToString();
        return string.Concat(name.Select((letter, i) => i > 0 && char.IsUpper(letter) ? $"_{letter}" : $"{letter}")).ToLowerInvariant();
    }
}
