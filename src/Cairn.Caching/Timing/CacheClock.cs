namespace Cairn.Caching.Timing;

/// <summary>Reads a millisecond clock that never goes back, for the first level, and the time of day, for stored entries.</summary>
internal sealed class CacheClock(TimeProvider provider)
{
    // How long a difference of the two clocks remains valid: the longest delay until a change of the time of day is noticed.
    private const long DifferenceMs = 100;

    private readonly TimeProvider? _other = provider == TimeProvider.System ? null : provider;
    private readonly Lock _gate = new();
    private long _last;
    private long _ahead;
    private long _difference;
    private long _differenceUntil;

    public TimeProvider Provider { get; } = provider;

    public long UnixNowMs => Provider.GetUtcNow().ToUnixTimeMilliseconds();

    /// <summary>Returns the milliseconds since a fixed moment, with a resolution of some milliseconds: a finer clock would slow down hits.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public long NowMs() => _other is null ? Environment.TickCount64 : NowOfOther();

    public ClockReading Read()
    {
        long now = NowMs();
        return new(now, _other is null ? now + DifferenceAt(now) : UnixNowMs);
    }

    public static long Later(long moment, long milliseconds) =>
        milliseconds > long.MaxValue - Math.Max(moment, 0) ? long.MaxValue : moment + milliseconds;

    // Returns how far the time of day is ahead. The two clocks run equally fast, but the time of day can be set and costs more to read, so it
    // is read only from time to time. Of two threads, each may use the other's difference; both are correct.
    private long DifferenceAt(long now)
    {
        if (now < Volatile.Read(ref _differenceUntil))
        {
            return Volatile.Read(ref _difference);
        }

        long difference = UnixNowMs - now;
        Volatile.Write(ref _difference, difference);

        // Release; pairs with the read above. The difference must be visible before its time of validity.
        Volatile.Write(ref _differenceUntil, now + DifferenceMs);
        return difference;
    }

    // The time of day may be set back. This clock must neither go back nor stand still until then, because values would not expire meanwhile. So it continues
    // from its last value. The time is read under the lock: otherwise, of two threads, the one that read earlier and came later would count as a step back.
    private long NowOfOther()
    {
        lock (_gate)
        {
            long now = UnixNowMs;
            _ahead += Math.Max(0, _last - now);
            _last = now;
            return now + _ahead;
        }
    }
}
