// A server and the one connection to it, made again whenever it is lost.
//
//   Connecting --ok--> Connected --lost--> Connecting --failed--> Pausing --after a pause--> Connecting ... --Dispose--> Ended
//
// Callers wait while a connection is being made, and fail at once with the last reason while pausing: a server that is away costs
// them nothing but the first attempt.
using System.Net;
using Cairn.Redis.Connections;
using Microsoft.Extensions.Logging;

namespace Cairn.Redis.Nodes;

internal sealed class RedisNode : IAsyncDisposable
{
    // A connection that does not last as long counts as a failed attempt, or a server that drops everybody would be asked without end.
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

    /// <summary>Creates one that connects when it is first needed.</summary>
    /// <param name="places">Where the server is. Of several, the first that is reached and is no replica.</param>
    /// <param name="factory">Makes connections.</param>
    /// <param name="options">Times.</param>
    /// <param name="logger">Is told of connections.</param>
    /// <param name="onPush">Reads pushes; null if none are expected.</param>
    public RedisNode(IReadOnlyList<EndPoint> places, ConnectionFactory factory, RedisClientOptions options, ILogger logger, PushReader? onPush)
    {
        _places = places;
        _factory = factory;
        _options = options;
        _logger = logger;
        _onPush = onPush;
        Name = string.Join(", ", places.Select(ConnectionFactory.NameOf));
    }

    /// <summary>Tells of a connection that was made, soon after.</summary>
    public Action<RedisNode, ServerConnection>? Connected { get; init; }

    public string Name { get; }

    public EndPoint Place => _places[0];

    public IReadOnlyList<EndPoint> Places => _places;

    public ServerConnection? Current => _current;

    /// <summary>What the server told when the last connection was made; null before the first.</summary>
    public NodeStatus? Status => _status;

    /// <summary>Why there is no connection; null if there is one, or none was wanted yet.</summary>
    public Exception? LastFailure => _current is null ? Volatile.Read(ref _lastFailure) : null;

    /// <summary>How often a connection was made.</summary>
    public int Connections { get; private set; }

    /// <summary>The connection, now or when the attempt that is under way has made it.</summary>
    /// <exception cref="RedisConnectionException">There is none, and none is being made; or the attempt failed.</exception>
    /// <exception cref="TimeoutException">It took too long.</exception>
    public ValueTask<ServerConnection> GetAsync(TimeSpan timeout, CancellationToken cancellationToken)
    {
        if (_current is { IsOpen: true } connection)
        {
            return new(connection);
        }

        Task<ServerConnection> attempt;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isEnded, typeof(RedisClient));
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

            // A connection that was lost this instant, and whose loop does not know yet.
            attempt = (_attempt ??= NewAttempt()).Task;
        }

        return new(attempt.WaitAsync(timeout, cancellationToken));
    }

    /// <summary>Begins to connect, if that has not begun.</summary>
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
#pragma warning disable VSTHRD003 // It was started by Task.Run and needs no thread of anybody's.
            await _loop.ConfigureAwait(false);
#pragma warning restore VSTHRD003
        }

        _end.Dispose();
    }

    // Its exception is looked at by whoever waits; if nobody does, it is no news.
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
                    // Good enough if there is nothing better: it can be read.
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

    // A server that stays away is news once, and then once a minute.
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
#pragma warning disable CA5394 // Only so that clients do not come all at once.
        double pauseMs = longestMs * (1 - (Random.Shared.NextDouble() / 2));
#pragma warning restore CA5394
        try
        {
            await Task.Delay(TimeSpan.FromMilliseconds(pauseMs), _end.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            // The loop ends.
        }
    }
}
