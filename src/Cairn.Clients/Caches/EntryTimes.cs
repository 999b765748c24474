using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Clients.Caches;

/// <summary>The expiration of an entry that is being written.</summary>
/// <param name="AbsoluteTicks">The latest time of expiration in ticks of UTC; -1 for none.</param>
/// <param name="SlidingTicks">The lifetime after each use in ticks; -1 for none.</param>
/// <param name="LifeMs">The time in milliseconds after which the server removes the entry unless it is used; null for never.</param>
internal sealed record EntryTimes(long AbsoluteTicks, long SlidingTicks, long? LifeMs)
{
    /// <summary>Returns the expiration fields of a new entry; null if it has expired already.</summary>
    public static EntryTimes? Of(DistributedCacheEntryOptions options, DateTimeOffset now)
    {
        long absoluteTicks = -1;
        if (options.AbsoluteExpiration is { } moment)
        {
            absoluteTicks = moment.UtcTicks;
        }

        if (options.AbsoluteExpirationRelativeToNow is { } time)
        {
            long end = time < DateTimeOffset.MaxValue - now ? (now + time).UtcTicks : DateTimeOffset.MaxValue.UtcTicks;
            absoluteTicks = absoluteTicks < 0 ? end : Math.Min(absoluteTicks, end);
        }

        long slidingTicks = options.SlidingExpiration?.Ticks ?? -1;
        if (absoluteTicks < 0 && slidingTicks < 0)
        {
            return new EntryTimes(-1, -1, null);
        }

        long lifeTicks = Math.Min(
            absoluteTicks < 0 ? long.MaxValue : absoluteTicks - now.UtcTicks,
            slidingTicks < 0 ? long.MaxValue : slidingTicks);
        return lifeTicks <= 0
            ? null
            : new EntryTimes(absoluteTicks, slidingTicks, (lifeTicks + TimeSpan.TicksPerMillisecond - 1) / TimeSpan.TicksPerMillisecond);
    }
}
