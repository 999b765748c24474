namespace Cairn.WriteAhead;

// Asynchronous waits. One thread of the opening waits on behalf of all asynchronous callers. It ends when it has had nothing to do for some time, so that a
// forgotten store can be collected.
internal sealed partial class StoreLog
{
    private static readonly TimeSpan LongestIdle = TimeSpan.FromSeconds(5);

    private readonly object _queueGate = new();
    private List<Waiter> _queue = [];
    private bool _isCommitting;

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

            _queue.Add(waiter);
            Interlocked.Increment(ref _waiting);
            Interlocked.Increment(ref _arrived);
            if (!_isCommitting)
            {
                _isCommitting = true;
                var thread = new Thread(Commit) { IsBackground = true, Name = "Cairn log" };
                thread.UnsafeStart();
            }
            else
            {
                Monitor.Pulse(_queueGate);
            }
        }

        Task task = cancellation.CanBeCanceled ? waiter.Completion.Task.WaitAsync(cancellation) : waiter.Completion.Task;
        return new ValueTask(task);
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
        while (TryTake(ref batch))
        {
            long end = 0;
            bool isUrgent = false;
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
            catch (Exception caught) when (caught is StoreException or ObjectDisposedException)
            {
                failure = caught;
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
    private bool TryTake(ref List<Waiter> batch)
    {
        lock (_queueGate)
        {
            while (_queue.Count == 0)
            {
                if (_isClosed || !Monitor.Wait(_queueGate, LongestIdle))
                {
                    if (_queue.Count != 0)
                    {
                        break;
                    }

                    _isCommitting = false;
                    Monitor.PulseAll(_queueGate);
                    return false;
                }
            }

            (batch, _queue) = (_queue, batch);
            return true;
        }
    }

    private sealed class Waiter(long end, bool isUrgent)
    {
        public long End { get; } = end;

        public bool IsUrgent { get; } = isUrgent;

        // The continuation of one caller must not delay the other callers.
        public TaskCompletionSource Completion { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
