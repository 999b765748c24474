using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.FileStore;

/// <summary>A cache in a JSON file, shared by processes, whose values are strings, and objects kept as JSON.</summary>
/// <remarks>As <see cref="IDistributedFileStoreCacheString"/>, whose members see an object as its JSON text.</remarks>
public interface IDistributedFileStoreCacheClass : IDistributedFileStoreCacheString
{
    /// <summary>Makes an object of the JSON text of a value, as <see cref="IDistributedFileStoreCacheString.GetAllKeyValues"/> gives it.</summary>
    /// <typeparam name="T">The type that was stored.</typeparam>
    /// <param name="jsonString">The text.</param>
    /// <returns>The object; null for null.</returns>
    /// <exception cref="System.Text.Json.JsonException">The text is not of that type.</exception>
    T? GetClassFromString<T>(string? jsonString)
        where T : class, new();

    /// <summary>The object of a key.</summary>
    /// <typeparam name="T">The type that was stored.</typeparam>
    /// <param name="key">Any string.</param>
    /// <returns>The object, the caller's own unless <see cref="DistributedFileStoreCacheOptions.ShareObjects"/> is set; null if there is none, or it has expired.</returns>
    /// <exception cref="System.Text.Json.JsonException">The value is not of that type.</exception>
    T? GetClass<T>(string key)
        where T : class, new();

    /// <inheritdoc cref="GetClass{T}"/>
    /// <param name="key">Any string.</param>
    /// <param name="token">Checked before anything is done.</param>
    Task<T?> GetClassAsync<T>(string key, CancellationToken token = default)
        where T : class, new();

    /// <summary>Stores an object as JSON, in place of any earlier value and its expiration.</summary>
    /// <typeparam name="T">Its type.</typeparam>
    /// <param name="key">Any string.</param>
    /// <param name="yourClass">The object.</param>
    /// <param name="options">When it expires; null: never.</param>
    void SetClass<T>(string key, T yourClass, DistributedCacheEntryOptions? options = null)
        where T : class, new();

    /// <inheritdoc cref="SetClass{T}"/>
    /// <param name="key">Any string.</param>
    /// <param name="yourClass">The object.</param>
    /// <param name="options">When it expires; null: never.</param>
    /// <param name="token">Checked before anything is done.</param>
    Task SetClassAsync<T>(string key, T yourClass, DistributedCacheEntryOptions? options = null, CancellationToken token = default)
        where T : class, new();

    /// <summary>Stores several objects with one write: all of them or, if it fails, none.</summary>
    /// <typeparam name="T">Their type.</typeparam>
    /// <param name="manyEntries">Keys and objects; of a key that is there twice, the last counts.</param>
    /// <param name="options">When they expire; null: never.</param>
    void SetManyClass<T>(List<KeyValuePair<string, T>> manyEntries, DistributedCacheEntryOptions? options = null)
        where T : class, new();

    /// <inheritdoc cref="SetManyClass{T}"/>
    /// <param name="manyEntries">Keys and objects; of a key that is there twice, the last counts.</param>
    /// <param name="options">When they expire; null: never.</param>
    /// <param name="token">Checked before anything is done.</param>
    Task SetManyClassAsync<T>(List<KeyValuePair<string, T>> manyEntries, DistributedCacheEntryOptions? options = null, CancellationToken token = default)
        where T : class, new();
}
