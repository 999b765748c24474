namespace Cairn.Server.Memcached;

/// <summary>What a store counts from its creation, and memcached from its start or the last <c>stats reset</c>.</summary>
/// <param name="Sets">Values written.</param>
/// <param name="Evictions">Entries evicted.</param>
/// <param name="EvictionsUnread">Of those, values never read.</param>
/// <param name="Reclaimed">Expired entries that were removed before anybody asked for them again.</param>
/// <param name="ExpirationsUnread">Of those, values never read.</param>
internal readonly record struct StoreCounts(long Sets, long Evictions, long EvictionsUnread, long Reclaimed, long ExpirationsUnread)
{
    public static StoreCounts Of(StoreStatistics statistics) => new(
        statistics.Sets, statistics.Evictions, statistics.EvictionsUnread, statistics.ExpirationsReclaimed, statistics.ExpirationsUnread);

    public StoreCounts Minus(in StoreCounts other) => new(
        Sets - other.Sets, Evictions - other.Evictions, EvictionsUnread - other.EvictionsUnread, Reclaimed - other.Reclaimed,
        ExpirationsUnread - other.ExpirationsUnread);
}
