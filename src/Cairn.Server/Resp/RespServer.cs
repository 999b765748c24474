using System.Collections.Concurrent;
using Cairn.Server.Connections;
using Cairn.Server.Metrics;
using Cairn.Server.Notifications;
using Cairn.Server.Pinning;
using Cairn.Server.Resp.PubSub;
using Cairn.Server.Resp.Security;
using Cairn.Server.Resp.Tracking;
using Cairn.Server.Timing;

namespace Cairn.Server.Resp;

/// <summary>The state that the RESP sessions of a server share. Thread-safe.</summary>
internal sealed class RespServer : IDisposable
{
    private readonly ConcurrentDictionary<long, RespSession> _sessions = new();
    private readonly ThreadLocal<RespWorker> _worker;
    private volatile RespUsers _users = RespUsers.NoLogin;
    private readonly Lock _pauseLock = new();
    private readonly ITimer _pauseTimer;
    private volatile PauseState? _pause;
    private readonly long _startedAt;
    private long _connections;
    private int _heldByPause;

    public RespServer(CairnStore store, CommandTable commands, TimeProvider? clock = null, PinnedKeys? pinned = null)
    {
        Store = store;
        Commands = commands;
        Scripts = new KnownScripts(commands.Scripts);
        Pinned = pinned ?? PinnedKeys.None;
        _worker = new ThreadLocal<RespWorker>(() => new RespWorker(this), trackAllValues: true);
        Clock = clock ?? TimeProvider.System;
        _startedAt = Clock.GetTimestamp();
        _pauseTimer = Clock.CreateTimer(_ => EndPauseIfDue(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        Tracking = new TrackingHub(store, Clock, id => _sessions.GetValueOrDefault(id), Pinned);
        Events = new KeyspaceEvents(store, new EventChannel(Messages), Pinned);
        Statistics = new RespStatistics(this);
    }

    public CairnStore Store { get; }

    /// <summary>Gets the commands that clients can use.</summary>
    public CommandTable Commands { get; }

    /// <summary>Gets the keys whose entries are kept.</summary>
    public PinnedKeys Pinned { get; }

    /// <summary>Gets the maximum length of values that clients may set, if it is below the store's limit.</summary>
    public int MaxValueBytes { get; init; } = int.MaxValue;

    /// <summary>Gets the maximum length of keys that clients may use.</summary>
    public int MaxKeyBytes
    {
        get;
        init
        {
            field = value;
            KeyLengthError = ErrorFor(value);
        }
    }
    = KeySpace.MaxKeyBytes;

    /// <summary>Gets the error for a key that is empty or too long.</summary>
    public byte[] KeyLengthError { get; private init; } = ErrorFor(KeySpace.MaxKeyBytes);

    /// <summary>Gets the number of clients whose requests wait for the end of CLIENT PAUSE.</summary>
    public int HeldByPause => Volatile.Read(ref _heldByPause);

    /// <summary>Changes <see cref="HeldByPause"/>. Thread-safe.</summary>
    public void CountHeldByPause(int change) => Interlocked.Add(ref _heldByPause, change);

    /// <summary>Gets the values that clients have given to settings without an effect.</summary>
    public ConcurrentDictionary<string, string> SettingsWithoutEffect { get; } = new(StringComparer.Ordinal);

    public TimeProvider Clock { get; }

    /// <summary>Gets the time since the start, by a monotonic clock.</summary>
    public TimeSpan Uptime => Clock.GetElapsedTime(_startedAt);

    /// <summary>Gets or sets the users and their permissions. After a change, connected clients keep their user until they authenticate
    /// again.</summary>
    public RespUsers Users
    {
        get => _users;
        set => _users = value;
    }

    /// <summary>Gets the scripts that clients can name by their digests.</summary>
    public KnownScripts Scripts { get; }

    /// <summary>Gets the password checks in progress.</summary>
    public PasswordChecks Passwords { get; } = new();

    /// <summary>Gets the metrics that count requests.</summary>
    public ServerMetrics Metrics { get; init; } = new();

    /// <summary>Gets the statistics that clients can read through the protocol.</summary>
    public RespStatistics Statistics { get; }

    /// <summary>Gets or sets the engine that serves the sessions; null in tests.</summary>
    public ServerEngine? Engine { get; set; }

    /// <summary>Gets the hub that sends invalidations to tracking clients.</summary>
    public TrackingHub Tracking { get; }

    /// <summary>Gets the present pause of commands; null if there is none.</summary>
    public PauseState? Pause => _pause;

    /// <summary>Gets whether commands must wait.</summary>
    public bool IsPaused => _pause is not null;

    public PubSubHub Messages { get; } = new();

    /// <summary>Gets the keyspace events, for clients that subscribed to their channels.</summary>
    public KeyspaceEvents Events { get; }

    /// <summary>Gets forty characters that are unique to this run.</summary>
    public string RunId { get; } = (Guid.NewGuid().ToString("N") + Guid.NewGuid().ToString("N"))[..40];

    /// <summary>Gets or sets the TCP port that the server reports to clients; 0 if there is none.</summary>
    public int Port { get; set; }

    /// <summary>Gets the state that the sessions of this thread share. The worker that serves a session also creates it.</summary>
    public RespWorker CurrentWorker => _worker.Value!;

    /// <summary>Gets the number of requests executed by sessions, updated after each batch.</summary>
    public long CommandCount => _worker.Values.Sum(worker => worker.CommandCount);

    /// <summary>Gets the number of sessions since the start.</summary>
    public long ConnectionCount => Interlocked.Read(ref _connections);

    /// <summary>Gets the open sessions, in no order.</summary>
    public ICollection<RespSession> Sessions => _sessions.Values;

    public void Add(RespSession session)
    {
        Interlocked.Increment(ref _connections);
        _sessions[session.Peer.Id] = session;
    }

    public bool TryFind(long id, [NotNullWhen(true)] out RespSession? session) => _sessions.TryGetValue(id, out session);

    public void Remove(RespSession session) => _sessions.TryRemove(session.Peer.Id, out _);

    /// <summary>Pauses commands. If there is a pause already, the later end and the stricter kind apply.</summary>
    public void BeginPause(TimeSpan time, bool isWritesOnly)
    {
        lock (_pauseLock)
        {
            long until = Clock.GetTimestampMs() + (long)time.TotalMilliseconds;
            PauseState? before = _pause;
            _pause = new PauseState(Math.Max(until, before?.UntilMs ?? 0), isWritesOnly && (before is null || before.IsWritesOnly));
            ScheduleEnd();
        }
    }

    /// <summary>Ends the pause of commands.</summary>
    public void EndPause()
    {
        lock (_pauseLock)
        {
            if (_pause is null)
            {
                return;
            }

            _pause = null;
        }

        foreach (RespSession session in Sessions)
        {
            session.Resume();
        }
    }

    private void EndPauseIfDue()
    {
        lock (_pauseLock)
        {
            if (_pause is not { } pause)
            {
                return;
            }

            if (pause.UntilMs > Clock.GetTimestampMs())
            {
                ScheduleEnd();
                return;
            }
        }

        EndPause();
    }

    private void ScheduleEnd() => _pauseTimer.Change(
        TimeSpan.FromMilliseconds(Math.Clamp(_pause!.UntilMs - Clock.GetTimestampMs(), 1, uint.MaxValue - 1)), Timeout.InfiniteTimeSpan);

    public void Dispose()
    {
        _pauseTimer.Dispose();
        Tracking.Dispose();
        _worker.Dispose();
    }

    private static byte[] ErrorFor(int maxKeyBytes) => System.Text.Encoding.ASCII.GetBytes($"ERR a key has 1 to {maxKeyBytes} bytes");
}
