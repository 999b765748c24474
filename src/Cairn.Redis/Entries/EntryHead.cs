namespace Cairn.Redis.Entries;

/// <summary>The expiration of an entry in the format of Microsoft's RedisCache. Times are in ticks of 100 ns; -1 means none.</summary>
/// <param name="IsFound">False if there is no value.</param>
/// <param name="AbsoluteTicks"><c>absexp</c>: the latest time of expiration, in UTC.</param>
/// <param name="SlidingTicks"><c>sldexp</c>: the lifetime after each use.</param>
internal readonly record struct EntryHead(bool IsFound, long AbsoluteTicks, long SlidingTicks)
{
    public bool Slides => SlidingTicks > 0;

    /// <summary>Returns the lifetime from now on, in milliseconds, if the entry is used now.</summary>
    public long LifeMs(DateTimeOffset now)
    {
        long ticks = SlidingTicks;
        if (AbsoluteTicks > 0)
        {
            ticks = Math.Min(ticks, Math.Max(0, AbsoluteTicks - now.UtcTicks));
        }

        return ticks / TimeSpan.TicksPerMillisecond;
    }
}
