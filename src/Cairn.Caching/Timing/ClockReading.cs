namespace Cairn.Caching.Timing;

/// <summary>One moment on both clocks: the clock of the first level, and the time of day in Unix milliseconds.</summary>
internal readonly record struct ClockReading(long Now, long UnixNow)
{
    /// <summary>Converts a time of day to the cache's clock.</summary>
    public long FromUnixMs(long unixMs) => unixMs == long.MaxValue ? long.MaxValue : CacheClock.Later(Now, unixMs - UnixNow);

    /// <summary>Converts a moment of the cache's clock to the time of day.</summary>
    public long ToUnixMs(long moment) => moment == long.MaxValue ? long.MaxValue : CacheClock.Later(UnixNow, moment - Now);
}
