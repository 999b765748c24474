namespace Cairn.Caching.Levels;

// A lease among the caches of this process that share an IDistributedCache. It ends under the lock of its WriteBehindQueue.
internal class LocalLease(string key, ulong hash)
{
    private static readonly object s_ended = new();

    // Null while the lease is held without waiters; then the source that the waiters share; s_ended at the end.
    private object? _state;
    private KeyState? _writing;

    public string Key { get; } = key;

    /// <summary>The hash of the key, by which changes of the key find the lease.</summary>
    public ulong Hash { get; } = hash;

    /// <summary>The objects for the holder's next write, which nothing else uses. They return to the write-behind queue with the lease.</summary>
    public KeyState? SpareState { get; set; }

    /// <inheritdoc cref="SpareState"/>
    public PendingChange? SpareWrite { get; set; }

    /// <summary>Begins a write of the holder, which is not listed. The caller then reads <see cref="IsHeld"/>.</summary>
    // Full fence; pairs with the exchange in End, after which the thread that ends the lease looks for a write. So the holder sees the end, or the
    // other thread sees the write, or both.
    public void BeginWrite(KeyState state) => Interlocked.Exchange(ref _writing, state);

    /// <summary>Takes the write that is not listed, in order to end or to list it; null if another thread has taken it, or if there is none.</summary>
    public KeyState? TakeWrite() => Volatile.Read(ref _writing) is null ? null : Interlocked.Exchange(ref _writing, null);

    // Acquire; pairs with the exchange in End.
    public bool IsHeld => Volatile.Read(ref _state) != s_ended;

    /// <summary>Waits until the lease is released or lost.</summary>
    public Task WaitForEndAsync(TimeSpan timeout, TimeProvider clock, CancellationToken cancellationToken)
    {
        object? state = Volatile.Read(ref _state);
        if (state is null)
        {
            var source = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            state = Interlocked.CompareExchange(ref _state, source, null) ?? source;
        }

        return state is TaskCompletionSource waiting ? waiting.Task.WaitAsync(timeout, clock, cancellationToken) : Task.CompletedTask;
    }

    /// <summary>Ends the lease, released or lost, and completes the waiters.</summary>
    public void End() => (Interlocked.Exchange(ref _state, s_ended) as TaskCompletionSource)?.TrySetResult();
}
