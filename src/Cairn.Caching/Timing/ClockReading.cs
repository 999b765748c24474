namespace Cairn.Caching.Timing;

/// <summary>One moment on both clocks: that of the first level, and the time of day in Unix milliseconds.</summary>
internal readonly record struct ClockReading(long Now, long UnixNow)
{
    /// <summary>The moment on the cache's clock at which that time of day comes.</summary>
    public long FromUnixMs(long unixMs) => unixMs == long.MaxValue ? long.MaxValue : CacheClock.Later(Now, unixMs - UnixNow);

    /// <summary>The time of day at which the cache's clock shows that moment.</summary>
    public long ToUnixMs(long moment) => moment == long.MaxValue ? long.MaxValue : CacheClock.Later(UnixNow, moment - Now);
}
