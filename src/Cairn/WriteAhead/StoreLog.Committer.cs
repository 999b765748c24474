using Cairn.Platform;

namespace Cairn.WriteAhead;

// Waits that block no caller. One thread of the opening waits on behalf of all asynchronous callers, and makes records durable for which no caller waits. It
// ends when it has had nothing to do for some time, so that a forgotten store can be collected. It is not a thread of the pool, because a pool that is busy
// would delay it beyond what Durability.BackgroundCommit promises.
internal sealed partial class StoreLog
{
    private static readonly TimeSpan LongestIdle = TimeSpan.FromSeconds(5);

    private readonly object _queueGate = new();
    private List<Waiter> _queue = [];
    private bool _isCommitting;

    // 1 while records are to be made durable at _dueAt. Written under the gate.
    private int _isDue;
    private long _dueAt;

    /// <summary>The time after which the log is flushed for a record for which no caller waits. Tests of what happens before make it longer.</summary>
    internal static TimeSpan BackgroundDelay { get; set; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Makes all appended records durable soon, without waiting for that.</summary>
    public void CommitSoon()
    {
        // Full fence; pairs with the exchange in TryTake. Either that thread sees the tail behind the caller's record, or this read sees that it has taken
        // its turn.
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref _isDue) != 0)
        {
            return;
        }

        lock (_queueGate)
        {
            // If the log is closed, Close has made the record durable.
            if (_isDue != 0 || _isClosed)
            {
                return;
            }

            if (TryWakeCommitter())
            {
                _isDue = 1;
                _dueAt = Stopwatch.GetTimestamp() + (long)(BackgroundDelay.TotalSeconds * Stopwatch.Frequency);
                return;
            }
        }

        Wait(Tail, isUrgent: true);
    }

    /// <summary>Does the same as <see cref="Wait"/>, but blocks no thread of the caller.</summary>
    public ValueTask WaitAsync(long end, bool isUrgent, CancellationToken cancellation)
    {
        if (Durable >= end)
        {
            return ValueTask.CompletedTask;
        }

        var waiter = new Waiter(end, isUrgent);
        lock (_queueGate)
        {
            if (_isClosed)
            {
                Wait(end, isUrgent); // Close has made the record durable.
                return ValueTask.CompletedTask;
            }

            if (TryWakeCommitter())
            {
                _queue.Add(waiter);
                Interlocked.Increment(ref _waiting);
                Interlocked.Increment(ref _arrived);
                waiter.IsQueued = true;
            }
        }

        if (!waiter.IsQueued)
        {
            Wait(end, isUrgent);
            return ValueTask.CompletedTask;
        }

        Task task = cancellation.CanBeCanceled ? waiter.Completion.Task.WaitAsync(cancellation) : waiter.Completion.Task;
        return new ValueTask(task);
    }

    // The caller holds the gate, so the thread sees what the caller changes after this. Returns false if the system refuses the thread. The caller then
    // flushes the log itself, after it has left the gate.
    private bool TryWakeCommitter()
    {
        if (_isCommitting)
        {
            Monitor.Pulse(_queueGate);
            return true;
        }

        _isCommitting = BackgroundThread.TryStart("Cairn log", Commit);
        return _isCommitting;
    }

    // Waits until all queued callers are served. The thread ends when the queue is empty.
    private void StopCommitter()
    {
        lock (_queueGate)
        {
            Monitor.PulseAll(_queueGate);
            while (_isCommitting)
            {
                Monitor.Wait(_queueGate);
            }
        }
    }

    private void Commit()
    {
        var batch = new List<Waiter>();
        while (TryTake(ref batch, out bool isDue))
        {
            long end = isDue ? Tail : 0;
            bool isUrgent = isDue;
            foreach (Waiter waiter in batch)
            {
                end = Math.Max(end, waiter.End);
                isUrgent |= waiter.IsUrgent;
            }

            Exception? failure = null;
            try
            {
                Wait(end, isUrgent);
            }
            catch (Exception caught) when (caught is IOException or UnauthorizedAccessException or ObjectDisposedException)
            {
                failure = caught;
                if (isDue && !_isClosed)
                {
                    _failures.Report("Making the last writes durable", caught.Message); // No caller waits for them.
                }
            }

            Interlocked.Add(ref _waiting, -batch.Count);
            foreach (Waiter waiter in batch)
            {
                if (failure is null || Durable >= waiter.End)
                {
                    waiter.Completion.SetResult();
                }
                else
                {
                    waiter.Completion.SetException(failure);
                }
            }

            batch.Clear();
        }
    }

    // Returns false when the thread must end.
    private bool TryTake(ref List<Waiter> batch, out bool isDue)
    {
        lock (_queueGate)
        {
            bool isIdle = false;
            TimeSpan left; // Read once: the next value can be negative, which is no time to wait.
            while (_queue.Count == 0 && (left = TimeUntilDue()) > TimeSpan.Zero)
            {
                if (_isClosed || (isIdle && _isDue == 0))
                {
                    _isCommitting = false;
                    Monitor.PulseAll(_queueGate);
                    isDue = false;
                    return false;
                }

                isIdle = !Monitor.Wait(_queueGate, left);
            }

            // Records that are due also become durable if an asynchronous caller is served. Full fence; pairs with the one in CommitSoon.
            isDue = Interlocked.Exchange(ref _isDue, 0) != 0;
            (batch, _queue) = (_queue, batch);
            return true;
        }
    }

    private TimeSpan TimeUntilDue() => _isDue == 0 ? LongestIdle : Stopwatch.GetElapsedTime(Stopwatch.GetTimestamp(), _dueAt);

    private sealed class Waiter(long end, bool isUrgent)
    {
        public long End { get; } = end;

        public bool IsUrgent { get; } = isUrgent;

        public bool IsQueued { get; set; }

        // The continuation of one caller must not delay the other callers.
        public TaskCompletionSource Completion { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
