namespace Cairn;

/// <summary>The statistics of a named collection.</summary>
/// <param name="Name">The collection's name.</param>
/// <param name="Entries">The number of entries. It includes expired entries that are not removed yet.</param>
/// <param name="Bytes">The size of those entries in bytes: keys, values, headers and padding.</param>
/// <param name="BudgetBytes">The budget in bytes, soft if entries are evicted and hard if they are kept; 0 for none.</param>
/// <param name="Region">Whether the entries are evicted or kept.</param>
public sealed record CollectionStatistics(string Name, long Entries, long Bytes, long BudgetBytes, StoreRegion Region);
