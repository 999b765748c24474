using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Cairn.Server.Connections;
using Cairn.Server.Metrics;
using Cairn.Server.Notifications;
using Cairn.Server.Resp.PubSub;
using Cairn.Server.Resp.Security;
using Cairn.Server.Resp.Tracking;

namespace Cairn.Server.Resp;

/// <summary>What the RESP sessions of a server share. Safe from any worker.</summary>
internal sealed class RespServer : IDisposable
{
    private readonly ConcurrentDictionary<long, RespSession> _sessions = new();
    private readonly ThreadLocal<RespWorker> _worker;
    private volatile RespUsers _users = RespUsers.Nobody;
    private readonly Lock _pauseLock = new();
    private readonly ITimer _pauseTimer;
    private volatile PauseState? _pause;
    private readonly long _startedAt;
    private long _connections;

    public RespServer(CairnStore store, TimeProvider? clock = null)
    {
        Store = store;
        _worker = new ThreadLocal<RespWorker>(() => new RespWorker(this), trackAllValues: true);
        Clock = clock ?? TimeProvider.System;
        StartedAt = Clock.GetUtcNow();
        _startedAt = Clock.GetTimestamp();
        _pauseTimer = Clock.CreateTimer(_ => EndPauseIfDue(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        Tracking = new TrackingHub(this);
        Events = new KeyspaceEvents(store, new EventChannel(Messages));
        Statistics = new RespStatistics(this);
    }

    public CairnStore Store { get; }

    /// <summary>The longest value that clients may set, if that is less than what the store takes.</summary>
    public int MaxValueBytes { get; init; } = int.MaxValue;

    /// <summary>The longest key that clients may use.</summary>
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

    /// <summary>What is said of a key that is empty or longer.</summary>
    public byte[] KeyLengthError { get; private init; } = ErrorFor(KeySpace.MaxKeyBytes);

    public TimeProvider Clock { get; }

    public DateTimeOffset StartedAt { get; }

    /// <summary>Time since the start, by a clock that nobody sets.</summary>
    public TimeSpan Uptime => Clock.GetElapsedTime(_startedAt);

    /// <summary>Who may do what. When it changes, clients stay who they are until they authenticate again.</summary>
    public RespUsers Users
    {
        get => _users;
        set => _users = value;
    }

    /// <summary>The passwords that are being checked.</summary>
    public PasswordChecks Passwords { get; } = new();

    /// <summary>Where requests are counted.</summary>
    public ServerMetrics Metrics { get; init; } = new();

    /// <summary>What is counted, for those who ask through the protocol.</summary>
    public RespStatistics Statistics { get; }

    /// <summary>The engine that serves the sessions; null in tests.</summary>
    public ServerEngine? Engine { get; set; }

    /// <summary>Who is told of which changes.</summary>
    public TrackingHub Tracking { get; }

    /// <summary>Null unless commands have to wait.</summary>
    public PauseState? Pause => _pause;

    /// <summary>Whether commands have to wait.</summary>
    public bool IsPaused => _pause is not null;

    public PubSubHub Messages { get; } = new();

    /// <summary>Events of keys, for those who subscribed to their channels.</summary>
    public KeyspaceEvents Events { get; }

    /// <summary>Forty characters that no two runs share.</summary>
    public string RunId { get; } = (Guid.NewGuid().ToString("N") + Guid.NewGuid().ToString("N"))[..40];

    /// <summary>The TCP port that clients are told; 0 if there is none.</summary>
    public int Port { get; set; }

    /// <summary>What the sessions made by this thread share: a session is made by the worker that serves it.</summary>
    public RespWorker CurrentWorker => _worker.Value!;

    /// <summary>Requests executed by sessions, added when a batch is done.</summary>
    public long CommandCount => _worker.Values.Sum(worker => worker.CommandCount);

    /// <summary>Sessions since the start.</summary>
    public long ConnectionCount => Interlocked.Read(ref _connections);

    /// <summary>Sessions that are open, in no order.</summary>
    public ICollection<RespSession> Sessions => _sessions.Values;

    public void Add(RespSession session)
    {
        Interlocked.Increment(ref _connections);
        _sessions[session.Peer.Id] = session;
    }

    public bool TryFind(long id, [NotNullWhen(true)] out RespSession? session) => _sessions.TryGetValue(id, out session);

    public void Remove(RespSession session) => _sessions.TryRemove(session.Peer.Id, out _);

    /// <summary>Lets commands wait. Of two pauses, the later end and the stricter kind hold.</summary>
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

    /// <summary>Lets commands go on.</summary>
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
