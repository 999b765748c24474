namespace Cairn.Caching.Levels;

// A lease among the caches of this process that share an IDistributedCache. It ends under the lock of its WriteBehindQueue.
internal class LocalLease(string key, ulong hash)
{
    private static readonly object s_ended = new();

    // Null while the lease is held without waiters; then the source that the waiters share; s_ended at the end.
    private object? _state;

    public string Key { get; } = key;

    /// <summary>The hash of the key, by which changes of the key find the lease.</summary>
    public ulong Hash { get; } = hash;

    /// <summary>The holder's write while it is not listed. Belongs to the write-behind queue, under its lock.</summary>
    public KeyState? Writing { get; set; }

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
