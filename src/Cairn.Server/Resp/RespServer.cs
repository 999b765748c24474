using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Cairn.Server.Metrics;
using Cairn.Server.Resp.PubSub;
using Cairn.Server.Resp.Security;
using Cairn.Server.Resp.Tracking;

namespace Cairn.Server.Resp;

/// <summary>What the RESP sessions of a server share. Safe from any worker.</summary>
internal sealed class RespServer : IDisposable
{
    private readonly ConcurrentDictionary<long, RespSession> _sessions = new();
    private readonly ThreadLocal<RespWorker> _worker = new(() => new RespWorker(), trackAllValues: true);
    private volatile RespUsers _users = RespUsers.Nobody;
    private long _connections;

    public RespServer(CairnStore store, TimeProvider? clock = null)
    {
        Store = store;
        Clock = clock ?? TimeProvider.System;
        StartedAt = Clock.GetUtcNow();
        Tracking = new TrackingHub(this);
    }

    public CairnStore Store { get; }

    public TimeProvider Clock { get; }

    public DateTimeOffset StartedAt { get; }

    /// <summary>Who may do what. When it changes, clients stay who they are until they authenticate again.</summary>
    public RespUsers Users
    {
        get => _users;
        set => _users = value;
    }

    /// <summary>Where requests are counted.</summary>
    public ServerMetrics Metrics { get; init; } = new();

    /// <summary>Who is told of which changes.</summary>
    public TrackingHub Tracking { get; }

    public PubSubHub Messages { get; } = new();

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

    public void Dispose()
    {
        Tracking.Dispose();
        _worker.Dispose();
    }
}
