// One server of the ring, and whether it currently serves keys.
//
//   Serving --failures in a row, or refused--> Ejected --reached again, and emptied--> Serving
//
//   I1  While a server is ejected, its keys belong to the next server on the ring and live there for at most StandInLifetime.
//   I2  For the same time after its return, no other server may replace it. So all entries of its last absence have expired before another
//       server replaces it again.
using Cairn.Clients.Connections;
using Cairn.Clients.Nodes;
using Cairn.Protocol;

namespace Cairn.Memcached.Servers;

internal sealed class MemcachedServer(ServerNode node, CairnMemcachedOptions options) : IAsyncDisposable
{
    // A call that the caller canceled sooner does not count as a failure of the server.
    private const long PatienceMs = 100;

    private readonly Lock _gate = new();
    private readonly CancellationTokenSource _end = new();
    private int _failures;
    private long _noStandInBeforeMs = long.MinValue;
    private volatile bool _isEjected;
    private Task? _return;
    private bool _isEnded;

    public string Name => node.Name;

    public bool IsServing => !_isEjected;

    /// <summary>Gets whether another server may take its place while it is ejected (I2).</summary>
    public bool MayBeReplaced => Environment.TickCount64 >= Volatile.Read(ref _noStandInBeforeMs);

    /// <summary>Gets whether the server has meta commands. Also true before the first connection.</summary>
    public bool HasMeta => node.Status is not MemcachedNodeStatus { HasMeta: false };

    /// <summary>Sends requests and returns the last reply.</summary>
    /// <param name="write">Writes the requests; each request has one reply.</param>
    /// <param name="replies">The number of requests, and so of replies.</param>
    /// <param name="destination">The buffer for a value; null to discard it.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="MemcachedException">There was no reply, or it was an error.</exception>
    public async ValueTask<MemcachedAnswer> AskAsync(
        RequestWriter write, int replies, System.Buffers.IBufferWriter<byte>? destination, CancellationToken cancellationToken)
    {
        long startedMs = Environment.TickCount64;
        MemcachedAnswer answer;
        try
        {
            ServerConnection connection = await node.GetAsync(options.OperationTimeout, cancellationToken).ConfigureAwait(false);
            answer = await SendAsync(
                connection, write, replies, destination, options.OperationTimeout - TimeSpan.FromMilliseconds(Environment.TickCount64 - startedMs), cancellationToken)
                .ConfigureAwait(false);
            Volatile.Write(ref _failures, 0);
        }
        catch (OperationCanceledException given) when (Environment.TickCount64 - startedMs >= PatienceMs)
        {
            // A caller's time-out that is shorter than OperationTimeout also counts as a failure of the server.
            OnFailure(given);
            throw;
        }
        catch (MemcachedException failure)
        {
            OnFailure(failure);
            throw;
        }
        catch (TimeoutException late)
        {
            OnFailure(late);
            throw new MemcachedException($"There was no connection to {Name} within the time-out.", late);
        }

        return answer.Error is { } error ? throw new MemcachedException($"{Name} replied: {error}") : answer;
    }

    public async ValueTask DisposeAsync()
    {
        // A container disposes of a cache once for each service type that it is registered as.
        lock (_gate)
        {
            if (_isEnded)
            {
                return;
            }

            _isEnded = true;
        }

        await _end.CancelAsync().ConfigureAwait(false);
        Task? returning;
        lock (_gate)
        {
            returning = _return;
        }

        if (returning is not null)
        {
            await returning.ConfigureAwait(false);
        }

        await node.DisposeAsync().ConfigureAwait(false);
        _end.Dispose();
    }

    private static async ValueTask<MemcachedAnswer> SendAsync(
        ServerConnection connection, RequestWriter write, int replies, System.Buffers.IBufferWriter<byte>? destination, TimeSpan timeout, CancellationToken cancellationToken)
    {
        var turn = SendTurn.New;
        while (true)
        {
            MemcachedCall call = MemcachedCall.Rent(destination, connection, timeout);
            bool isSent;
            try
            {
                isSent = connection.TrySend(new MemcachedRequests(write, replies), call, turn);
            }
            catch
            {
                call.Abandon();
                throw;
            }

            if (isSent)
            {
                call.CancelWith(cancellationToken);
                return await call.Task.ConfigureAwait(false);
            }

            call.Abandon();
            await connection.WaitForRoomAsync(timeout, cancellationToken).ConfigureAwait(false);
            turn = SendTurn.Waited;
        }
    }

    private void OnFailure(Exception failure)
    {
        bool isRefused = failure is MemcachedException { IsUnreached: true };
        if (Interlocked.Increment(ref _failures) < options.FailuresBeforeEjection && !isRefused)
        {
            return;
        }

        lock (_gate)
        {
            if (!_isEjected && !_end.IsCancellationRequested)
            {
                _isEjected = true;
                _return = Task.Run(ReturnAsync, CancellationToken.None);
            }
        }
    }

    private async Task ReturnAsync()
    {
        while (!_end.IsCancellationRequested)
        {
            try
            {
                await Task.Delay(options.ReturnInterval, _end.Token).ConfigureAwait(false);
                ServerConnection connection = await node.GetAsync(options.ConnectTimeout, _end.Token).ConfigureAwait(false);
                MemcachedAnswer answer = await SendAsync(
                    connection,
                    options.FlushOnReturn
                        ? static (ref MemcachedRequestWriter writer) => writer.WriteFlushAll()
                        : static (ref MemcachedRequestWriter writer) => writer.WriteLine("version"u8),
                    replies: 1,
                    destination: null,
                    options.OperationTimeout,
                    _end.Token).ConfigureAwait(false);
                if (answer.Error is null)
                {
                    Volatile.Write(ref _noStandInBeforeMs, Environment.TickCount64 + (long)options.StandInLifetime.TotalMilliseconds + 1000);
                    Volatile.Write(ref _failures, 0);
                    _isEjected = false;
                    return;
                }
            }
            catch (Exception failure) when (failure is MemcachedException or TimeoutException or OperationCanceledException or ObjectDisposedException)
            {
                // The next iteration tries again.
            }
        }
    }
}
