using Cairn.Server.Connections;
using Cairn.Server.Exposition;
using Cairn.Server.Memcached;
using Cairn.Server.Metrics;
using Cairn.Server.Pinning;
using Cairn.Server.Resp;
using Cairn.Server.Resp.Commands;

namespace Cairn.Server.Hosting;

/// <summary>The sessions of each protocol for a store, and their shared state.</summary>
internal sealed class ServerProtocols : IDisposable
{
    private readonly CancellationTokenSource _shutdown = new();
    private readonly CairnStore _store;
    private readonly MemcachedSessions _memcached;
    private readonly RespServer _resp;
    private readonly MemcachedServerInfo _info;

    /// <summary>Creates the session factories for a store.</summary>
    public ServerProtocols(CairnStore store, ServerPlan plan)
    {
        ServerOptions options = plan.Options;
        int maxValueBytes = options.MaxValueBytes == 0 ? store.MaxValueBytes : Math.Min(options.MaxValueBytes, store.MaxValueBytes);
        _store = store;
        Metrics.SlowLog.Threshold = options.SlowThreshold;
        _info = new MemcachedServerInfo
        {
            Workers = options.Workers == 0 ? Environment.ProcessorCount : options.Workers,
        };
        PinnedKeys pinned = PinnedKeys.Open(store, options.PinnedPrefixes, options.PinnedBytes);
        _resp = new RespServer(store, RespCommands.Table, pinned: pinned) { MaxKeyBytes = options.MaxKeyBytes, MaxValueBytes = maxValueBytes, Metrics = Metrics, Users = plan.RespUsers };
        _resp.Events.Classes = plan.Events;
        Resp = new RespSessionFactory(_resp);
        _memcached = new MemcachedSessions(store, new MemcachedOptions
        {
            MaxItemBytes = maxValueBytes,
            AllowFlush = options.AllowsFlush,
            AllowDump = options.AllowsDump,
            AllowWatch = options.AllowsWatch,
            TellsVersions = options.TellsVersions,
            Version = options.MemcachedVersion,
            PrefixDelimiter = options.MemcachedPrefixDelimiter,
            WatcherBytes = options.WatcherBytes,
            UsersPath = options.MemcachedUsersPath,
            UnixMode = options.UnixMode,
            Shutdown = options.AllowsShutdown ? isGraceful => { _ = _shutdown.CancelAsync(); } : null,
            Credentials = plan.MemcachedUsers,
            WireFormat = options.MemcachedWireFormat,
            Server = _info,
            Metrics = Metrics,
            Events = _resp.Events,
            Pinned = pinned,
        });
    }

    /// <summary>Gets the metrics that sessions and workers record.</summary>
    public ServerMetrics Metrics { get; } = new();

    public SessionFactory Memcached => _memcached;

    public SessionFactory Resp { get; }

    /// <summary>Gets a token that is cancelled when a client asks the server to stop.</summary>
    public CancellationToken ShutdownRequested => _shutdown.Token;

    /// <summary>Sets the engine that serves the sessions, so that they can report its state.</summary>
    public void Attach(ServerEngine engine)
    {
        _info.Engine = engine;
        _resp.Engine = engine;
        _resp.Port = engine.Listeners.FirstOrDefault(listener => engine.ServiceOf(listener).Sessions == Resp && !listener.IsUnix)?.EndPoint?.Port ?? 0;
    }

    /// <summary>Returns the source of the server's metrics.</summary>
    public MetricSource FiguresOf(ServerEngine engine) =>
        new(_store, engine, Metrics, _memcached, [.. MemcachedCommands.Metered, .. RespCommands.Metered]);

    /// <summary>Returns the permissions over HTTP.</summary>
    public ServerAccess AccessBy(ServerPlan plan) => new(plan, _resp);

    public void Dispose()
    {
        _memcached.Dispose();
        _resp.Dispose();
        _shutdown.Dispose();
        Metrics.Dispose();
    }
}
