using Cairn.Server.Connections;
using Cairn.Server.Hosting;
using Cairn.Server.Listening;
using Cairn.Server.Tls;

namespace Cairn.Server;

/// <summary>A store, served to clients of memcached and of Redis.</summary>
/// <remarks>Safe from any thread. The application that starts one stops it, or disposes of it.</remarks>
public sealed class CairnServer : IAsyncDisposable
{
    private readonly CairnStore _store;
    private readonly ServerEngine _engine;
    private readonly ServerProtocols _protocols;
    private readonly HttpDoor? _http;
    private readonly TimeSpan _stopTimeout;

    private CairnServer(
        CairnStore store, ServerEngine engine, ServerProtocols protocols, HttpDoor? http, ServerInsight insight, TimeSpan stopTimeout)
    {
        _http = http;
        Insight = insight;
        _store = store;
        _engine = engine;
        _protocols = protocols;
        _stopTimeout = stopTimeout;
    }

    /// <summary>The store's file.</summary>
    public string StorePath => _store.Path;

    /// <summary>What connections are served through; never <see cref="IoKind.Auto"/>.</summary>
    public IoKind Io => _engine.Io;

    /// <summary>Where the server can be reached, as name and address: ports that the system chose are told.</summary>
    public IReadOnlyList<KeyValuePair<string, string>> Addresses =>
        [.. _engine.Listeners.Concat(_http?.Listeners ?? []).Select(listener => new KeyValuePair<string, string>(listener.Name, listener.Where))];

    /// <summary>Cancelled when a client asks the server to stop (<see cref="ServerOptions.AllowsShutdown"/>).</summary>
    public CancellationToken ShutdownRequested => _protocols.ShutdownRequested;

    /// <summary>Health and figures.</summary>
    public ServerInsight Insight { get; }

    /// <summary>Connections now.</summary>
    public int ConnectionCount => _engine.ConnectionCount;

    /// <summary>
    /// Checks all that <see cref="StartAsync"/> checks before it opens anything, in the same way: options, the files of users and certificates, the store's
    /// place and first page, the limit of open files. Fills in the store's file. Creates and changes nothing, and does not try whether addresses are free.
    /// </summary>
    /// <param name="options">What to check.</param>
    /// <param name="environment">Gives the value of an environment variable; default: those of this process.</param>
    /// <param name="log">Told what the user should know although it is no error. Default: nobody.</param>
    /// <exception cref="ServerException">An address is none, nothing is served, strangers could get in, or a file cannot be used.</exception>
    /// <exception cref="ArgumentOutOfRangeException">A number lies outside its range.</exception>
    public static ServerOptions Check(
        ServerOptions options, Func<string, string?>? environment = null, Action<ServerLogLevel, string>? log = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        return Prepare(options, environment ?? Environment.GetEnvironmentVariable, LogOf(log), out _).Options;
    }

    /// <summary>Opens the store and begins to serve it.</summary>
    /// <param name="options">What to serve, where, and to whom.</param>
    /// <param name="log">Told what happens to the server, from any thread; must not block. Default: nobody.</param>
    /// <param name="http">Makes what serves HTTP, when the first client of it connects. Default null: HTTP is not listened for.</param>
    /// <exception cref="ServerException">An address cannot be listened on, a certificate cannot be used, strangers could get in.</exception>
    /// <exception cref="StoreException">The store cannot be opened.</exception>
    /// <exception cref="ArgumentOutOfRangeException">A number lies outside its range.</exception>
    public static async Task<CairnServer> StartAsync(
        ServerOptions options, Action<ServerLogLevel, string>? log = null, Func<ServerInsight, IHttpService>? http = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        ServerLog serverLog = LogOf(log);
        ServerPlan plan = Prepare(options, Environment.GetEnvironmentVariable, serverLog, out ConnectionLimits limits);
        bool isNewFolder = plan.HasDefaultStore && StorePlace.Make(plan.Options.StorePath!);
        var insight = new ServerInsight(serverLog, TimeProvider.System);
        HttpDoor? door = null;
        CairnStore? store = null;
        ServerProtocols? protocols = null;
        bool isNewStore = false;
        try
        {
            door = http is null ? null : OpenDoor(plan, () => http(insight), serverLog);
            store = StoreAccess.Open(plan.Options, serverLog, out isNewStore);
            protocols = new ServerProtocols(store, plan);
            ServerEngine engine = await ServerEngine.StartAsync(new EngineOptions
            {
                Listeners = plan.Listeners(protocols),
                Limits = limits,
                Io = plan.Options.Io,
                Workers = plan.Options.Workers,
                Log = serverLog,
                Metrics = protocols.Metrics,
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

    /// <summary>Accepts nobody any more, finishes the requests that have arrived, closes the connections, then the store.</summary>
    public async Task StopAsync()
    {
        Insight.OnStopping();
        await _engine.StopAsync(_stopTimeout).ConfigureAwait(false);
        if (_http is not null)
        {
            await _http.DisposeAsync().ConfigureAwait(false); // Last, to say meanwhile that the server stops.
        }

        _protocols.Dispose();
        _store.Dispose();
    }

    /// <summary>As <see cref="StopAsync"/>.</summary>
    public async ValueTask DisposeAsync() => await StopAsync().ConfigureAwait(false);

    // A start that failed leaves nothing behind that it created.
    private static async Task UndoAsync(
        ServerPlan plan, HttpDoor? door, ServerProtocols? protocols, CairnStore? store, bool isNewStore, bool isNewFolder)
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

    // All that can be found out before anything is opened.
    private static ServerPlan Prepare(
        ServerOptions options, Func<string, string?> environment, ServerLog log, out ConnectionLimits limits)
    {
        ServerPlan plan = ServerPlan.Make(options, environment);
        if (plan.Options.Tls is { } tls)
        {
            CertificateSource.Load(tls, ServerLog.None, TimeProvider.System).Dispose();
        }

        StoreAccess.Examine(plan, log);
        limits = DescriptorBudget.Fit(plan, log);
        return plan;
    }

    private static ServerLog LogOf(Action<ServerLogLevel, string>? log) => log is null ? ServerLog.None : new DelegateLog(log);

    private static HttpDoor? OpenDoor(ServerPlan plan, Func<IHttpService> make, ServerLog log)
    {
        if (plan.Http.Count == 0)
        {
            return null;
        }

        try
        {
            var door = HttpDoor.Open(plan.Http, make, log);
            foreach (Listener listener in door.Listeners)
            {
                log.Write(ServerLogLevel.Information, $"Listening for http on {listener.Where}.");
            }

            return door;
        }
        catch (ServerException e) when (plan.Options.IsHttpOptional)
        {
            log.Write(ServerLogLevel.Warning, $"There is no dashboard: {e.Message}");
            return null;
        }
    }

    private sealed class DelegateLog(Action<ServerLogLevel, string> write) : ServerLog
    {
        public override void Write(ServerLogLevel level, string message) => write(level, message);
    }
}
