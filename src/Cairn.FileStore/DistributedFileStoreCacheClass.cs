using Cairn.FileStore.Classes;
using Cairn.FileStore.Engine;
using Cairn.FileStore.Entries;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.FileStore;

/// <summary>
/// A cache in a JSON file that processes share. Its values are strings, and objects stored as JSON. See
/// <see cref="IDistributedFileStoreCacheClass"/>.
/// </summary>
public class DistributedFileStoreCacheClass : DistributedFileStoreCacheString, IDistributedFileStoreCacheClass
{
    private readonly ClassJson _json;
    private readonly bool _isSharing;

    /// <inheritdoc cref="DistributedFileStoreCacheString(DistributedFileStoreCacheOptions)"/>
    public DistributedFileStoreCacheClass(DistributedFileStoreCacheOptions fileStoreCacheOptions)
        : base(fileStoreCacheOptions)
    {
        _json = new ClassJson(fileStoreCacheOptions.JsonSerializerForCacheFile);
        _isSharing = fileStoreCacheOptions.ShareObjects;
    }

    /// <inheritdoc/>
    public T? GetClassFromString<T>(string? jsonString)
        where T : class, new() => jsonString is null ? null : Deserialize<T>(jsonString);

    /// <inheritdoc/>
    public T? GetClass<T>(string key)
        where T : class, new()
    {
        ArgumentNullException.ThrowIfNull(key);
        object? value = Engine.Find(key);
        if (value is not JsonText json)
        {
            // A string can also be JSON, if an earlier version or an application stored it in that form.
            return value is null ? null : Deserialize<T>(EntryText.OfValue(value));
        }

        if (!_isSharing)
        {
            return (T?)_json.Deserialize(json.Utf8, typeof(T));
        }

        if (json.Shared is T shared)
        {
            return shared;
        }

        var made = (T?)_json.Deserialize(json.Utf8, typeof(T));
        json.Shared = made;
        return made;
    }

    /// <inheritdoc/>
    public Task<T?> GetClassAsync<T>(string key, CancellationToken token = default)
        where T : class, new()
    {
        token.ThrowIfCancellationRequested();
        return Task.FromResult(GetClass<T>(key));
    }

    /// <inheritdoc/>
    public void SetClass<T>(string key, T yourClass, DistributedCacheEntryOptions? options = null)
        where T : class, new() => Change([NewClass(key, yourClass, TimesOf(options))]);

    /// <inheritdoc/>
    public Task SetClassAsync<T>(string key, T yourClass, DistributedCacheEntryOptions? options = null, CancellationToken token = default)
        where T : class, new() => ChangeAsync([NewClass(key, yourClass, TimesOf(options))], isClearing: false, token);

    /// <inheritdoc/>
    public void SetManyClass<T>(List<KeyValuePair<string, T>> manyEntries, DistributedCacheEntryOptions? options = null)
        where T : class, new() => Change(NewClasses(manyEntries, TimesOf(options)));

    /// <inheritdoc/>
    public Task SetManyClassAsync<T>(
        List<KeyValuePair<string, T>> manyEntries, DistributedCacheEntryOptions? options = null, CancellationToken token = default)
        where T : class, new() => ChangeAsync(NewClasses(manyEntries, TimesOf(options)), isClearing: false, token);

    private T? Deserialize<T>(string text)
        where T : class => (T?)_json.Deserialize(text, typeof(T));

    private EntryChange NewClass<T>(string key, T yourClass, EntryDeadlines times)
        where T : class, new()
    {
        ArgumentNullException.ThrowIfNull(key);
        ArgumentNullException.ThrowIfNull(yourClass);
        return NewChange(key, new JsonText(_json.Serialize(yourClass, typeof(T))), times);
    }

    private EntryChange[] NewClasses<T>(List<KeyValuePair<string, T>> manyEntries, EntryDeadlines times)
        where T : class, new()
    {
        ArgumentNullException.ThrowIfNull(manyEntries);
        return [.. manyEntries.Select(entry => NewClass(entry.Key, entry.Value, times))];
    }
}
