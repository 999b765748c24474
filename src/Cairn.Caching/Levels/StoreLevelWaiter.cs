namespace Cairn.Caching.Levels;

/// <summary>One who waits for another's lease to end, without a thread. Completed by <see cref="StoreLevelWatcher"/>.</summary>
/// <param name="key">The key.</param>
/// <param name="replacesStale">Whether a value that is there shall be replaced.</param>
/// <param name="partition">Its partition.</param>
/// <param name="deadline">When it waits no longer, in ticks of <see cref="System.Diagnostics.Stopwatch"/>; <see cref="long.MaxValue"/> for never.</param>
internal sealed class StoreLevelWaiter(string key, bool replacesStale, int partition, long deadline)
    : TaskCompletionSource<LeaseResult>(TaskCreationOptions.RunContinuationsAsynchronously)
{
    public string Key => key;

    public bool ReplacesStale => replacesStale;

    public int Partition => partition;

    public long Deadline => deadline;

    /// <summary>Not tried yet since it arrived. The watcher's own.</summary>
    public bool IsNew { get; set; } = true;

    /// <summary>Ends the wait. A lease that comes too late, because the wait was cancelled, is given back.</summary>
    public void Complete(LeaseResult result)
    {
        if (!TrySetResult(result with { HasWaited = true }) && result.Lease is StoreLevelLease late)
        {
            late.Release();
        }
    }
}
