namespace Cairn.Caching;

/// <summary>The location and the limits of a <see cref="CairnDistributedCache"/>.</summary>
public sealed class CairnDistributedCacheOptions : CairnStoreFileOptions
{
    /// <summary>
    /// The collection of the store that holds the entries, 1 to 192 bytes in UTF-8. Default "distributed-cache". Caches with the same file and
    /// collection are one cache, also across processes.
    /// </summary>
    public string CollectionName { get; set; } = "distributed-cache";

    /// <summary>
    /// The bytes that the entries may take before they are evicted first, or 0 for no budget. This is a soft limit, saved in the file for all
    /// processes. Default null: the limit in the file, which is none in a new file.
    /// </summary>
    public long? BudgetBytes { get; set; }
}
