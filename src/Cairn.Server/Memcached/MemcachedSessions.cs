using Cairn.Server.Connections;

namespace Cairn.Server.Memcached;

/// <summary>Creates the sessions that serve a store by memcached's protocol, and holds their shared state.</summary>
internal sealed class MemcachedSessions : SessionFactory, IDisposable
{
    private const long FlushRetryMs = 1000;

    /// <summary>The maximum number of parts of a store that count versions on their own. A version begins with the time at which the store was
    /// created, so its six highest bits are 0 until 2109.</summary>
    public const uint MaxPartitions = 64;

    private static readonly ReadOnlyMemory<byte> TooMany = "ERROR Too many open connections\r\n"u8.ToArray();

    private readonly Lock _countersLock = new();
    private readonly List<MemcachedCounters> _allCounters = [];
    private readonly MemcachedCounters _atReset = new();
    private readonly ThreadLocal<EntryCommands> _entries;
    private readonly ThreadLocal<RequestsAhead> _ahead = new(() => new RequestsAhead());
    private readonly ITimer _flushTimer;
    private readonly long _startedAt;
    private StoreCounts _storeAtReset;
    private TrafficCounts _trafficAtReset;
    private long _flushAtMs = long.MaxValue;

    public MemcachedSessions(CairnStore store, MemcachedOptions options)
    {
        Store = store;
        Options = options;
        _storeAtReset = StoreCounts.Of(store.GetStatistics().Totals);
        Prefixes = new PrefixStatistics(options.PrefixDelimiter);
        Watch = new WatchLog(options.Clock, options.WatcherBytes) { OnWanted = OnWatched };
        _startedAt = options.Clock.GetTimestamp();
        _entries = new ThreadLocal<EntryCommands>(() => new EntryCommands(this, AddCounters()));
        Statistics = new MemcachedStatistics(this);
        WriteTimes = new WriteTimes(store.Engine, options.Clock);
        _flushTimer = options.Clock.CreateTimer(
            static state => ((MemcachedSessions)state!).FlushIfDue(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    public CairnStore Store { get; }

    public MemcachedOptions Options { get; }

    /// <summary>Gets the time since the start, by a monotonic clock.</summary>
    public TimeSpan Uptime => Options.Clock.GetElapsedTime(_startedAt);

    /// <summary>Gets whether a <c>flush_all</c> waits for its time.</summary>
    public bool IsFlushWaiting => Volatile.Read(ref _flushAtMs) != long.MaxValue;

    /// <summary>Gets or sets the level of <c>verbosity</c>, which has no effect.</summary>
    public int Verbosity { get; set; }

    /// <summary>Gets the <c>stats detail</c> of all sessions.</summary>
    public PrefixStatistics Prefixes { get; }

    /// <summary>Gets the log that clients of <c>watch</c> receive.</summary>
    public WatchLog Watch { get; }

    /// <summary>Gets the estimates of when entries were last used.</summary>
    public WriteTimes WriteTimes { get; }

    /// <summary>Gets the settings that clients can change and that have no effect.</summary>
    public MemcachedTuning Tuning { get; } = new();

    /// <summary>Gets the figures for <c>stats</c>.</summary>
    public MemcachedStatistics Statistics { get; }

    public override ReadOnlyMemory<byte> TooManyConnections => TooMany;

    public override SpokenProtocols Spoken => Options.WireFormat switch
    {
        MemcachedWireFormat.Text => SpokenProtocols.Memcached,
        MemcachedWireFormat.Binary => SpokenProtocols.MemcachedBinary,
        _ => SpokenProtocols.Memcached | SpokenProtocols.MemcachedBinary,
    };

    public override Session Create(ClientConnection connection) => Options.WireFormat switch
    {
        MemcachedWireFormat.Text => CreateText(connection),
        MemcachedWireFormat.Binary => CreateBinary(connection),
        _ => new UndecidedSession(this, connection),
    };

    /// <summary>Creates a session of the text protocol.</summary>
    /// <param name="connection">The connection; null in tests.</param>
    public TextSession CreateText(ClientConnection? connection) => new(this, connection, _entries.Value!, _ahead.Value!);

    /// <summary>Creates a session of the binary protocol.</summary>
    /// <param name="connection">The connection; null in tests.</param>
    public BinarySession CreateBinary(ClientConnection? connection) => new(this, connection, _entries.Value!, _ahead.Value!);

    /// <summary>Returns whether a client has given the name and password of a user, and counts the attempt.</summary>
    public bool Authenticate(ReadOnlySpan<byte> user, ReadOnlySpan<byte> password, MemcachedCounters counters, ClientConnection? connection)
    {
        bool isKnown = Options.Credentials!.Check(user, password);
        if (!isKnown)
        {
            connection?.ReportWrongPassword();
        }

        counters.Authentications++;
        counters.AuthenticationErrors += isKnown ? 0 : 1;
        return isKnown;
    }

    /// <summary>Returns the number by which clients know a version in a part of the store; 0 if clients see none.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong TokenOf(int partition, ulong version) =>
        version == 0 || !Options.TellsVersions ? 0 : (version * MaxPartitions) + (uint)partition;

    /// <summary>Returns the number by which clients know the version of an entry in a part of the store; 0 if clients see none.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong TokenOf(int partition, in EntryInfo info) =>
        info.ChosenVersion != 0 && Options.TellsVersions ? info.ChosenVersion : TokenOf(partition, info.Version);

    /// <summary>Writes to the log of watchers that a client has connected.</summary>
    public void NoteOpened(ClientConnection? connection)
    {
        if (Watch.Wants(WatchKinds.ConnectionEvents) && connection is not null)
        {
            Watch.Write(WatchKinds.ConnectionEvents, $"type=conn_new {EndPointOf(connection)} cfd={connection.Channel.Descriptor}");
        }
    }

    /// <summary>Writes to the log of watchers that a connection has ended.</summary>
    public void NoteClosed(ClientConnection? connection, CloseReason reason)
    {
        if (Watch.Wants(WatchKinds.ConnectionEvents) && connection is not null)
        {
            string why = reason switch
            {
                CloseReason.ClosedBySession when !connection.IsForeign => "normal",
                CloseReason.ClosedByClient => "normal",
                CloseReason.Idle => "idle_timeout",
                CloseReason.ServerStopping or CloseReason.ServerStopped => "shutdown",
                _ => "error",
            };
            Watch.Write(
                WatchKinds.ConnectionEvents, $"type=conn_close {EndPointOf(connection)} reason={why} cfd={connection.Channel.Descriptor}");
        }
    }

    /// <summary>Empties the store now, or at a later time.</summary>
    public void Flush(long atMs)
    {
        long now = NowMs();
        if (atMs <= now)
        {
            Volatile.Write(ref _flushAtMs, long.MaxValue);
            Options.Pinned.Clear(Store);
            return;
        }

        Volatile.Write(ref _flushAtMs, atMs);
        _flushTimer.Change(TimeSpan.FromMilliseconds(Math.Min(atMs - now, uint.MaxValue - 1)), Timeout.InfiniteTimeSpan);
    }

    /// <summary>Empties the store if the time of a waiting <c>flush_all</c> has come.</summary>
    public void FlushIfDue()
    {
        long due = Volatile.Read(ref _flushAtMs);
        if (due == long.MaxValue)
        {
            return;
        }

        long now = NowMs();
        if (due > now)
        {
            // The timer's interval is limited.
            _flushTimer.Change(TimeSpan.FromMilliseconds(Math.Min(due - now, uint.MaxValue - 1)), Timeout.InfiniteTimeSpan);
        }
        else if (Interlocked.CompareExchange(ref _flushAtMs, long.MaxValue, due) == due)
        {
            try
            {
                if (!Options.Pinned.Clear(Store))
                {
                    RetryFlush(now, "A stopped process holds a lock of the store.");
                }
            }
            catch (ObjectDisposedException)
            {
                // The server is stopping.
            }
            catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
            {
                RetryFlush(now, failure.Message);
            }
        }
    }

    // No client waits for a delayed flush. Unless another flush was requested meanwhile, it is tried again.
    private void RetryFlush(long now, string reason)
    {
        Store.Engine.Failures.Report("A delayed flush_all", reason);
        if (Interlocked.CompareExchange(ref _flushAtMs, now + FlushRetryMs, long.MaxValue) == long.MaxValue)
        {
            _flushTimer.Change(TimeSpan.FromMilliseconds(FlushRetryMs), Timeout.InfiniteTimeSpan);
        }
    }

    /// <summary>Returns the counts of all sessions since the last reset.</summary>
    public MemcachedCounters Total()
    {
        var total = new MemcachedCounters();
        lock (_countersLock)
        {
            AddAll(total);
            total.Add(_atReset, -1);
        }

        return total;
    }

    /// <summary>Returns the counts of all sessions since the server started, regardless of resets.</summary>
    public MemcachedCounters TotalSinceStart()
    {
        var total = new MemcachedCounters();
        lock (_countersLock)
        {
            AddAll(total);
        }

        return total;
    }

    /// <summary>Returns the store's counts since the start or the last reset.</summary>
    public StoreCounts StoreCountsSinceReset(StoreStatistics statistics)
    {
        lock (_countersLock)
        {
            return StoreCounts.Of(statistics.Totals).Minus(_storeAtReset);
        }
    }

    /// <summary>Returns the server's counts since the start or the last reset.</summary>
    public TrafficCounts TrafficSinceReset()
    {
        lock (_countersLock)
        {
            return TrafficCounts.Of(Options.Server.Engine, Options.Metrics).Minus(_trafficAtReset);
        }
    }

    /// <summary>Resets all counts to zero.</summary>
    public void ResetCounters()
    {
        lock (_countersLock)
        {
            _trafficAtReset = TrafficCounts.Of(Options.Server.Engine, Options.Metrics);
            _storeAtReset = StoreCounts.Of(Store.GetStatistics().Totals);
            var now = new MemcachedCounters();
            AddAll(now);
            now.Add(_atReset, -1);
            _atReset.Add(now);
        }
    }

    public long NowMs() => Options.Clock.GetUtcNow().ToUnixTimeMilliseconds();

    public void Dispose()
    {
        _flushTimer.Dispose();
        WriteTimes.Dispose();
        _entries.Dispose();
        _ahead.Dispose();
    }

    private static string EndPointOf(ClientConnection connection) => connection.Remote is { } remote
        ? $"rip={remote.Address} rport={remote.Port} transport=tcp"
        : "rip=unix rport=0 transport=local";

    // The store reports only the key of an eviction.
    private void OnWatched(WatchKinds kinds)
    {
        Options.Events.WatchEvictions(kinds.HasFlag(WatchKinds.Evictions)
            ? key => Watch.Write(WatchKinds.Evictions, $"type=eviction key={KeyListing.Escaped(key)} fetch=no ttl=-1 la=0 clsid=1 size=0")
            : null);
        Options.Events.Reads = kinds.HasFlag(WatchKinds.Fetchers) ? (key, isFound, valueBytes) => Watch.WriteRead(key, isFound, 0, valueBytes) : null;
    }

    private void AddAll(MemcachedCounters total) => _allCounters.ForEach(counters => total.Add(counters));

    private MemcachedCounters AddCounters()
    {
        var counters = new MemcachedCounters();
        lock (_countersLock)
        {
            _allCounters.Add(counters);
        }

        return counters;
    }
}
