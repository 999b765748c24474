namespace Cairn.Caching.Telemetry;

/// <summary>Lets one event of a kind through in an interval, and counts those that it holds back. Any thread.</summary>
internal sealed class LogGate(long intervalMs)
{
    private long _opensAt = long.MinValue;
    private long _held;

    /// <summary>True if the event is to be logged.</summary>
    /// <param name="nowMs">Milliseconds of a clock that never goes back; always the same clock.</param>
    /// <param name="others">If it is let through: those that were held back since the last one.</param>
    public bool TryPass(long nowMs, out long others)
    {
        others = 0;
        long opensAt = Interlocked.Read(ref _opensAt);

        // Of threads that come at once, one passes.
        if (nowMs < opensAt || Interlocked.CompareExchange(ref _opensAt, nowMs + intervalMs, opensAt) != opensAt)
        {
            Interlocked.Increment(ref _held);
            return false;
        }

        others = Interlocked.Exchange(ref _held, 0);
        return true;
    }
}
