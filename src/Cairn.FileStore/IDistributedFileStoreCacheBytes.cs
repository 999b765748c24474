using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.FileStore;

/// <summary>Microsoft's distributed cache in a JSON file, shared by processes, with what its interface lacks.</summary>
/// <remarks>Bytes come back as they were, whatever they are. Otherwise as <see cref="IDistributedFileStoreCacheString"/>.</remarks>
public interface IDistributedFileStoreCacheBytes : IDistributedCache
{
    /// <summary>Removes everything. Works also when the file is not valid.</summary>
    void ClearAll();

    /// <summary>All keys and values, as of one moment.</summary>
    /// <returns>A dictionary and arrays of the caller's own.</returns>
    Dictionary<string, byte[]> GetAllKeyValues();

    /// <inheritdoc cref="GetAllKeyValues"/>
    Task<IReadOnlyDictionary<string, byte[]>> GetAllKeyValuesAsync();
}
