namespace Cairn.Server.Memcached;

/// <summary>Counts that the store keeps from its creation, and that memcached reports from its start or the last <c>stats
/// reset</c>.</summary>
/// <param name="Sets">The number of values written.</param>
/// <param name="Evictions">The number of entries evicted.</param>
/// <param name="EvictionsUnread">The number of evicted values that were never read.</param>
/// <param name="Reclaimed">The number of expired entries that were removed before a client requested them again.</param>
/// <param name="ExpirationsUnread">The number of these values that were never read.</param>
internal readonly record struct StoreCounts(long Sets, long Evictions, long EvictionsUnread, long Reclaimed, long ExpirationsUnread)
{
    public static StoreCounts Of(PartitionStatistics totals) => new(
        totals.Sets, totals.Evictions, totals.EvictionsUnread, totals.ExpirationsReclaimed, totals.ExpirationsUnread);

    public StoreCounts Minus(in StoreCounts other) => new(
        Sets - other.Sets, Evictions - other.Evictions, EvictionsUnread - other.EvictionsUnread, Reclaimed - other.Reclaimed,
        ExpirationsUnread - other.ExpirationsUnread);
}
