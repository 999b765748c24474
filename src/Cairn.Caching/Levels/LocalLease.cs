namespace Cairn.Caching.Levels;

// A lease among the caches of this process that share an IDistributedCache. Ended under the lock of its ChangeLedger.
internal class LocalLease(string key)
{
    private static readonly object s_ended = new();

    // Null while it is held and nobody waits; then the source of those who wait; s_ended at the end.
    private object? _state;

    public string Key { get; } = key;

    // Acquire; pairs with the exchange in End.
    public bool IsHeld => Volatile.Read(ref _state) != s_ended;

    /// <summary>Waits until it is given back or lost.</summary>
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

    /// <summary>Gives it back or takes it away.</summary>
    public void End() => (Interlocked.Exchange(ref _state, s_ended) as TaskCompletionSource)?.TrySetResult();
}
