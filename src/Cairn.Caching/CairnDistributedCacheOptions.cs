namespace Cairn.Caching;

/// <summary>Where a <see cref="CairnDistributedCache"/> keeps its entries.</summary>
public sealed class CairnDistributedCacheOptions : CairnStoreFileOptions
{
    /// <summary>
    /// The collection of the store that holds the entries, 1 to 192 bytes in UTF-8. Default "distributed-cache". Caches with the same file and
    /// collection are one cache, in whatever process they are.
    /// </summary>
    public string CollectionName { get; set; } = "distributed-cache";

    /// <summary>
    /// Bytes that the entries may take before they are the first to be evicted, 0 for no budget; a soft limit, remembered in the file for all
    /// processes. Default null: as it is in the file, and none when that is created.
    /// </summary>
    public long? BudgetBytes { get; set; }
}
