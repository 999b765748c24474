using Cairn.FileStore.Entries;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.FileStore.Engine;

/// <summary>The expiration of an entry, from the options of a call.</summary>
internal readonly record struct EntryDeadlines(long ExpiresTicks, SlidingTimes? Sliding = null)
{
    // The text of Net.DistributedFileStoreCache, whose users compare it. AllowSlidingExpiration and the documents of it name the remedy.
    public const string NoSliding = "This library doesn't support sliding expirations for performance reasons.";

    public static EntryDeadlines Never => new(Entry.Never);

    public static EntryDeadlines From(DistributedCacheEntryOptions? options, bool isSlidingAllowed, TimeProvider clock)
    {
        if (options is null || (options.AbsoluteExpiration is null && options.AbsoluteExpirationRelativeToNow is null && options.SlidingExpiration is null))
        {
            return Never;
        }

        if (options.SlidingExpiration is not null && !isSlidingAllowed)
        {
            throw new NotImplementedException(NoSliding);
        }

        long now = clock.GetUtcNow().UtcTicks;
        long latest = options switch
        {
            { AbsoluteExpiration: { } moment } => moment.UtcTicks,
            { AbsoluteExpirationRelativeToNow: { } span } => After(now, span.Ticks),
            _ => Entry.Never,
        };
        return options.SlidingExpiration is { } sliding
            ? new EntryDeadlines(Math.Min(After(now, sliding.Ticks), latest), new SlidingTimes(sliding.Ticks, latest))
            : new EntryDeadlines(latest);
    }

    public Entry ToEntry(string key, object value) => new(key, value) { ExpiresTicks = ExpiresTicks, Sliding = Sliding };

    // A time beyond the calendar means no expiration.
    private static long After(long now, long ticks) => ticks > DateTime.MaxValue.Ticks - now ? Entry.Never : now + ticks;
}
