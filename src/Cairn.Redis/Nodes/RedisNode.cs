// A server and the one connection to it, which is established again whenever it is lost.
//
//   Connecting --ok--> Connected --lost--> Connecting --failed--> Pausing --after a pause--> Connecting ... --Dispose--> Ended
//
// Callers wait in the state Connecting. In the state Pausing they fail immediately with the last reason, so a server that is down delays
// callers only during the attempts.
using System.Net;
using Cairn.Redis.Connections;
using Microsoft.Extensions.Logging;

namespace Cairn.Redis.Nodes;

internal sealed class RedisNode : IAsyncDisposable
{
    // A shorter connection counts as a failed attempt. Otherwise a server that closes every connection would cause reconnects without a pause.
    private static readonly TimeSpan s_shortLife = TimeSpan.FromSeconds(1);

    private const long LogIntervalMs = 60_000;

    private readonly Lock _gate = new();
    private readonly IReadOnlyList<EndPoint> _places;
    private readonly ConnectionFactory _factory;
    private readonly RedisClientOptions _options;
    private readonly ILogger _logger;
    private readonly PushReader? _onPush;
    private readonly CancellationTokenSource _end = new();
    private volatile ServerConnection? _current;
    private volatile NodeStatus? _status;
    private TaskCompletionSource<ServerConnection>? _attempt;
    private Task? _loop;
    private Exception? _lastFailure;
    private bool _isEnded;
    private long? _failureLoggedMs;

    /// <summary>Creates a node. It connects when a connection is first needed.</summary>
    /// <param name="places">The end points of the server. The first one that is reached and is not a replica is used.</param>
    /// <param name="factory">The factory of connections.</param>
    /// <param name="options">The time limits and delays.</param>
    /// <param name="logger">The logger of connection events.</param>
    /// <param name="onPush">The reader of pushes; null if none are expected.</param>
    public RedisNode(IReadOnlyList<EndPoint> places, ConnectionFactory factory, RedisClientOptions options, ILogger logger, PushReader? onPush)
    {
        _places = places;
        _factory = factory;
        _options = options;
        _logger = logger;
        _onPush = onPush;
        Name = string.Join(", ", places.Select(ConnectionFactory.NameOf));
    }

    /// <summary>Gets the callback for a new connection. It runs shortly after the connection is established.</summary>
    public Action<RedisNode, ServerConnection>? Connected { get; init; }

    /// <summary>Gets the type that an <see cref="ObjectDisposedException"/> of the node names.</summary>
    public Type Owner { get; init; } = typeof(RedisNode);

    public string Name { get; }

    public EndPoint Place => _places[0];

    public IReadOnlyList<EndPoint> Places => _places;

    public ServerConnection? Current => _current;

    /// <summary>Gets the properties that the server reported on the last connection; null before the first.</summary>
    public NodeStatus? Status => _status;

    /// <summary>Gets the reason why there is no connection; null if there is one, or if none has been needed yet.</summary>
    public Exception? LastFailure => _current is null ? Volatile.Read(ref _lastFailure) : null;

    /// <summary>Gets the number of connections that were established.</summary>
    public int Connections { get; private set; }

    /// <summary>Returns the connection, or waits for the attempt in progress.</summary>
    /// <exception cref="RedisConnectionException">There is no connection and no attempt in progress, or the attempt failed.</exception>
    /// <exception cref="TimeoutException">The time-out has passed.</exception>
    public ValueTask<ServerConnection> GetAsync(TimeSpan timeout, CancellationToken cancellationToken)
    {
        if (_current is { IsOpen: true } connection)
        {
            return new(connection);
        }

        Task<ServerConnection> attempt;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isEnded, Owner);
            if (_loop is null)
            {
                _attempt = NewAttempt();
                _loop = Task.Run(RunAsync, CancellationToken.None);
            }

            if (_current is { IsOpen: true } late)
            {
                return new(late);
            }

            if (_attempt is null && _current is null)
            {
                return ValueTask.FromException<ServerConnection>(new RedisConnectionException(_lastFailure?.Message ?? "", _lastFailure));
            }

