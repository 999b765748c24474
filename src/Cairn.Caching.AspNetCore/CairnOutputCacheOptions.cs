namespace Cairn.Caching.AspNetCore;

/// <summary>Where a <see cref="CairnOutputCacheStore"/> keeps responses.</summary>
public sealed class CairnOutputCacheOptions : CairnStoreFileOptions
{
    /// <summary>
    /// The collection of the store that holds the responses, 1 to 187 bytes in UTF-8; the state of their tags is in a second one, whose name has
    /// "/tags" after it. Default "output-cache". Stores with the same file and collection are one, in whatever process they are.
    /// </summary>
    public string CollectionName { get; set; } = "output-cache";

    /// <summary>
    /// Bytes that the responses may take before they are the first to be evicted, 0 for no budget; a soft limit, remembered in the file for all
    /// processes. Default null: as it is in the file, and none when that is created.
    /// </summary>
    public long? BudgetBytes { get; set; }
}
