using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.FileStore;

/// <summary>A distributed cache in a JSON file that processes share. It adds operations that Microsoft's interface lacks.</summary>
/// <remarks>Values can be any bytes. In all other respects it behaves like <see cref="IDistributedFileStoreCacheString"/>.</remarks>
public interface IDistributedFileStoreCacheBytes : IDistributedCache
{
    /// <summary>Removes all entries. Also works if the file is malformed.</summary>
    void ClearAll();

    /// <summary>Returns all keys and values, at one point in time.</summary>
    /// <returns>A new dictionary with copies of the values.</returns>
    Dictionary<string, byte[]> GetAllKeyValues();

    /// <inheritdoc cref="GetAllKeyValues"/>
    Task<IReadOnlyDictionary<string, byte[]>> GetAllKeyValuesAsync();
}
