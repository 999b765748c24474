using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.FileStore;

/// <summary>A cache in a JSON file that processes share. Its values are strings, and objects stored as JSON.</summary>
/// <remarks>It behaves like <see cref="IDistributedFileStoreCacheString"/>, whose members treat an object as its JSON text.</remarks>
public interface IDistributedFileStoreCacheClass : IDistributedFileStoreCacheString
{
    /// <summary>Deserializes the JSON text of a value, as <see cref="IDistributedFileStoreCacheString.GetAllKeyValues"/> returns it.</summary>
    /// <typeparam name="T">The type that was stored.</typeparam>
    /// <param name="jsonString">The text.</param>
    /// <returns>The object; null if the text is null.</returns>
    /// <exception cref="System.Text.Json.JsonException">The text does not represent that type.</exception>
    T? GetClassFromString<T>(string? jsonString)
        where T : class, new();

    /// <summary>Returns the object of a key.</summary>
    /// <typeparam name="T">The type that was stored.</typeparam>
    /// <param name="key">The key; any string.</param>
    /// <returns>
    /// The object; null if there is none, or if it has expired. It is a new object unless
    /// <see cref="DistributedFileStoreCacheOptions.ShareObjects"/> is set.
    /// </returns>
    /// <exception cref="System.Text.Json.JsonException">The value does not represent that type.</exception>
    T? GetClass<T>(string key)
        where T : class, new();

    /// <inheritdoc cref="GetClass{T}"/>
    /// <param name="key">The key; any string.</param>
    /// <param name="token">The cancellation token. It is checked once, before the operation starts.</param>
    Task<T?> GetClassAsync<T>(string key, CancellationToken token = default)
        where T : class, new();

    /// <summary>Stores an object as JSON. It replaces any earlier value and its expiration.</summary>
    /// <typeparam name="T">The object's type.</typeparam>
    /// <param name="key">The key; any string.</param>
    /// <param name="yourClass">The object.</param>
    /// <param name="options">The expiration; null for none.</param>
    void SetClass<T>(string key, T yourClass, DistributedCacheEntryOptions? options = null)
        where T : class, new();

    /// <inheritdoc cref="SetClass{T}"/>
    /// <param name="key">The key; any string.</param>
    /// <param name="yourClass">The object.</param>
    /// <param name="options">The expiration; null for none.</param>
    /// <param name="token">The cancellation token. It is checked once, before the operation starts.</param>
    Task SetClassAsync<T>(string key, T yourClass, DistributedCacheEntryOptions? options = null, CancellationToken token = default)
        where T : class, new();

    /// <summary>Stores several objects with one write. If it fails, none of them is stored.</summary>
    /// <typeparam name="T">The objects' type.</typeparam>
    /// <param name="manyEntries">The keys and objects. If a key occurs more than once, the last object is stored.</param>
    /// <param name="options">The expiration; null for none.</param>
    void SetManyClass<T>(List<KeyValuePair<string, T>> manyEntries, DistributedCacheEntryOptions? options = null)
        where T : class, new();

    /// <inheritdoc cref="SetManyClass{T}"/>
    /// <param name="manyEntries">The keys and objects. If a key occurs more than once, the last object is stored.</param>
    /// <param name="options">The expiration; null for none.</param>
    /// <param name="token">The cancellation token. It is checked once, before the operation starts.</param>
    Task SetManyClassAsync<T>(List<KeyValuePair<string, T>> manyEntries, DistributedCacheEntryOptions? options = null, CancellationToken token = default)
        where T : class, new();
}
