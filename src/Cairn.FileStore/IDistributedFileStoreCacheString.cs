using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Primitives;

namespace Cairn.FileStore;

/// <summary>A cache in a JSON file that processes share. Its values are strings.</summary>
/// <remarks>
/// <para>
/// Safe from any thread. Reads take no lock and perform no I/O. After a call that changes the file has returned, the next read in any process
/// sees the change; on network file systems, reads see it within <see cref="DistributedFileStoreCacheOptions.ChangePollInterval"/>. Keys and
/// values may be any strings. <see cref="GetAllKeyValues"/> returns one consistent state.
/// </para>
/// <para>
/// Every member that changes entries throws <see cref="FileStoreFormatException"/> while the file is malformed; reads then return the entries
/// of the last valid state. It throws <see cref="DistributedFileStoreCacheException"/> if the file would exceed
/// <see cref="DistributedFileStoreCacheOptions.MaxBytesInJsonCacheFile"/>, or if the writers' lock was not available in time. It throws
/// <see cref="IOException"/> if the file cannot be written, and <see cref="UnauthorizedAccessException"/> if access is denied. After any of
/// these exceptions, nothing has changed.
/// </para>
/// </remarks>
public interface IDistributedFileStoreCacheString
{
    /// <summary>Returns the value of a key.</summary>
    /// <param name="key">The key; any string.</param>
    /// <returns>The value; null if there is none, or it has expired.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
    string? Get(string key);

    /// <inheritdoc cref="Get"/>
    /// <param name="key">The key; any string.</param>
    /// <param name="token">The cancellation token. It is checked once, before the operation starts.</param>
    Task<string?> GetAsync(string key, CancellationToken token = default);

    /// <summary>Returns the values of several keys, at one point in time.</summary>
    /// <param name="keys">The keys; duplicates are ignored.</param>
    /// <returns>The keys that have a value, with their values.</returns>
    IReadOnlyDictionary<string, string> GetMany(IEnumerable<string> keys)
    {
        ArgumentNullException.ThrowIfNull(keys);
        var values = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (string key in keys)
        {
            if (Get(key) is { } value)
            {
                values[key] = value;
            }
        }

        return values;
    }

    /// <summary>Stores a value. It replaces any earlier value and its expiration.</summary>
    /// <param name="key">The key; any string.</param>
    /// <param name="value">The value; any string.</param>
    /// <param name="options">The expiration; null for none.</param>
    /// <exception cref="ArgumentNullException"><paramref name="key"/> or <paramref name="value"/> is null.</exception>
    /// <exception cref="NotImplementedException">
    /// The expiration is sliding, and <see cref="DistributedFileStoreCacheOptions.AllowSlidingExpiration"/> is not set.
    /// </exception>
    void Set(string key, string value, DistributedCacheEntryOptions? options = null);

    /// <inheritdoc cref="Set"/>
    /// <param name="key">The key; any string.</param>
    /// <param name="value">The value; any string.</param>
    /// <param name="options">The expiration; null for none.</param>
    /// <param name="token">The cancellation token. It is checked once, before the operation starts.</param>
    Task SetAsync(string key, string value, DistributedCacheEntryOptions? options = null, CancellationToken token = default);

    /// <summary>Stores several values with one write. If it fails, none of them is stored.</summary>
    /// <param name="manyEntries">The keys and values. If a key occurs more than once, the last value is stored.</param>
    /// <param name="options">The expiration; null for none.</param>
    void SetMany(List<KeyValuePair<string, string>> manyEntries, DistributedCacheEntryOptions? options = null);

    /// <inheritdoc cref="SetMany"/>
    /// <param name="manyEntries">The keys and values. If a key occurs more than once, the last value is stored.</param>
    /// <param name="options">The expiration; null for none.</param>
    /// <param name="token">The cancellation token. It is checked once, before the operation starts.</param>
    Task SetManyAsync(List<KeyValuePair<string, string>> manyEntries, DistributedCacheEntryOptions? options = null, CancellationToken token = default);

    /// <summary>Removes the value of a key, if there is one.</summary>
    /// <param name="key">The key; any string.</param>
    void Remove(string key);

    /// <inheritdoc cref="Remove"/>
    /// <param name="key">The key; any string.</param>
    /// <param name="token">The cancellation token. It is checked once, before the operation starts.</param>
    Task RemoveAsync(string key, CancellationToken token = default);

    /// <summary>Replaces all entries with the given ones in one step. Also works if the file is malformed.</summary>
    /// <param name="manyEntries">The new entries; null for none.</param>
    /// <param name="entryOptions">The expiration of the new entries; null for none.</param>
    void ClearAll(List<KeyValuePair<string, string>>? manyEntries = null, DistributedCacheEntryOptions? entryOptions = null);

    /// <summary>Returns all keys and values, at one point in time. Returns the same object until an entry changes.</summary>
    /// <returns>A dictionary that does not change.</returns>
    IReadOnlyDictionary<string, string> GetAllKeyValues();

    /// <inheritdoc cref="GetAllKeyValues"/>
    /// <param name="token">The cancellation token. It is checked once, before the operation starts.</param>
    Task<IReadOnlyDictionary<string, string>> GetAllKeyValuesAsync(CancellationToken token = default);

    /// <summary>Returns a token that fires once when any process changes the value of a key.</summary>
    /// <param name="key">The key, which need not have a value; null for any key.</param>
    /// <returns>
    /// The token. It fires immediately after a change by this process, and within
    /// <see cref="DistributedFileStoreCacheOptions.ChangePollInterval"/> after a change by another process. An expiration alone does not fire it.
    /// </returns>
    /// <exception cref="NotSupportedException">The implementation does not report changes.</exception>
    IChangeToken Watch(string? key = null) => throw new NotSupportedException($"{GetType()} does not tell of changes.");
}
