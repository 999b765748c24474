using Cairn.Server.Connections;
using Cairn.Server.Hosting;
using Cairn.Server.Listening;
using Cairn.Server.Logging;
using Cairn.Server.Platform;
using Cairn.Server.Tls;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.Server;

/// <summary>A server that gives clients of the memcached and Redis protocols access to a store.</summary>
/// <remarks>Thread-safe. The application that starts a server must stop or dispose it.</remarks>
public sealed class CairnServer : IAsyncDisposable
{
    private readonly CairnStore _store;
    private readonly ServerEngine _engine;
    private readonly ServerProtocols _protocols;
    private readonly LazyHttpService? _http;
    private readonly TimeSpan _stopTimeout;

    private CairnServer(
        CairnStore store, ServerEngine engine, ServerProtocols protocols, LazyHttpService? http, ServerInsight insight, TimeSpan stopTimeout)
    {
        _http = http;
        Insight = insight;
        _store = store;
        _engine = engine;
        _protocols = protocols;
        _stopTimeout = stopTimeout;
    }

    /// <summary>Gets the path of the store's file.</summary>
    public string StorePath => _store.Path;

    /// <summary>Gets the kernel interface that serves the connections; never <see cref="IoKind.Auto"/>.</summary>
    public IoKind Io => _engine.Io;

    /// <summary>Gets the name and the address of each listener. An address contains the actual port if the system chose it.</summary>
    public IReadOnlyList<KeyValuePair<string, string>> Addresses =>
        [.. _engine.Listeners.Concat(_http?.Listeners ?? []).Select(listener => new KeyValuePair<string, string>(listener.Name, listener.Where))];

    /// <summary>Gets a token that is cancelled when a client asks the server to stop (
    /// <see cref="ServerOptions.AllowsShutdown"/>).</summary>
    public CancellationToken ShutdownRequested => _protocols.ShutdownRequested;

    /// <summary>Gets the health and the metrics of the server.</summary>
    public ServerInsight Insight { get; }

    /// <summary>Gets the number of connections that are open now.</summary>
    public int ConnectionCount => _engine.ConnectionCount;

    /// <summary>
    /// Makes the checks that <see cref="StartAsync"/> makes before it opens anything: the options, the files of users and certificates,
    /// the store's location and first page, and the limit of open files. Creates and changes nothing. Does not test whether the addresses
    /// are free.
    /// </summary>
    /// <param name="options">The options to check.</param>
    /// <param name="environment">A function that returns the value of an environment variable. Default: the variables of this
    /// process.</param>
    /// <param name="logger">Receives warnings and notes that are not errors. Default: they are discarded.</param>
    /// <returns>The options, with the path of the store's file filled in.</returns>
    /// <exception cref="ServerException">An address is not valid, no protocol is served, unauthenticated clients could connect from other
    /// machines, or a file cannot be used.</exception>
    /// <exception cref="ArgumentOutOfRangeException">A number is outside its range.</exception>
    public static ServerOptions Check(
        ServerOptions options, Func<string, string?>? environment = null, ILogger? logger = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        return Prepare(options, environment ?? Environment.GetEnvironmentVariable, logger ?? NullLogger.Instance, out _).Options;
    }

