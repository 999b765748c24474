// The engine: listeners, workers, and the connections between them. The first worker accepts for all workers. Each connection goes to the
// worker with the fewest connections, and stays there.
using System.Collections.Concurrent;
using System.Net.Sockets;
using Cairn.Messages;
using Cairn.Server.Buffers;
using Cairn.Server.Io;
using Cairn.Server.Listening;
using Cairn.Server.Logging;
using Cairn.Server.Metrics;
using Cairn.Server.Timing;
using Cairn.Server.Tls;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Connections;

internal sealed class ServerEngine : IAsyncDisposable
{
    // The approximate size of the heap objects of a connection and its session.
    private const int HeapBytesPerConnection = 4 << 10;

    private static readonly TimeSpan TooManyInterval = TimeSpan.FromSeconds(10);

    // The time for which a client may read nothing while others wait for the memory of its replies. It is longer than any pause of a
    // client that works correctly.
    private const long MostStalledMs = 5000;

    private readonly ServerEngineOptions _options;
    private readonly ConcurrentDictionary<long, ClientConnection> _connections = new();
    private readonly long[] _ended = new long[CloseReasons.Count];
    private readonly List<Listener> _listeners = [];
    private readonly Dictionary<Listener, ListenerService> _services = []; // Complete before the first client is accepted.
    private readonly LogLimiter _limiter;
    private readonly IdleCollector _idleCollector;
    private Worker[] _workers = [];
    private CertificateSource[] _certificates = [];
    private long _lastConnectionId;
    private long _refused;
    private int _connectionCount;
    private long _tooManyLoggedAt;
    private Task? _stopping;

    private ServerEngine(ServerEngineOptions options)
    {
        _options = options;
        Memory = new MemoryAccount(options.Limits.MaxBufferBytes);
        _limiter = new LogLimiter(options.Clock);
        ForeignClients = new ForeignClients(options.Log, options.Clock);
        _idleCollector = new IdleCollector(Memory);
        Metrics.SlowLog.Added = TellSlow;
    }

    public ConnectionLimits Limits => _options.Limits;

    public int Backlog => _options.Backlog;

    public TimeProvider Clock => _options.Clock;

    public ILogger Log => _options.Log;

    public ServerMetrics Metrics => _options.Metrics;

    /// <summary>Gets the account of the buffers of all workers.</summary>
    public MemoryAccount Memory { get; }

    /// <summary>Gets the log of clients that speak another protocol than their port.</summary>
    public ForeignClients ForeignClients { get; }

    /// <summary>Gets the queue of connections that wait for a hazard cell.</summary>
    public CellQueue CellQueue { get; } = new();

    /// <summary>Gets the kernel interface that the workers use; never <see cref="IoKind.Auto"/>.</summary>
    public IoKind Io { get; private set; }

    public IReadOnlyList<Listener> Listeners => _listeners;

    /// <summary>Gets the number of threads that serve connections.</summary>
    public int WorkerCount => _workers.Length;

    /// <summary>Gets the number of connections that are open now.</summary>
    public int ConnectionCount => Volatile.Read(ref _connectionCount);

    /// <summary>Gets the number of connections accepted since the start.</summary>
    public long AcceptedCount => Interlocked.Read(ref _lastConnectionId);

    /// <summary>Gets the number of clients that were refused because there were too many connections.</summary>
    public long RefusedCount => Interlocked.Read(ref _refused);

    /// <summary>Gets the open connections, in no order. Some may be ending.</summary>
    public IEnumerable<ClientConnection> Connections => _connections.Values;

