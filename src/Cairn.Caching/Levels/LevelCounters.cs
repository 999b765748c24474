namespace Cairn.Caching.Levels;

// Counts the failures of a second level. Each counter only grows.
internal sealed class LevelCounters
{
    private long _failures;
    private long _timeouts;
    private long _refused;
    private long _breaks;
    private long _damaged;
    private long _late;
    private long _retried;
    private long _degraded;
    private long _overflows;

    /// <summary>Calls that threw or returned an invalid result.</summary>
    public long Failures => Volatile.Read(ref _failures);

    /// <summary>Calls that were abandoned after their time-out.</summary>
    public long Timeouts => Volatile.Read(ref _timeouts);

    /// <summary>Calls that were not made because the circuit was open.</summary>
    public long Refused => Volatile.Read(ref _refused);

    /// <summary>How often a circuit was opened.</summary>
    public long Breaks => Volatile.Read(ref _breaks);

    /// <summary>Records that differ from what was written.</summary>
    public long Damaged => Volatile.Read(ref _damaged);

    /// <summary>Calls that ended after they had been abandoned.</summary>
    public long Late => Volatile.Read(ref _late);

    /// <summary>Changes that were pending and then made.</summary>
    public long Retried => Volatile.Read(ref _retried);

    /// <summary>Pending writes that became removals.</summary>
    public long Degraded => Volatile.Read(ref _degraded);

    /// <summary>How often too many keys had pending changes, so that a new era removed all entries instead.</summary>
    public long Overflows => Volatile.Read(ref _overflows);

    public void CountFailure() => Interlocked.Increment(ref _failures);

    public void CountTimeout() => Interlocked.Increment(ref _timeouts);

    public void CountRefused() => Interlocked.Increment(ref _refused);

    public void CountBreak() => Interlocked.Increment(ref _breaks);

    public void CountDamaged() => Interlocked.Increment(ref _damaged);

    public void CountLate() => Interlocked.Increment(ref _late);

    public void CountRetried() => Interlocked.Increment(ref _retried);

    public void CountDegraded() => Interlocked.Increment(ref _degraded);

    public void CountOverflow() => Interlocked.Increment(ref _overflows);
}
