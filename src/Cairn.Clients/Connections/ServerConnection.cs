// One connection to a server, shared by all callers. Requests are written one after the other, and replies arrive in the same order.
//
//   callers --lock--> _output --one flusher--> socket ... socket --one receive at a time--> format --> calls, in order
//
//   I1  The order of _inFlight is the order of requests in the stream. Both change under _gate, in one step.
//   I2  One thread flushes at a time (_isFlushing). Requests that are appended in the meantime are sent in its next round, so more
//       concurrent callers produce larger batches.
//   I3  One receive is in progress at a time. The next one begins before the callers' continuations run.
//   I4  After Close, nothing is queued, and every call that was in flight has an outcome.
//   I5  A waiter that gives up leaves the queue. A woken waiter has a reserved place until it sends or gives up. At most WokenAtOnce waiters
//       have one, because the length of their requests is unknown. Every operation that makes room or frees a place wakes the next waiters.
//
//   Open --Close--> Closed
using Cairn.Protocol;

namespace Cairn.Clients.Connections;

// Every GetResult here is called on a completed operation, so nothing blocks. Any failure ends the connection, not the process.
#pragma warning disable VSTHRD002, CA2012, CA1031

internal sealed class ServerConnection : IThreadPoolWorkItem, IAsyncDisposable
{
    private const int ReceiveBytes = 32 << 10;
    private const int KeptReceiveBytes = 1 << 20;
    private const int FlushesAtOnce = 8;
    private const int WokenAtOnce = 8;
    private const int TickMs = 10;

    private readonly Lock _gate = new();
    private readonly Stream _stream;
    private readonly ConnectionOptions _options;
    private readonly PushReader? _onPush;
    private readonly Action _onReceived;
    private readonly WireFormat _format;
    private readonly Queue<InFlight> _inFlight = new();
    private readonly LinkedList<TaskCompletionSource> _waiters = new();
    private readonly TaskCompletionSource<Exception> _closed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly ITimer _timer;
    private readonly List<Range> _replies = [];
    private RequestBuffer _output = new();
    private RequestBuffer _sending = new();
    private PendingCall?[] _answered = new PendingCall?[64];
    private ValueTaskAwaiter<int> _receiving;
    private byte[] _received = ArrayPool<byte>.Shared.Rent(ReceiveBytes);
    private int _receivedBytes;
    private int _headReplies;
    private int _placesKept;
    private bool _isFlushing;
    private bool _isTicking;
    private bool _isClosed;
    private Exception? _closeReason;
    private long _lastReceivedMs;
    private long _silentSinceMs;