    /// <summary>Opens the store and starts to serve it.</summary>
    /// <param name="options">The protocols, addresses and limits of the server.</param>
    /// <param name="logger">Receives the server's log messages, on any thread. It must not block. Default: they are discarded.</param>
    /// <param name="http">A function that creates the HTTP service when the first HTTP client connects. Default null: the server does not
    /// listen for HTTP.</param>
    /// <exception cref="ServerException">An address cannot be listened on, a certificate cannot be used, or unauthenticated clients could
    /// connect from other machines.</exception>
    /// <exception cref="StoreException">The store cannot be opened.</exception>
    /// <exception cref="ArgumentOutOfRangeException">A number is outside its range.</exception>
    public static async Task<CairnServer> StartAsync(
        ServerOptions options, ILogger? logger = null, Func<ServerInsight, IHttpService>? http = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        ILogger log = logger ?? NullLogger.Instance;
        ServerPlan plan = Prepare(options, Environment.GetEnvironmentVariable, log, out ConnectionLimits limits);
        bool isNewFolder = plan.HasDefaultStore && StorePlace.Make(plan.Options.StorePath!);
        var insight = new ServerInsight(log, TimeProvider.System);
        LazyHttpService? door = null;
        CairnStore? store = null;
        ServerProtocols? protocols = null;
        bool isNewStore = false;
        try
        {
            door = http is null ? null : OpenDoor(plan, () => http(insight), log);
            store = StoreAccess.Open(plan.Options, log, out isNewStore);
            if (plan.Options.LocksMemory && !LinuxSockets.TryLockMemory())
            {
                log.Write(LogLevel.Warning, "The system refused to lock the memory of the server. Raise its limit (LimitMEMLOCK=, ulimit -l).");
            }

            protocols = new ServerProtocols(store, plan);
            ServerEngine engine = await ServerEngine.StartAsync(new ServerEngineOptions
            {
                Listeners = plan.Listeners(protocols),
                Limits = limits,
                Io = plan.Options.Io,
                Workers = plan.Options.Workers,
                Log = log,
                Metrics = protocols.Metrics,
                Backlog = plan.Options.Backlog,
            }).ConfigureAwait(false);
            protocols.Attach(engine);
            insight.OnStarted(protocols.FiguresOf(engine), protocols.AccessBy(plan));
            door?.Accept();
            return new CairnServer(store, engine, protocols, door, insight, plan.Options.StopTimeout);
        }
        catch
        {
            await UndoAsync(plan, door, protocols, store, isNewStore, isNewFolder).ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Stops accepting clients, finishes the requests that have arrived, and closes the connections and then the
    /// store.</summary>
    public async Task StopAsync()
    {
        Insight.OnStopping();
        await _engine.StopAsync(_stopTimeout).ConfigureAwait(false);
        if (_http is not null)
        {
            await _http.DisposeAsync().ConfigureAwait(false); // Last, so that health checks report the stop until the end.
        }

        _protocols.Dispose();
        _store.Dispose();
    }

    /// <summary>Stops the server as <see cref="StopAsync"/> does.</summary>
    public async ValueTask DisposeAsync() => await StopAsync().ConfigureAwait(false);

    // Removes everything that a failed start has created.
    private static async Task UndoAsync(
        ServerPlan plan, LazyHttpService? door, ServerProtocols? protocols, CairnStore? store, bool isNewStore, bool isNewFolder)
    {
        if (door is not null)
        {
            await door.DisposeAsync().ConfigureAwait(false);
        }

        protocols?.Dispose();
        if (isNewStore)
        {
            store?.Discard();
        }

        store?.Dispose();
        if (isNewFolder)
        {
            StorePlace.Unmake(plan.Options.StorePath!);
        }
    }

    // Makes all checks that need nothing to be open.
    private static ServerPlan Prepare(
        ServerOptions options, Func<string, string?> environment, ILogger log, out ConnectionLimits limits)
    {
        ServerPlan plan = ServerPlan.Make(options, environment);
        if (plan.Options.Tls is { } tls)
        {
            CertificateSource.Load(tls, NullLogger.Instance, TimeProvider.System).Dispose();
        }

        StoreAccess.Examine(plan, log);
        limits = DescriptorBudget.Fit(plan, log);
        return plan;
    }

    private static LazyHttpService? OpenDoor(ServerPlan plan, Func<IHttpService> make, ILogger log)
    {
        if (plan.Http.Count == 0)
        {
            return null;
        }

        try
        {
            var door = LazyHttpService.Open(plan.Http, make, log);
            foreach (Listener listener in door.Listeners)
            {
                log.Write(LogLevel.Information, $"Listening for http on {listener.Where}.");
            }

            return door;
        }
        catch (ServerException e) when (plan.Options.IsHttpOptional)
        {
            log.Write(LogLevel.Warning, $"There is no dashboard: {e.Message}");
            return null;
        }
    }
}
