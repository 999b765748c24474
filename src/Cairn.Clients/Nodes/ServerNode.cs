// A server and the one connection to it, which is established again whenever it is lost.
//
//   Connecting --ok--> Connected --lost--> Connecting --failed--> Pausing --after a pause--> Connecting ... --Dispose--> Ended
//
// Callers wait in the state Connecting. In the state Pausing they fail immediately with the last reason, so a server that is down delays
// callers only during the attempts.
using System.Net;
using Cairn.Clients.Connections;
using Microsoft.Extensions.Logging;

namespace Cairn.Clients.Nodes;

internal sealed class ServerNode : IAsyncDisposable
{
    // A shorter connection counts as a failed attempt. Otherwise a server that closes every connection would cause reconnects without a pause.
    private static readonly TimeSpan s_shortLife = TimeSpan.FromSeconds(1);

    private static readonly InvalidOperationException s_anotherFound = new("Another end point of the server was preferred.");

    private const long LogIntervalMs = 60_000;

    private readonly Lock _gate = new();
    private readonly IReadOnlyList<EndPoint> _places;
    private readonly ConnectionFactory _factory;
    private readonly ConnectionOptions _options;
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
    /// <param name="logger">The logger of connection events.</param>
    /// <param name="onPush">The reader of pushes; null if none are expected.</param>
    public ServerNode(IReadOnlyList<EndPoint> places, ConnectionFactory factory, ILogger logger, PushReader? onPush)
    {
        _places = places;
        _factory = factory;
        _options = factory.Options;
        _logger = logger;
        _onPush = onPush;
        Name = string.Join(", ", places.Select(ConnectionFactory.NameOf));
    }

    /// <summary>Gets the callback for a new connection. It runs shortly after the connection is established.</summary>
    public Action<ServerNode, ServerConnection>? Connected { get; init; }

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
    /// <exception cref="TimeoutException">The time-out has passed.</exception>
    /// <remarks>Throws the client's exception for a missing connection if there is no attempt in progress, or if it failed.</remarks>
    public ValueTask<ServerConnection> GetAsync(TimeSpan timeout, CancellationToken cancellationToken)
    {
        if (_current is { IsOpen: true } connection)
        {
            return new(connection);
        }

        Task<ServerConnection> attempt;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isEnded, _options.Owner);
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
                return ValueTask.FromException<ServerConnection>(_options.Errors.NoConnection(_lastFailure?.Message ?? "", _lastFailure));
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
        _current?.Close(new ObjectDisposedException(_options.Owner.Name));
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

                Volatile.Write(ref _lastFailure, _options.Errors.NoConnection($"The connection to {connection.Name} was lost: {reason.Message}", reason));
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
            _attempt?.TrySetException(new ObjectDisposedException(_options.Owner.Name));
        }
    }

    private async Task<ServerConnection?> TryConnectAsync()
    {
        ServerConnection? connection = null;
        Exception? failure = null;
        ServerConnection? secondChoice = null;
        NodeStatus? secondStatus = null;
        foreach (EndPoint place in _places)
        {
            try
            {
                (connection, NodeStatus status) = await _factory.ConnectAsync(place, _onPush, _end.Token).ConfigureAwait(false);
                if (status.IsSecondChoice && _places.Count > 1)
                {
                    secondChoice?.Close(s_anotherFound);
                    (secondChoice, secondStatus) = (connection, status);
                    connection = null;
                    continue;
                }

                _status = status;
                break;
            }
#pragma warning disable CA1031 // The factory throws only the client's exception for a missing connection, or that the node has ended.
            catch (Exception reason)
            {
                failure ??= reason;
            }
#pragma warning restore CA1031
        }

        if (connection is null && secondChoice is not null)
        {
            (connection, _status) = (secondChoice, secondStatus);
        }
        else
        {
            secondChoice?.Close(s_anotherFound);
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
                failure ??= new ObjectDisposedException(_options.Owner.Name);
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
            connection.Close(new ObjectDisposedException(_options.Owner.Name));
        }
        else
        {
            _failureLoggedMs = null;
            NodeLog.Made(_logger, connection.Name, _status!.Protocol);
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
