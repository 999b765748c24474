using System.Runtime.CompilerServices;

namespace Cairn.Caching.Timing;

/// <summary>Milliseconds that never go back, for the first level, and the time of day, for what is kept beyond the process.</summary>
internal sealed class CacheClock(TimeProvider provider)
{
    // How long a difference of the two clocks is good for: as late is noticed that the time of day was set.
    private const long DifferenceMs = 100;

    private readonly TimeProvider? _other = provider == TimeProvider.System ? null : provider;
    private long _last;
    private long _difference;
    private long _differenceUntil;

    public TimeProvider Provider { get; } = provider;

    public long UnixNowMs => Provider.GetUtcNow().ToUnixTimeMilliseconds();

    /// <summary>Milliseconds since some moment, a few at a time: hits do not pay for a finer clock.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public long NowMs() => _other is null ? Environment.TickCount64 : NowOfOther();

    public ClockReading Read()
    {
        long now = NowMs();
        return new(now, _other is null ? now + DifferenceAt(now) : UnixNowMs);
    }

    public static long Later(long moment, long milliseconds) =>
        milliseconds > long.MaxValue - Math.Max(moment, 0) ? long.MaxValue : moment + milliseconds;

    // How far the time of day is ahead. The two go equally fast, but the one can be set, and costs more to read: it is read now and then.
    // Two threads may each take the other's difference; both are right.
    private long DifferenceAt(long now)
    {
        if (now < Volatile.Read(ref _differenceUntil))
        {
            return Volatile.Read(ref _difference);
        }

        long difference = UnixNowMs - now;
        Volatile.Write(ref _difference, difference);

        // Release; pairs with the read above it. Before the difference is written nobody may take it for one.
        Volatile.Write(ref _differenceUntil, now + DifferenceMs);
        return difference;
    }

    // A time of day may be set back; what counts here must not be.
    private long NowOfOther()
    {
        long now = UnixNowMs;
        while (true)
        {
            long last = Volatile.Read(ref _last);
            if (now <= last)
            {
                return last;
            }

            if (Interlocked.CompareExchange(ref _last, now, last) == last)
            {
                return now;
            }
        }
    }
}
