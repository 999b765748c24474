namespace Cairn.Redis.Entries;

/// <summary>An entry without its value, as Microsoft's RedisCache writes it: times in ticks of 100 ns, -1 for none.</summary>
/// <param name="IsFound">False if there is no value.</param>
/// <param name="AbsoluteTicks"><c>absexp</c>: when it expires in any case, in UTC.</param>
/// <param name="SlidingTicks"><c>sldexp</c>: how long it lives after each use.</param>
internal readonly record struct EntryHead(bool IsFound, long AbsoluteTicks, long SlidingTicks)
{
    public bool Slides => SlidingTicks > 0;

    /// <summary>How long it is to live when it is used now, in milliseconds.</summary>
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
