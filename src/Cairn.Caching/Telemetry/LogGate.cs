namespace Cairn.Caching.Telemetry;

/// <summary>Lets one event of a kind pass per interval, and counts the suppressed ones. Safe from any thread.</summary>
internal sealed class LogGate(long intervalMs)
{
    private long _opensAt = long.MinValue;
    private long _held;

    /// <summary>Returns whether the event is to be logged.</summary>
    /// <param name="nowMs">The milliseconds of a clock that never goes back; always the same clock.</param>
    /// <param name="others">The number of events that were suppressed since the last one that passed, if this one passes.</param>
    public bool TryPass(long nowMs, out long others)
    {
        others = 0;
        long opensAt = Interlocked.Read(ref _opensAt);

        // If several threads come at once, one passes.
        if (nowMs < opensAt || Interlocked.CompareExchange(ref _opensAt, nowMs + intervalMs, opensAt) != opensAt)
        {
            Interlocked.Increment(ref _held);
            return false;
        }

        others = Interlocked.Exchange(ref _held, 0);
        return true;
    }
}
