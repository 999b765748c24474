using Cairn.FileStore.Classes;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.FileStore.Adapters;

/// <summary>
/// An adapter that provides the String and Class interfaces over any distributed cache, for an application that no longer runs on one machine.
/// </summary>
/// <remarks>
/// A distributed cache cannot list or clear its keys, so <see cref="GetAllKeyValues"/> and <see cref="ClearAll"/> are not supported.
/// </remarks>
internal sealed class DistributedStringAdapter(IDistributedCache cache, DistributedFileStoreCacheOptions options) : IDistributedFileStoreCacheClass
{
    private static readonly DistributedCacheEntryOptions Never = new();

    private readonly ClassJson _json = new(options.JsonSerializerForCacheFile);

    public string? Get(string key) => cache.Get(Checked(key)) is { } bytes ? DistributedText.ToText(bytes) : null;

    public async Task<string?> GetAsync(string key, CancellationToken token = default) =>
        await cache.GetAsync(Checked(key), token).ConfigureAwait(false) is { } bytes ? DistributedText.ToText(bytes) : null;

    public void Set(string key, string value, DistributedCacheEntryOptions? options = null) =>
        cache.Set(Checked(key), DistributedText.ToBytes(Checked(value)), options ?? Never);

    public Task SetAsync(string key, string value, DistributedCacheEntryOptions? options = null, CancellationToken token = default) =>
        cache.SetAsync(Checked(key), DistributedText.ToBytes(Checked(value)), options ?? Never, token);

    public void SetMany(List<KeyValuePair<string, string>> manyEntries, DistributedCacheEntryOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(manyEntries);
        foreach ((string key, string value) in manyEntries)
        {
            Set(key, value, options);
        }
    }

    public Task SetManyAsync(List<KeyValuePair<string, string>> manyEntries, DistributedCacheEntryOptions? options = null, CancellationToken token = default)
    {
        ArgumentNullException.ThrowIfNull(manyEntries);
        return Task.WhenAll(manyEntries.Select(entry => SetAsync(entry.Key, entry.Value, options, token)));
    }

    public void Remove(string key) => cache.Remove(Checked(key));

    public Task RemoveAsync(string key, CancellationToken token = default) => cache.RemoveAsync(Checked(key), token);

    public void ClearAll(List<KeyValuePair<string, string>>? manyEntries = null, DistributedCacheEntryOptions? entryOptions = null) =>
        throw Unsupported(nameof(ClearAll));

    public IReadOnlyDictionary<string, string> GetAllKeyValues() => throw Unsupported(nameof(GetAllKeyValues));

    public Task<IReadOnlyDictionary<string, string>> GetAllKeyValuesAsync(CancellationToken token = default) => throw Unsupported(nameof(GetAllKeyValuesAsync));

    public T? GetClassFromString<T>(string? jsonString)
        where T : class, new() => jsonString is null ? null : (T?)_json.Deserialize(jsonString, typeof(T));

    public T? GetClass<T>(string key)
        where T : class, new() => GetClassFromString<T>(Get(key));

    public async Task<T?> GetClassAsync<T>(string key, CancellationToken token = default)
        where T : class, new() => GetClassFromString<T>(await GetAsync(key, token).ConfigureAwait(false));

    public void SetClass<T>(string key, T yourClass, DistributedCacheEntryOptions? options = null)
        where T : class, new() => Set(key, _json.SerializeToText(Checked(yourClass), typeof(T)), options);

    public Task SetClassAsync<T>(string key, T yourClass, DistributedCacheEntryOptions? options = null, CancellationToken token = default)
        where T : class, new() => SetAsync(key, _json.SerializeToText(Checked(yourClass), typeof(T)), options, token);

    public void SetManyClass<T>(List<KeyValuePair<string, T>> manyEntries, DistributedCacheEntryOptions? options = null)
        where T : class, new() => SetMany(ToTexts(manyEntries), options);

    public Task SetManyClassAsync<T>(List<KeyValuePair<string, T>> manyEntries, DistributedCacheEntryOptions? options = null, CancellationToken token = default)
        where T : class, new() => SetManyAsync(ToTexts(manyEntries), options, token);

    internal static NotSupportedException Unsupported(string member) => new(
        $"{member} needs a list of all keys, which a distributed cache does not have. Keep the keys you need under a key of their own, or use a cache file.");

    private static T Checked<T>(T value)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(value);
        return value;
    }

    private List<KeyValuePair<string, string>> ToTexts<T>(List<KeyValuePair<string, T>> manyEntries)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(manyEntries);
        return [.. manyEntries.Select(entry => KeyValuePair.Create(entry.Key, _json.SerializeToText(Checked(entry.Value), typeof(T))))];
    }
}
