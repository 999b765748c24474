using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Primitives;

namespace Cairn.FileStore;

/// <summary>A cache in a JSON file, shared by processes, whose values are strings.</summary>
/// <remarks>
/// <para>
/// Safe from any thread. Reads take no lock and no I/O; what another process has written is seen by the first read after its call
/// returned (on network file systems: within <see cref="DistributedFileStoreCacheOptions.ChangePollInterval"/>). Keys and values may be any
/// strings. <see cref="GetAllKeyValues"/> gives one consistent state.
/// </para>
/// <para>
/// Every member that changes something throws <see cref="FileStoreFormatException"/> while the file is not valid (reads then serve what was
/// there before), <see cref="DistributedFileStoreCacheException"/> when the file would become larger than
/// <see cref="DistributedFileStoreCacheOptions.MaxBytesInJsonCacheFile"/> or the writers' lock was not to be had,
/// <see cref="IOException"/> when it cannot be written, <see cref="UnauthorizedAccessException"/> when it may not. Nothing is changed then.
/// </para>
/// </remarks>
public interface IDistributedFileStoreCacheString
{
    /// <summary>The value of a key.</summary>
    /// <param name="key">Any string.</param>
    /// <returns>The value; null if there is none, or it has expired.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
    string? Get(string key);

    /// <inheritdoc cref="Get"/>
    /// <param name="key">Any string.</param>
    /// <param name="token">Checked before anything is done.</param>
    Task<string?> GetAsync(string key, CancellationToken token = default);

    /// <summary>The values of several keys, as of one moment.</summary>
    /// <param name="keys">The keys. One that is there twice counts once.</param>
    /// <returns>Those that have a value.</returns>
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

    /// <summary>Stores a value, in place of any earlier value and its expiration.</summary>
    /// <param name="key">Any string.</param>
    /// <param name="value">Any string.</param>
    /// <param name="options">When it expires; null: never.</param>
    /// <exception cref="ArgumentNullException"><paramref name="key"/> or <paramref name="value"/> is null.</exception>
    /// <exception cref="NotImplementedException">A sliding expiration, unless <see cref="DistributedFileStoreCacheOptions.AllowSlidingExpiration"/> is set.</exception>
    void Set(string key, string value, DistributedCacheEntryOptions? options = null);

    /// <inheritdoc cref="Set"/>
    /// <param name="key">Any string.</param>
    /// <param name="value">Any string.</param>
    /// <param name="options">When it expires; null: never.</param>
    /// <param name="token">Checked before anything is done.</param>
    Task SetAsync(string key, string value, DistributedCacheEntryOptions? options = null, CancellationToken token = default);

    /// <summary>Stores several values with one write: all of them or, if it fails, none.</summary>
    /// <param name="manyEntries">Keys and values; of a key that is there twice, the last counts.</param>
    /// <param name="options">When they expire; null: never.</param>
    void SetMany(List<KeyValuePair<string, string>> manyEntries, DistributedCacheEntryOptions? options = null);

    /// <inheritdoc cref="SetMany"/>
    /// <param name="manyEntries">Keys and values; of a key that is there twice, the last counts.</param>
    /// <param name="options">When they expire; null: never.</param>
    /// <param name="token">Checked before anything is done.</param>
    Task SetManyAsync(List<KeyValuePair<string, string>> manyEntries, DistributedCacheEntryOptions? options = null, CancellationToken token = default);

    /// <summary>Removes the value of a key, if there is one.</summary>
    /// <param name="key">Any string.</param>
    void Remove(string key);

    /// <inheritdoc cref="Remove"/>
    /// <param name="key">Any string.</param>
    /// <param name="token">Checked before anything is done.</param>
    Task RemoveAsync(string key, CancellationToken token = default);

    /// <summary>Removes everything and stores other entries in its place, in one step. Works also when the file is not valid.</summary>
    /// <param name="manyEntries">What is there afterwards; null: nothing.</param>
    /// <param name="entryOptions">When it expires; null: never.</param>
    void ClearAll(List<KeyValuePair<string, string>>? manyEntries = null, DistributedCacheEntryOptions? entryOptions = null);

    /// <summary>All keys and values, as of one moment. The same object until something changes.</summary>
    /// <returns>A dictionary that does not change.</returns>
    IReadOnlyDictionary<string, string> GetAllKeyValues();

    /// <inheritdoc cref="GetAllKeyValues"/>
    /// <param name="token">Checked before anything is done.</param>
    Task<IReadOnlyDictionary<string, string>> GetAllKeyValuesAsync(CancellationToken token = default);

    /// <summary>A token that fires once when the value of a key changes, whichever process changed it.</summary>
    /// <param name="key">The key, which need not have a value; null: any key.</param>
    /// <returns>
    /// The token. It fires within <see cref="DistributedFileStoreCacheOptions.ChangePollInterval"/> after a change by another process, at once after
    /// one by this process. An expiration alone does not fire it.
    /// </returns>
    /// <exception cref="NotSupportedException">This implementation does not tell of changes.</exception>
    IChangeToken Watch(string? key = null) => throw new NotSupportedException($"{GetType()} does not tell of changes.");
}
