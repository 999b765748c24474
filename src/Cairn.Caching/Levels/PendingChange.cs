using Cairn.Caching.Tagging;

namespace Cairn.Caching.Levels;

/// <summary>The kind of a change of a key in the second level.</summary>
internal enum ChangeKind : byte
{
    /// <summary>Sets the key's value.</summary>
    Write = 0,

    /// <summary>Removes the key.</summary>
    Remove,

    /// <summary>Gives a tag a new stamp.</summary>
    Stamp,

    /// <summary>Begins a new era.</summary>
    Era,

    /// <summary>Publishes a change that is already made.</summary>
    Publish,
}

// A change of a key, from the caller's request until the second level has it. Its content never changes. A change that is replaced by a newer
// one ends when, and as, the newer one ends.
internal sealed class PendingChange(ChangeKind kind)
{
    private const int NotCompleted = -1;
    private const long NotLate = long.MinValue;

    // Created when a caller waits; most changes end before that.
    private TaskCompletionSource? _completion;

    // Set before the source is completed, by one thread at a time, under the lock of the write-behind queue.
    private volatile int _status = NotCompleted;

    public ChangeKind Kind { get; } = kind;

    /// <summary>The record of a write. Set before other threads can find the change, as <see cref="Expiration"/>.</summary>
    public byte[] Record { get; set; } = [];

    /// <summary>The expiration of a write.</summary>
    public LevelExpiration Expiration { get; set; }

    /// <summary>The lease of a write; null if it has none.</summary>
    public DistributedLease? Holder { get; init; }

    /// <summary>The new era.</summary>
    public ulong Number { get; init; }

    /// <summary>The new state of a tag.</summary>
    public TagState State { get; init; }

    /// <summary>The era that was known when a stamp was requested; 0 if none. The record has it if no era is known when it is written.</summary>
    public ulong Era { get; init; }

    /// <summary>The older change that this one replaced, while a caller may wait for it.</summary>
    public PendingChange? Replaced { get; set; }

    /// <summary>True if the change may overwrite changes of other machines; removals and messages cannot.</summary>
    public bool CanReplace => Kind is ChangeKind.Write or ChangeKind.Stamp or ChangeKind.Era;

    /// <summary>
    /// True if the change is or was tried again. Belongs to the write-behind queue, under its lock, as does <see cref="LateSince"/>.
    /// </summary>
    public bool IsLate => LateSince != NotLate;

    /// <summary>The last moment at which the change was found not made, or possibly undone.</summary>
    public long LateSince { get; private set; } = NotLate;

    public bool IsCompleted => _status != NotCompleted;

    /// <summary>The outcome of the change.</summary>
    public LevelStatus Status => (LevelStatus)_status;

    /// <summary>Waits for the end of the change.</summary>
    public Task WaitAsync(TimeSpan timeout, TimeProvider clock, CancellationToken cancellationToken)
    {
        TaskCompletionSource? completion = Volatile.Read(ref _completion);
        if (completion is null)
        {
            var source = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            completion = Interlocked.CompareExchange(ref _completion, source, null) ?? source;
        }

        // Checked after the source is visible: the thread that completes the change sets the status first and then looks for the source.
        return IsCompleted ? Task.CompletedTask : completion.Task.WaitAsync(timeout, clock, cancellationToken);
    }

    /// <summary>Records that the change will be tried again.</summary>
    public void OnLate(long now) => LateSince = now;

    public void Complete(LevelStatus status)
    {
        for (PendingChange? change = this; change is not null; change = change.Replaced)
        {
            if (!change.IsCompleted)
            {
                change._status = (int)status;

                // Full fence between the write of the status and the read of the source; pairs with the exchange in WaitAsync.
                Interlocked.MemoryBarrier();
                Volatile.Read(ref change._completion)?.TrySetResult();
            }
        }

        Replaced = null;
    }
}
