using System.Runtime.CompilerServices;

namespace Cairn.Caching.Timing;

/// <summary>Milliseconds that never go back, for the first level, and the time of day, for what is kept beyond the process.</summary>
internal sealed class CacheClock(TimeProvider provider)
{
    private readonly TimeProvider? _other = provider == TimeProvider.System ? null : provider;
    private long _last;

    public TimeProvider Provider { get; } = provider;

    public long UnixNowMs => Provider.GetUtcNow().ToUnixTimeMilliseconds();

    /// <summary>Milliseconds since some moment, a few at a time: hits do not pay for a finer clock.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public long NowMs() => _other is null ? Environment.TickCount64 : NowOfOther();

    public ClockReading Read() => new(NowMs(), UnixNowMs);

    public static long Later(long moment, long milliseconds) =>
        milliseconds > long.MaxValue - Math.Max(moment, 0) ? long.MaxValue : moment + milliseconds;

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