    /// <summary>Binds the listeners and starts to serve.</summary>
    /// <exception cref="ServerException">An address cannot be listened on, a certificate cannot be used, or the requested kernel
    /// interface cannot be used on this machine.</exception>
    public static async Task<ServerEngine> StartAsync(ServerEngineOptions options)
    {
        options.Limits.Validate();
        ArgumentOutOfRangeException.ThrowIfNegative(options.Workers);
        var engine = new ServerEngine(options);
        try
        {
            engine.Bind();
            await engine.StartWorkersAsync().ConfigureAwait(false);
        }
        catch
        {
            await engine.DisposeAsync().ConfigureAwait(false);
            throw;
        }

        return engine;
    }

    /// <summary>Returns the service for the clients of a listener.</summary>
    public ListenerService ServiceOf(Listener listener) => _services[listener];

    public bool TryFind(long connectionId, [NotNullWhen(true)] out ClientConnection? connection) =>
        _connections.TryGetValue(connectionId, out connection);

    /// <summary>Returns the number of connections that ended for this reason.</summary>
    public long EndedCount(CloseReason reason) => Interlocked.Read(ref _ended[(int)reason]);

    /// <summary>Checks the deadlines now, for tests that advance the clock.</summary>
    public void Wake() => Array.ForEach(_workers, worker => worker.Wake());

    /// <summary>Completes when every worker has begun another turn, for tests.</summary>
    public Task UntilTurnedAsync() => Task.WhenAll(_workers.Select(worker =>
    {
        var turned = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        worker.Post(turned.SetResult);
        return turned.Task;
    }));

    /// <summary>
    /// Stops accepting clients, finishes the requests that have arrived, sends the replies, and closes the connections. Connections that
    /// are not finished after the time are closed at once.
    /// </summary>
    public Task StopAsync(TimeSpan time)
    {
        lock (_options)
        {
            return _stopping ??= StopCoreAsync(time);
        }
    }

    public async ValueTask DisposeAsync() => await StopAsync(TimeSpan.Zero).ConfigureAwait(false);

    // --- Members for the workers ---

    public long NextConnectionId() => Interlocked.Increment(ref _lastConnectionId);

    /// <summary>Assigns an accepted client to a worker, or refuses it.</summary>
    public void Deal(Listener listener, AcceptedSocket socket)
    {
        if (Interlocked.Increment(ref _connectionCount) > Limits.MaxConnections)
        {
            OnGone();
            Interlocked.Increment(ref _refused);
            NoteTooMany();
            ListenerService service = ServiceOf(listener);
            socket.Refuse(service.Certificates is null ? service.Sessions.TooManyConnections.Span : []);
            return;
        }

        Worker fewest = _workers[0];
        foreach (Worker worker in _workers)
        {
            if (worker.Load < fewest.Load)
            {
                fewest = worker;
            }
        }

        fewest.Deal(listener, socket);
    }

    public void OnConnected(ClientConnection connection)
    {
        _connections.TryAdd(connection.Id, connection);
        Memory.CountHeap(HeapBytesPerConnection);
    }

    public void OnDisconnected(ClientConnection connection)
    {
        _connections.TryRemove(connection.Id, out _);
        Interlocked.Increment(ref _ended[(int)connection.CloseReason]);
        OnGone();
        TellMisbehaviour(connection);
    }

    /// <summary>Logs that a handshake failed, or that input cannot be decrypted.</summary>
    public void OnTlsFailed(ClientConnection connection, Exception e)
    {
        if (!connection.IsForeign && _limiter.MayTell(LogSubject.TlsFailed, out string others))
        {
            Log.Write(LogLevel.Warning, $"TLS with {connection.RemoteText} on '{connection.ListenerName}' failed: {e.Message}{others}");
        }
    }

    /// <summary>Returns the connection that holds the most memory that cannot wait; null if there is none. Examines all connections, so
    /// it is called only when memory is used up.</summary>
    public ClientConnection? FindLargestHolder()
    {
        ClientConnection? greediest = null;
        long most = 0;
        foreach ((_, ClientConnection connection) in _connections)
        {
            if (connection.IsOpen && connection.HeldBytes > most)
            {
                greediest = connection;
                most = connection.HeldBytes;
            }
        }

        return greediest;
    }

