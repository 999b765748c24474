namespace Cairn.Caching.Levels;

// A lease among the caches of this process that share an IDistributedCache. Ended under the lock of its ChangeLedger.
internal sealed class LocalLease(string key)
{
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public string Key { get; } = key;

    public bool IsHeld => !_ended.Task.IsCompleted;

    /// <summary>Waits until it is given back or lost.</summary>
    public Task WaitForEndAsync(TimeSpan timeout, TimeProvider clock, CancellationToken cancellationToken) =>
        _ended.Task.WaitAsync(timeout, clock, cancellationToken);

    /// <summary>Gives it back or takes it away.</summary>
    public void End() => _ended.TrySetResult();
}
