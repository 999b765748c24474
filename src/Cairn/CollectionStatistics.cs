namespace Cairn;

/// <summary>What a named collection holds.</summary>
/// <param name="Name">The collection's name.</param>
/// <param name="Entries">Its entries, those that have expired but are still there included.</param>
/// <param name="Bytes">Bytes of those entries: keys, values, headers and padding.</param>
/// <param name="BudgetBytes">Its limit, soft where entries are evicted and hard where they are kept; 0 for none.</param>
/// <param name="Region">Whether its entries are kept.</param>
public sealed record CollectionStatistics(string Name, long Entries, long Bytes, long BudgetBytes, StoreRegion Region);