    /// <summary>Closes clients that have read nothing for long, the longest first, until a share of the memory is free.</summary>
    public void CloseStalled(long now)
    {
        long wanted = Limits.MaxBufferBytes / 16;
        foreach (ClientConnection connection in _connections.Values
            .Where(connection => connection.IsOpen && connection.StalledMs(now) >= MostStalledMs)
            .OrderByDescending(connection => connection.StalledMs(now)))
        {
            connection.Post(CloseIfStalled);
            wanted -= connection.Output.UnsentBytes + connection.CopiedBytes;
            if (wanted <= 0)
            {
                return;
            }
        }
    }

    // Runs on the connection's worker, which knows how much the client has read since.
    private static void CloseIfStalled(ClientConnection connection)
    {
        if (connection.BlockedSince != 0)
        {
            connection.NoteBlocked(connection.Worker.Now);
        }

        if (connection.StalledMs(connection.Worker.Now) >= MostStalledMs)
        {
            connection.Close(CloseReason.ReaderStalled);
        }
    }

    /// <summary>Collects garbage if all workers are idle. A worker calls this method when it has been idle for a while.</summary>
    public void OnQuiet()
    {
        if (Array.TrueForAll(_workers, worker => worker.IsQuiet))
        {
            _idleCollector.CollectIfWorthwhile();
        }
    }

    /// <summary>Subtracts a client from the number of connections.</summary>
    public void OnGone() => Interlocked.Decrement(ref _connectionCount);

    private void Bind()
    {
        var certificates = new List<CertificateSource>();
        foreach (ListenerOptions listener in _options.Listeners)
        {
            CertificateSource? tls = null;
            if (listener.Tls is { } options)
            {
                tls = CertificateSource.Load(options, Log, Clock);
                certificates.Add(tls);
            }

            foreach (Listener opened in Listener.Open(listener.Name, listener.Address, _options.Backlog))
            {
                _listeners.Add(opened);
                _services.Add(opened, new ListenerService(listener.Sessions, tls));
            }
        }

        _certificates = [.. certificates];
    }

    private async Task StartWorkersAsync()
    {
        string? last = null;
        foreach (LoopChoice choice in _options.Choices(_options))
        {
            string? obstacle = choice.Obstacle ?? await TryStartWorkersAsync(choice).ConfigureAwait(false);
            if (obstacle is null)
            {
                Io = choice.Kind;
                Log.Write(
                    LogLevel.Information,
                    $"Connections are served through {_workers[0].Loop.Description} by {_workers.Length} worker(s).");
                await BeginAcceptingAsync().ConfigureAwait(false);
                return;
            }

            if (_options.Io != IoKind.Auto)
            {
                throw new ServerException(obstacle);
            }

            last = obstacle;
            Log.Write(LogLevel.Warning, $"{obstacle} Another way is used, which costs more time for each request.");
        }

        throw new ServerException(last ?? "This system has no way to serve connections.");
    }

    private async Task<string?> TryStartWorkersAsync(LoopChoice choice)
    {
        int count = _options.Workers == 0 ? Environment.ProcessorCount : _options.Workers;
        var workers = new Worker[count];
        for (int i = 0; i < count; i++)
        {
            workers[i] = new Worker(this, i, choice.Make());
            workers[i].Start();
        }

        try
        {
            await Task.WhenAll(workers.Select(worker => worker.Opened)).ConfigureAwait(false);
            _workers = workers;
            return null;
        }
        catch (ServerException e)
        {
            await EndAsync(workers, TimeSpan.Zero).ConfigureAwait(false);
            return e.Message;
        }
    }

