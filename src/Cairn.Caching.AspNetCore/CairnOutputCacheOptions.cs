namespace Cairn.Caching.AspNetCore;

/// <summary>Options of a <see cref="CairnOutputCacheStore"/>.</summary>
public sealed class CairnOutputCacheOptions : CairnStoreFileOptions
{
    /// <summary>
    /// The name of the collection that holds the responses, 1 to 187 bytes in UTF-8. A second collection, whose name ends in "/tags", holds
    /// the state of the tags. Default "output-cache". Caches with the same file and collection share their responses, also across
    /// processes.
    /// </summary>
    public string CollectionName { get; set; } = "output-cache";

    /// <summary>
    /// The budget of the responses in bytes, a soft limit: above it, responses are evicted before other entries. 0 for no budget. The
    /// file stores the value for all processes. Default null, which keeps the budget in the file; a new file has none.
    /// </summary>
    public long? BudgetBytes { get; set; }
}
