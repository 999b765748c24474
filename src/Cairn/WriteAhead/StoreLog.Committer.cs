namespace Cairn.WriteAhead;

// Waiting without a thread: one thread of the opening waits for all who do. It ends when there has been nothing to do for a while, so that
// a forgotten store is collected.
internal sealed partial class StoreLog
{
    private static readonly TimeSpan LongestIdle = TimeSpan.FromSeconds(5);

    private readonly object _queueGate = new();
    private List<Waiter> _queue = [];
    private bool _isCommitting;

    /// <summary>As <see cref="Wait"/>.</summary>
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
                Wait(end, isUrgent); // Close has brought it to the disk.
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

    // What is queued by now is served: it ends by itself once the queue is empty.
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

    // False when the thread ends.
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

        // Whoever awaits it must not hold up the others.
        public TaskCompletionSource Completion { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