    private ServerConnection(Stream stream, WireFormat format, ConnectionOptions options, string name, PushReader? onPush)
    {
        _format = format;
        _stream = stream;
        _options = options;
        _onPush = onPush;
        Name = name;
        _onReceived = OnReceived;
        Completions = new CompletionQueue(FlushHeldBack);
        _lastReceivedMs = Environment.TickCount64;
        _timer = TimeProvider.System.CreateTimer(static connection => ((ServerConnection)connection!).OnTick(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Gets the server's name in messages.</summary>
    public string Name { get; }

    public WireFormat Format => _format;

    public CompletionQueue Completions { get; }

    /// <summary>Gets a task that completes with the reason when the connection ends.</summary>
#pragma warning disable VSTHRD003 // Close completes the task, so it does not need the calling thread.
    public Task<Exception> Closed => _closed.Task;
#pragma warning restore VSTHRD003

    public bool IsOpen => !Volatile.Read(ref _isClosed);

    /// <summary>Gets the number of requests without a reply, queued or sent.</summary>
    public int InFlightCount
    {
        get
        {
            lock (_gate)
            {
                return _inFlight.Count;
            }
        }
    }

    /// <summary>Takes ownership of a stream to a server and begins to receive.</summary>
    public static ServerConnection Start(Stream stream, WireFormat format, ConnectionOptions options, string name, PushReader? onPush)
    {
        var connection = new ServerConnection(stream, format, options, name, onPush);
        connection.Receive();
        return connection;
    }

    /// <summary>Queues requests if there is room. The call gets the last reply.</summary>
    /// <param name="request">The requests.</param>
    /// <param name="call">The call that gets the reply; null to discard the reply.</param>
    /// <param name="turn">The request's claim to room.</param>
    /// <returns>False if there is no room. Never for a request of the client itself.</returns>
    /// <remarks>Throws the client's exception for a missing connection if the connection has ended.</remarks>
    public bool TrySend<TRequest>(TRequest request, PendingCall? call, SendTurn turn = SendTurn.New)
        where TRequest : IRequest, allows ref struct
    {
        lock (_gate)
        {
            if (!TakeRoom(turn))
            {
                return false;
            }

            int start = _output.Count;
            try
            {
                request.WriteTo(_output);
            }
            catch
            {
                TakeBack(start);
                throw;
            }

            Enqueue(call, request.Replies);
            if (!MustFlush())
            {
                return true;
            }
        }

        Flush();
        return true;
    }

    /// <summary>Sends a request whose reply arrives as a push, such as SUBSCRIBE.</summary>
    public void SendUnanswered<TRequest>(TRequest request)
        where TRequest : IRequest, allows ref struct
    {
        lock (_gate)
        {
            TakeRoom(SendTurn.Own);
            request.WriteTo(_output);
        }

        FlushHeldBack();
    }

    /// <summary>Waits for room. The caller must then immediately send with <see cref="SendTurn.Waited"/>.</summary>
    /// <exception cref="TimeoutException">There was no room within the time-out.</exception>
    public async Task WaitForRoomAsync(TimeSpan timeout, CancellationToken cancellationToken)
    {
        LinkedListNode<TaskCompletionSource> waiter;
        lock (_gate)
        {
            if (_isClosed)
            {
                return;
            }

            waiter = _waiters.AddLast(new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
            WakeWaiters();
        }

        try
        {
            await waiter.Value.Task.WaitAsync(timeout, cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            lock (_gate)
            {
                if (waiter.List is not null)
                {
                    _waiters.Remove(waiter);
                }
                else
                {
                    // The waiter was woken just before it gave up, so it returns its place.
                    _placesKept--;
                    WakeWaiters();
                }
            }

            throw;
        }
    }

    /// <summary>
    /// Sends the requests that are held back until a batch of continuations has run. A caller that is about to block its thread calls this first.
    /// </summary>
    public void FlushHeldBack()
    {
        lock (_gate)
        {
            if (_isFlushing || _output.Count == 0 || _isClosed)
            {
                return;
            }

            _isFlushing = true;
        }

        Flush();
    }

    /// <summary>Ends the connection. Calls without a reply fail.</summary>
    public void Close(Exception reason)
    {
        InFlight[] left;
        TaskCompletionSource[] waiters;
        lock (_gate)
        {
            if (_isClosed)
            {
                return;
            }

            _closeReason = reason;
            Volatile.Write(ref _isClosed, true);
            left = [.. _inFlight];
            waiters = [.. _waiters];
            _inFlight.Clear();
            _waiters.Clear();
        }

        _timer.Dispose();
        _stream.Dispose(); // A receive or send in progress fails and finds the connection closed.
        foreach (InFlight entry in left)
        {
            if (entry.Call is { } call)
            {
                call.TryReject(_ => LostException());
                call.Release();
            }
        }

        foreach (TaskCompletionSource waiter in waiters)
        {
            waiter.TrySetResult();
        }

        _closed.TrySetResult(reason);
    }

    public ValueTask DisposeAsync()
    {
        Close(new ObjectDisposedException(_options.Owner.Name));
        return ValueTask.CompletedTask;
    }

    // The flusher passes the work to the pool after FlushesAtOnce rounds.
    void IThreadPoolWorkItem.Execute() => Flush();

    private bool HasRoom => _inFlight.Count + _placesKept < _options.MaxPendingCalls && _output.Count < _options.MaxUnsentBytes;

    private bool TakeRoom(SendTurn turn)
    {
        if (_isClosed)
        {
            throw ClosedException();
        }

        if (turn == SendTurn.Waited)
        {
            _placesKept--;
        }

        return turn != SendTurn.New || (_waiters.Count == 0 && HasRoom);
    }

    // Removes a request that could not be written. The request may have held a reserved place, so this wakes waiters.
    private void TakeBack(int start)
    {
        _output.Truncate(start);
        WakeWaiters();
    }

    private void Enqueue(PendingCall? call, int replies)
    {
        _inFlight.Enqueue(new InFlight(call, replies));
        WakeWaiters();
        if (!_isTicking)
        {
            _isTicking = true;
            _silentSinceMs = Environment.TickCount64;
            _timer.Change(TimeSpan.FromMilliseconds(TickMs), TimeSpan.FromMilliseconds(TickMs));
        }
    }

    // Requires the gate. True if the caller has become the flusher (I2).
    private bool MustFlush()
    {
        if (_isFlushing || Completions.IsBatching)
        {
            return false;
        }

        return _isFlushing = true;
    }

    private void Flush()
    {
        for (int round = 0; ; round++)
        {
            lock (_gate)
            {
                if (_output.Count == 0 || _isClosed)
                {
                    _isFlushing = false;
                    return;
                }

                (_sending, _output) = (_output, _sending);
                WakeWaiters();
            }

            try
            {
                ValueTask sent = _stream.WriteAsync(_sending.Written);
                if (!sent.IsCompleted)
                {
                    _ = FinishFlushAsync(sent); // The task never faults.
                    return;
                }

                sent.GetAwaiter().GetResult();
            }
            catch (Exception failure)
            {
                Close(failure);
                return;
            }

            _sending.Clear();
            if (round == FlushesAtOnce)
            {
                ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
                return;
            }
        }
    }

    private async Task FinishFlushAsync(ValueTask sent)
    {
        try
        {
            await sent.ConfigureAwait(false);
        }
        catch (Exception failure)
        {
            Close(failure);
            return;
        }

        _sending.Clear();
        Flush();
    }

    private void Receive()
    {
        try
        {
            while (IsOpen)
            {
                _receiving = _stream.ReadAsync(_received.AsMemory(_receivedBytes)).GetAwaiter();
                if (!_receiving.IsCompleted)
                {
                    _receiving.UnsafeOnCompleted(_onReceived);
                    return;
                }

                if (!TryTake(_receiving.GetResult()))
                {
                    return;
                }

                // The read completed synchronously. This thread continues to receive, and the complete calls must not wait for that.
                Completions.Wake();
            }
        }
        catch (Exception failure)
        {
            Close(failure);
        }
    }

    private void OnReceived()
    {
        try
        {
            if (!TryTake(_receiving.GetResult()))
            {
                Completions.Drain();
                return;
            }
        }
        catch (Exception failure)
        {
            Close(failure);
            return;
        }

        Receive();
        Completions.Drain();
    }

    // Processes received bytes. Returns false if the connection has ended.
    private bool TryTake(int bytes)
    {
        if (bytes == 0)
        {
            Close(new EndOfStreamException("The server closed the connection."));
            return false;
        }

        _receivedBytes += bytes;
        Volatile.Write(ref _lastReceivedMs, Environment.TickCount64);
        ReadOnlySpan<byte> input = _received.AsSpan(0, _receivedBytes);
        int start = 0;
        _replies.Clear();
        while (start < input.Length)
        {
            ParseStatus status = _format.TryScan(input[start..], out int length);
            if (status == ParseStatus.Fatal)
            {
                Answer();
                Close(new InvalidDataException($"The server sent bytes that are not {_format.Name}."));
                return false;
            }

            if (status == ParseStatus.Incomplete)
            {
                break;
            }

            _replies.Add(start..(start + length));
            start += length;
        }

        if (!Answer())
        {
            return false;
        }

        MakeRoom(start);
        return true;
    }

    // Moves an incomplete reply to the start of an array that is long enough for all of it.
    private void MakeRoom(int consumed)
    {
        int left = _receivedBytes - consumed;
        int needed = Math.Max(ReceiveBytes, left > 0 ? _format.NeededBytes : 0);
        if (_received.Length < needed || (_received.Length > KeptReceiveBytes && needed <= ReceiveBytes))
        {
            byte[] other = ArrayPool<byte>.Shared.Rent(needed);
            _received.AsSpan(consumed, left).CopyTo(other);
            ArrayPool<byte>.Shared.Return(_received);
            _received = other;
        }
        else if (consumed > 0 && left > 0)
        {
            _received.AsSpan(consumed, left).CopyTo(_received);
        }

        _receivedBytes = left;
    }

    // Assigns the received replies to calls. Pushes arrive between replies and belong to no call.
    private bool Answer()
    {
        int replies = 0;
        foreach (Range range in _replies)
        {
            replies += IsPush(range) ? 0 : 1;
        }

        if (replies > 0 && !TryTakeCalls(replies))
        {
            Close(new InvalidDataException("The server sent a reply without a request."));
            return false;
        }

        int at = 0;
        foreach (Range range in _replies)
        {
            ReadOnlySpan<byte> reply = _received.AsSpan(range);
            if (IsPush(range))
            {
                Tell(reply);
                continue;
            }

            ref PendingCall? call = ref _answered[at++];
            if (call is Earlier earlier)
            {
                earlier.Note(reply);
            }
            else if (call is not null)
            {
                if (call.TryDecide())
                {
                    call.Accept(reply);
                    Completions.AddQuietly(call);
                }
                else
                {
                    call.Release();
                }
            }

            call = null;
        }

        return true;
    }

    private void Tell(ReadOnlySpan<byte> push)
    {
#pragma warning disable CA1031 // A failing reader of pushes must not lose the replies behind them.
        try
        {
            _onPush?.Invoke(this, push);
        }
        catch (Exception failure)
        {
            Debug.Fail($"A push was not read: {failure}");
        }
#pragma warning restore CA1031
    }

    private bool IsPush(Range range) => _format.IsPush(_received.AsSpan(range));

    // Takes the calls of the next replies. For all replies of a multi-reply call except the last, the entry is an Earlier.
    private bool TryTakeCalls(int replies)
    {
        if (_answered.Length < replies)
        {
            _answered = new PendingCall?[Math.Max(replies, _answered.Length * 2)];
        }

        lock (_gate)
        {
            for (int i = 0; i < replies; i++)
            {
                if (!_inFlight.TryPeek(out InFlight next))
                {
                    return false;
                }

                if (next.Replies > 1)
                {
                    // A struct at the head of the queue cannot change in place, so _headReplies counts the replies that have arrived.
                    _answered[i] = next.Call is null ? null : new Earlier(next.Call, _format);
                    if (++_headReplies == next.Replies)
                    {
                        _answered[i] = next.Call;
                        _headReplies = 0;
                        _inFlight.Dequeue();
                    }
                }
                else
                {
                    _answered[i] = next.Call;
                    _inFlight.Dequeue();
                }
            }

            WakeWaiters();
        }

        return true;
    }

    // Requires the gate. Called after each change that makes room (I5).
    private void WakeWaiters()
    {
        while (_waiters.First is { } waiter && _placesKept < WokenAtOnce && HasRoom)
        {
            _waiters.RemoveFirst();
            _placesKept++;
            waiter.Value.TrySetResult();
        }
    }

    // Runs while calls are in flight: fails late calls, and handles blocked continuations and a silent server.
    private void OnTick()
    {
        long nowMs = Environment.TickCount64;
        List<PendingCall>? late = null;
        bool isDead;
        lock (_gate)
        {
            if (_isClosed)
            {
                return;
            }

            if (_inFlight.Count == 0 && Completions.IsEmpty)
            {
                _isTicking = false;
                _timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            }

            foreach (InFlight entry in _inFlight)
            {
                // Nearly all calls have the same time-out, so the loop ends at the first call with time left.
                if (entry.Call is { } call)
                {
                    if (call.DeadlineMs > nowMs)
                    {
                        break;
                    }

                    if (call.TryDecide())
                    {
                        call.AddReference();
                        (late ??= []).Add(call);
                    }
                }
            }

            isDead = _inFlight.Count > 0
                && nowMs - Math.Max(Volatile.Read(ref _lastReceivedMs), _silentSinceMs) > _options.SilenceLimit.TotalMilliseconds;
        }

        if (late is not null)
        {
            foreach (PendingCall call in late)
            {
                call.Reject(TimeoutException(nowMs - call.StartedMs));
                Completions.Add(call);
            }
        }

        Completions.Tick();
        FlushHeldBack();
        if (isDead)
        {
            Close(new TimeoutException(string.Create(
                CultureInfo.InvariantCulture, $"The server has sent nothing for {_options.SilenceLimit.TotalSeconds:0.#} s while replies were due.")));
        }
    }

    private Exception TimeoutException(long elapsedMs) => _options.Errors.NoReply(string.Create(
        CultureInfo.InvariantCulture,
        $"{Name} did not reply within {elapsedMs} ms. {InFlightCount} calls wait for a reply; the last bytes came {Environment.TickCount64 - Volatile.Read(ref _lastReceivedMs)} ms ago."));

    private Exception LostException() => _options.Errors.NoConnection(
        $"The connection to {Name} was lost before the reply came: {_closeReason!.Message}", _closeReason, mayHaveExecuted: true);

    private Exception ClosedException() => _options.Errors.NoConnection($"The connection to {Name} is closed: {_closeReason?.Message}", _closeReason);

    /// <summary>A call, or null if the replies are discarded, and the number of replies that belong to it.</summary>
    private readonly record struct InFlight(PendingCall? Call, int Replies);

    // Stands for a call whose last reply has not arrived. Until then, the call keeps its place in the queue, and so its reference.
    private sealed class Earlier(PendingCall call, WireFormat format) : PendingCall
    {
        public void Note(ReadOnlySpan<byte> reply)
        {
            call.EarlierError ??= format.ErrorOf(reply);
        }

        public override void Accept(ReadOnlySpan<byte> reply) => throw new UnreachableException();

        public override void Finish() => throw new UnreachableException();

        protected override void Recycle() => throw new UnreachableException();
    }
}
