using Cairn.FileStore.Classes;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Primitives;

namespace Cairn.FileStore.Adapters;

/// <summary>
/// An adapter that provides the String and Class interfaces over any distributed cache, for an application that no longer runs on one machine.
/// </summary>
/// <remarks>
/// <see cref="GetAllKeyValues"/>, <see cref="ClearAll"/> and <see cref="Watch"/> need a cache that lists its keys (<see cref="ICacheKeys"/>).
/// </remarks>
internal sealed class DistributedStringAdapter(IDistributedCache cache, DistributedFileStoreCacheOptions options) : IDistributedFileStoreCacheClass
{
    private static readonly DistributedCacheEntryOptions Never = new();

    private readonly ClassJson _json = new(options.JsonSerializerForCacheFile);
    private readonly CacheEntries _entries = new(cache, options.Log);

    public string? Get(string key) => cache.Get(Checked(key)) is { } bytes ? DistributedText.ToText(bytes) : null;

    public async Task<string?> GetAsync(string key, CancellationToken token = default) =>
        await cache.GetAsync(Checked(key), token).ConfigureAwait(false) is { } bytes ? DistributedText.ToText(bytes) : null;

    public void Set(string key, string value, DistributedCacheEntryOptions? options = null)
    {
        cache.Set(Checked(key), DistributedText.ToBytes(Checked(value)), options ?? Never);
        _entries.Report(key);
    }

    public async Task SetAsync(string key, string value, DistributedCacheEntryOptions? options = null, CancellationToken token = default)
    {
        await cache.SetAsync(Checked(key), DistributedText.ToBytes(Checked(value)), options ?? Never, token).ConfigureAwait(false);
        _entries.Report(key);
    }

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

    public void Remove(string key)
    {
        cache.Remove(Checked(key));
        _entries.Report(key);
    }

    public async Task RemoveAsync(string key, CancellationToken token = default)
    {
        await cache.RemoveAsync(Checked(key), token).ConfigureAwait(false);
        _entries.Report(key);
    }

    // Entry by entry: another machine can see the cache in between.
    public void ClearAll(List<KeyValuePair<string, string>>? manyEntries = null, DistributedCacheEntryOptions? entryOptions = null)
    {
        Wait(_entries.ClearAsync(CancellationToken.None));
        if (manyEntries is not null)
        {
            Wait(SetManyAsync(manyEntries, entryOptions));
        }
    }

    public IReadOnlyDictionary<string, string> GetAllKeyValues() => Wait(GetAllKeyValuesAsync());

    public async Task<IReadOnlyDictionary<string, string>> GetAllKeyValuesAsync(CancellationToken token = default)
    {
        Dictionary<string, byte[]> all = await _entries.ReadAllAsync(token).ConfigureAwait(false);
        return all.ToDictionary(entry => entry.Key, entry => DistributedText.ToText(entry.Value), StringComparer.Ordinal);
    }

    public IChangeToken Watch(string? key = null) => _entries.Watch(key);

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

#pragma warning disable VSTHRD002 // A caller of a synchronous member expects to block. The awaits in between need no thread of the caller.
    internal static void Wait(Task task) => task.GetAwaiter().GetResult();

    internal static T Wait<T>(Task<T> task) => task.GetAwaiter().GetResult();
#pragma warning restore VSTHRD002

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
