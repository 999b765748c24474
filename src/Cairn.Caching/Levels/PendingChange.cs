namespace Cairn.Caching.Levels;

/// <summary>What is to be done with a key of the second level.</summary>
internal enum ChangeKind : byte
{
    /// <summary>Set its value.</summary>
    Write = 0,

    /// <summary>Remove it.</summary>
    Remove,

    /// <summary>Give a tag a new stamp.</summary>
    Stamp,

    /// <summary>Begin a new era.</summary>
    Era,

    /// <summary>It is done; others are to be told.</summary>
    Publish,
}

// A change of a key, from the call that asks for it until the second level has it. What is to be done never changes; one that is
// replaced by a newer one ends as the newer one does.
internal sealed class PendingChange(ChangeKind kind)
{
    private const int NotCompleted = -1;
    private const long NotLate = long.MinValue;

    // Made for those who wait; most changes end before anybody does.
    private TaskCompletionSource? _completion;

    // Set before the source is completed; by a single thread at a time, under the ledger's lock.
    private volatile int _status = NotCompleted;

    public ChangeKind Kind { get; } = kind;

    /// <summary>Of a write: the record.</summary>
    public byte[] Record { get; init; } = [];

    /// <summary>Of a write.</summary>
    public LevelExpiration Expiration { get; init; }

    /// <summary>Of a write: the lease that it is done with; null if without.</summary>
    public DistributedLease? Holder { get; init; }

    /// <summary>The new stamp or era.</summary>
    public ulong Number { get; init; }

    /// <summary>The older change that this one replaced while somebody may wait for it.</summary>
    public PendingChange? Replaced { get; set; }

    /// <summary>True if it may replace what others did: a removal and a message do not.</summary>
    public bool CanReplace => Kind is ChangeKind.Write or ChangeKind.Stamp or ChangeKind.Era;

    /// <summary>True if it is or was tried again. Of the ledger, and under its lock, as <see cref="LateSince"/>.</summary>
    public bool IsLate => LateSince != NotLate;

    /// <summary>When it was last found to be not made or perhaps undone.</summary>
    public long LateSince { get; private set; } = NotLate;

    public bool IsCompleted => _status != NotCompleted;

    /// <summary>How it ended.</summary>
    public LevelStatus Status => (LevelStatus)_status;

    /// <summary>Waits for its end.</summary>
    public Task WaitAsync(TimeSpan timeout, TimeProvider clock, CancellationToken cancellationToken)
    {
        TaskCompletionSource? completion = Volatile.Read(ref _completion);
        if (completion is null)
        {
            var source = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            completion = Interlocked.CompareExchange(ref _completion, source, null) ?? source;
        }

        // After the source can be seen: who completes the change sets the status first, and looks for the source then.
        return IsCompleted ? Task.CompletedTask : completion.Task.WaitAsync(timeout, clock, cancellationToken);
    }

    /// <summary>It will be tried again.</summary>
    public void OnLate(long now) => LateSince = now;

    public void Complete(LevelStatus status)
    {
        for (PendingChange? change = this; change is not null; change = change.Replaced)
        {
            if (!change.IsCompleted)
            {
                change._status = (int)status;

                // A full fence between the status and the look for the source; pairs with the exchange in WaitAsync.
                Interlocked.MemoryBarrier();
                Volatile.Read(ref change._completion)?.TrySetResult();
            }
        }

        Replaced = null;
    }
}