            // The connection may have been lost at this moment, before the loop has noticed.
            attempt = (_attempt ??= NewAttempt()).Task;
        }

        return new(attempt.WaitAsync(timeout, cancellationToken));
    }

    /// <summary>Starts to connect, unless that has started already.</summary>
    public void Start()
    {
        lock (_gate)
        {
            if (_loop is null && !_isEnded)
            {
                _attempt = NewAttempt();
                _loop = Task.Run(RunAsync, CancellationToken.None);
            }
        }
    }

    public async ValueTask DisposeAsync()
    {
        lock (_gate)
        {
            if (_isEnded)
            {
                return;
            }

            _isEnded = true;
        }

        await _end.CancelAsync().ConfigureAwait(false);
        _current?.Close(new ObjectDisposedException(nameof(RedisClient)));
        if (_loop is not null)
        {
#pragma warning disable VSTHRD003 // Task.Run started the loop, so it does not need the calling thread.
            await _loop.ConfigureAwait(false);
#pragma warning restore VSTHRD003
        }

        _end.Dispose();
    }

    // Observes the exception, because an attempt without waiters would otherwise raise an unobserved task exception.
    private static TaskCompletionSource<ServerConnection> NewAttempt()
    {
        var attempt = new TaskCompletionSource<ServerConnection>(TaskCreationOptions.RunContinuationsAsynchronously);
        _ = attempt.Task.ContinueWith(
            static task => _ = task.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted, TaskScheduler.Default);
        return attempt;
    }

    private async Task RunAsync()
    {
        int failures = 0;
        while (!_end.IsCancellationRequested)
        {
            ServerConnection? connection = await TryConnectAsync().ConfigureAwait(false);
            if (connection is not null)
            {
                long madeAt = Environment.TickCount64;
                Exception reason = await connection.Closed.ConfigureAwait(false);
                lock (_gate)
                {
                    _current = null;
                }

                Volatile.Write(ref _lastFailure, new RedisConnectionException($"The connection to {connection.Name} was lost: {reason.Message}", reason));
                if (_end.IsCancellationRequested)
                {
                    break;
                }

                NodeLog.Lost(_logger, connection.Name, reason.Message);
                failures = Environment.TickCount64 - madeAt >= s_shortLife.TotalMilliseconds ? 0 : failures + 1;
            }
            else
            {
                failures++;
            }

            if (failures > 0)
            {
                await PauseAsync(failures).ConfigureAwait(false);
            }

            lock (_gate)
            {
                _attempt ??= NewAttempt();
            }
        }

        lock (_gate)
        {
            _attempt?.TrySetException(new ObjectDisposedException(nameof(RedisClient)));
        }
    }

    private async Task<ServerConnection?> TryConnectAsync()
    {
        ServerConnection? connection = null;
        Exception? failure = null;
        ServerConnection? replica = null;
        NodeStatus? replicaStatus = null;
        foreach (EndPoint place in _places)
        {
            try
            {
                (connection, NodeStatus status) = await _factory.ConnectAsync(place, _onPush, _end.Token).ConfigureAwait(false);
                if (status is { IsReplica: true, IsCluster: false } && _places.Count > 1)
                {
                    // A replica serves reads. It is used if no end point is a master.
                    replica?.Close(new RedisException("another was found"));
                    (replica, replicaStatus) = (connection, status);
                    connection = null;
                    continue;
                }

                _status = status;
                break;
            }
            catch (Exception reason) when (reason is RedisException or OperationCanceledException)
            {
                failure ??= reason;
            }
        }

        if (connection is null && replica is not null)
        {
            (connection, _status) = (replica, replicaStatus);
        }
        else
        {
            replica?.Close(new RedisException("another was found"));
        }

        lock (_gate)
        {
            TaskCompletionSource<ServerConnection> attempt = _attempt!;
            _attempt = null;
            if (connection is not null && !_isEnded)
            {
                Connections++;
                _current = connection;
                attempt.TrySetResult(connection);
            }
            else
            {
                failure ??= new ObjectDisposedException(nameof(RedisClient));
                Volatile.Write(ref _lastFailure, failure);
                attempt.TrySetException(failure);
            }
        }

        if (connection is null)
        {
            if (!_end.IsCancellationRequested)
            {
                LogFailure(failure!);
            }
        }
        else if (_end.IsCancellationRequested)
        {
            connection.Close(new ObjectDisposedException(nameof(RedisClient)));
        }
        else
        {
            _failureLoggedMs = null;
            NodeLog.Made(_logger, connection.Name, _status!.IsResp3 ? 3 : 2);
            Connected?.Invoke(this, connection);
        }

        return connection;
    }

    // Logs the first failure, and then at most one failure a minute.
    private void LogFailure(Exception failure)
    {
        long nowMs = Environment.TickCount64;
        if (_failureLoggedMs is not { } loggedMs || nowMs - loggedMs >= LogIntervalMs)
        {
            _failureLoggedMs = nowMs;
            NodeLog.Failed(_logger, Name, failure.Message);
        }
    }

    private async Task PauseAsync(int failures)
    {
        double longestMs = Math.Min(
            _options.MaxReconnectDelay.TotalMilliseconds,
            _options.MinReconnectDelay.TotalMilliseconds * Math.Pow(2, Math.Min(failures - 1, 30)));
#pragma warning disable CA5394 // The random number only spreads the reconnections of clients; it secures nothing.
        double pauseMs = longestMs * (1 - (Random.Shared.NextDouble() / 2));
#pragma warning restore CA5394
        try
        {
            await Task.Delay(TimeSpan.FromMilliseconds(pauseMs), _end.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            // The node is being disposed of.
        }
    }
}
