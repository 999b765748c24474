using System.Collections.Concurrent;
using Cairn.Server.Resp.PubSub;

namespace Cairn.Server.Resp;

/// <summary>What the RESP sessions of a server share. Safe from any worker.</summary>
internal sealed class RespServer
{
    private readonly ConcurrentDictionary<long, RespSession> _sessions = new();
    private long _commands;
    private long _connections;

    public RespServer(CairnStore store, TimeProvider? clock = null)
    {
        Store = store;
        Clock = clock ?? TimeProvider.System;
        StartedAt = Clock.GetUtcNow();
    }

    public CairnStore Store { get; }

    public TimeProvider Clock { get; }

    public DateTimeOffset StartedAt { get; }

    public PubSubHub Messages { get; } = new();

    /// <summary>Forty characters that no two runs share.</summary>
    public string RunId { get; } = (Guid.NewGuid().ToString("N") + Guid.NewGuid().ToString("N"))[..40];

    /// <summary>The TCP port that clients are told; 0 if there is none.</summary>
    public int Port { get; init; }

    /// <summary>Requests executed by sessions, added when a batch is done.</summary>
    public long CommandCount => Interlocked.Read(ref _commands);

    /// <summary>Sessions since the start.</summary>
    public long ConnectionCount => Interlocked.Read(ref _connections);

    /// <summary>Sessions that are open, in no order.</summary>
    public ICollection<RespSession> Sessions => _sessions.Values;

    public void CountCommands(int count) => Interlocked.Add(ref _commands, count);

    public void Add(RespSession session)
    {
        Interlocked.Increment(ref _connections);
        _sessions[session.Peer.Id] = session;
    }

    public void Remove(RespSession session) => _sessions.TryRemove(session.Peer.Id, out _);
}
