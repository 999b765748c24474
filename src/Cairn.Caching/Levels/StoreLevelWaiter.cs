namespace Cairn.Caching.Levels;

/// <summary>A wait for the end of another caller's lease, without a thread. Completed by <see cref="StoreLevelWatcher"/>.</summary>
/// <param name="key">The key.</param>
/// <param name="replacesStale">Whether an existing value is to be replaced.</param>
/// <param name="partition">The partition of the key.</param>
/// <param name="deadline">The end of the wait in ticks of <see cref="System.Diagnostics.Stopwatch"/>; <see cref="long.MaxValue"/> for none.</param>
internal sealed class StoreLevelWaiter(string key, bool replacesStale, int partition, long deadline)
    : TaskCompletionSource<LeaseResult>(TaskCreationOptions.RunContinuationsAsynchronously)
{
    public string Key => key;

    public bool ReplacesStale => replacesStale;

    public int Partition => partition;

    public long Deadline => deadline;

    /// <summary>True until the watcher tries it for the first time. Used by the watcher only.</summary>
    public bool IsNew { get; set; } = true;

    /// <summary>Ends the wait. If the wait was cancelled, a lease that comes too late is released.</summary>
    public void Complete(LeaseResult result)
    {
        if (!TrySetResult(result with { HasWaited = true }) && result.Lease is StoreLevelLease late)
        {
            late.Release();
        }
    }
}