    private async Task BeginAcceptingAsync()
    {
        Worker acceptor = _workers[0];
        var listening = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        acceptor.Post(() =>
        {
            try
            {
                _listeners.ForEach(acceptor.Loop.Listen);
                listening.SetResult();
            }
            catch (Exception e) when (e is ServerException or SocketException)
            {
                listening.SetException(e as ServerException ?? new ServerException($"A listener cannot be used: {e.Message}.", e));
            }
        });
        await listening.Task.ConfigureAwait(false);
        foreach (Listener listener in _listeners)
        {
            Log.Write(LogLevel.Information, $"Listening for {listener.Name}{(ServiceOf(listener).Certificates is null ? "" : " with TLS")} on {listener.Where}.");
        }
    }

    private async Task StopCoreAsync(TimeSpan time)
    {
        if (_workers.Length > 0)
        {
            var closed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            Worker acceptor = _workers[0];
            acceptor.Post(() =>
            {
                acceptor.Loop.StopListening();
                closed.SetResult();
            });
            await closed.Task.ConfigureAwait(false);
        }

        _listeners.ForEach(listener => listener.Dispose());
        await EndAsync(_workers, time).ConfigureAwait(false);
        Array.ForEach(_certificates, certificate => certificate.Dispose());
    }

    private static async Task EndAsync(Worker[] workers, TimeSpan time)
    {
        foreach (Worker worker in workers)
        {
            worker.Post(() => worker.BeginDrain(time));
        }

        await Task.WhenAll(workers.Select(worker => worker.Ended)).ConfigureAwait(false);
    }

    private void TellMisbehaviour(ClientConnection connection)
    {
        (LogSubject Subject, string What)? misbehaviour = connection.CloseReason switch
        {
            CloseReason.RequestTooLarge => (LogSubject.RequestTooLarge, $"its request is longer than {ByteText.Of(Limits.MaxInputBytesPerConnection)}"),
            CloseReason.RequestTooSlow => (LogSubject.RequestTooSlow, $"its request was not complete after {Limits.RequestTimeout}"),
            CloseReason.ReaderStalled => (LogSubject.ReaderStalled, $"it read nothing for {MostStalledMs / 1000} seconds while others needed the memory of its replies"),
            CloseReason.ReaderTooSlow => (LogSubject.ReaderTooSlow, $"it did not read its replies for {Limits.SlowReaderTimeout}"),
            CloseReason.TooMuchOutput => (LogSubject.TooMuchOutput, $"it left more than {ByteText.Of(Limits.MaxOutputBytesPerConnection)} unread"),
            CloseReason.TransactionTooLong => (LogSubject.TransactionTooLong, "its transaction held up other clients for too long"),
            CloseReason.OutOfMemory => (LogSubject.OutOfMemory, $"the buffers of all connections take more than {ByteText.Of(Limits.MaxBufferBytes)}"),
            _ => null,
        };
        if (misbehaviour is { } known && _limiter.MayTell(known.Subject, out string others))
        {
            Log.Write(
                LogLevel.Warning,
                $"The client {connection.RemoteText} on '{connection.ListenerName}' was disconnected: {known.What}.{others}");
        }
    }

    private void TellSlow(SlowRequest request)
    {
        if (_limiter.MayTell(LogSubject.SlowRequest, out string others))
        {
            Log.Write(
                LogLevel.Warning,
                $"A request of {request.Client} over {request.Protocol} took {request.Duration.TotalMilliseconds:N1} ms: {request.Summary}.{others}");
        }
    }

    private void NoteTooMany()
    {
        long now = Clock.GetTimestampMs();
        long last = Interlocked.Read(ref _tooManyLoggedAt);
        if ((last == 0 || now - last >= TooManyInterval.TotalMilliseconds) &&
            Interlocked.CompareExchange(ref _tooManyLoggedAt, Math.Max(now, 1), last) == last)
        {
            Log.Write(
                LogLevel.Warning,
                $"There are {Limits.MaxConnections} connections, as many as allowed; the server refuses clients ({RefusedCount} so far). Raise the limit, or find the clients that do not close theirs.");
        }
    }
}
