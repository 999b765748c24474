using Cairn.Server.Connections;
using Cairn.Server.Memcached;
using Cairn.Server.Metrics;
using Cairn.Server.Resp;

namespace Cairn.Server.Hosting;

/// <summary>What a store is served by: the sessions of each protocol, and what they share.</summary>
internal sealed class ServerProtocols : IDisposable
{
    private readonly CancellationTokenSource _shutdown = new();
    private readonly CairnStore _store;
    private readonly MemcachedSessions _memcached;
    private readonly RespServer _resp;
    private readonly MemcachedSurroundings _surroundings;

    /// <summary>Makes the sessions of a store.</summary>
    public ServerProtocols(CairnStore store, ServerPlan plan)
    {
        ServerOptions options = plan.Options;
        int maxValueBytes = options.MaxValueBytes == 0 ? store.MaxValueBytes : Math.Min(options.MaxValueBytes, store.MaxValueBytes);
        _store = store;
        Metrics.SlowLog.Threshold = options.SlowThreshold;
        _surroundings = new MemcachedSurroundings
        {
            Workers = options.Workers == 0 ? Environment.ProcessorCount : options.Workers,
        };
        _resp = new RespServer(store) { MaxKeyBytes = options.MaxKeyBytes, MaxValueBytes = maxValueBytes, Metrics = Metrics, Users = plan.RespUsers };
        _resp.Events.Classes = plan.Events;
        Resp = new RespSessionFactory(_resp);
        _memcached = new MemcachedSessions(store, new MemcachedOptions
        {
            MaxItemBytes = maxValueBytes,
            AllowFlush = options.AllowsFlush,
            Shutdown = options.AllowsShutdown ? isGraceful => { _ = _shutdown.CancelAsync(); } : null,
            Credentials = plan.MemcachedUsers,
            Surroundings = _surroundings,
            Metrics = Metrics,
            Events = _resp.Events,
        });
    }

    /// <summary>Where sessions and workers record what they do.</summary>
    public ServerMetrics Metrics { get; } = new();

    public SessionFactory Memcached => _memcached;

    public SessionFactory Resp { get; }

    /// <summary>Cancelled when a client asks the server to stop.</summary>
    public CancellationToken ShutdownRequested => _shutdown.Token;

    /// <summary>Lets the sessions tell of the engine that serves them.</summary>
    public void Attach(ServerEngine engine)
    {
        _surroundings.Engine = engine;
        _resp.Engine = engine;
        _resp.Port = engine.Listeners.FirstOrDefault(listener => listener.Sessions == Resp && !listener.IsUnix)?.EndPoint?.Port ?? 0;
    }

    /// <summary>Where the figures of the server come from.</summary>
    public MetricSource FiguresOf(ServerEngine engine) =>
        new(_store, engine, Metrics, _memcached, [.. MemcachedCommands.Metered, .. RespCommands.Metered]);

    /// <summary>Who may see what over HTTP.</summary>
    public ServerAccess AccessBy(ServerPlan plan) => new(plan, _resp);

    public void Dispose()
    {
        _memcached.Dispose();
        _resp.Dispose();
        _shutdown.Dispose();
        Metrics.Dispose();
    }
}
