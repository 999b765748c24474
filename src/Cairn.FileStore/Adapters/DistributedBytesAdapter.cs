using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.FileStore.Adapters;

/// <summary>An adapter that provides the Bytes interface over any distributed cache. See <see cref="DistributedStringAdapter"/>.</summary>
internal sealed class DistributedBytesAdapter(IDistributedCache cache) : IDistributedFileStoreCacheBytes
{
    private readonly CacheEntries _entries = new(cache);

    public byte[]? Get(string key) => cache.Get(key);

    public Task<byte[]?> GetAsync(string key, CancellationToken token = default) => cache.GetAsync(key, token);

    public void Set(string key, byte[] value, DistributedCacheEntryOptions options) => cache.Set(key, value, options);

    public Task SetAsync(string key, byte[] value, DistributedCacheEntryOptions options, CancellationToken token = default) =>
        cache.SetAsync(key, value, options, token);

    public void Refresh(string key) => cache.Refresh(key);

    public Task RefreshAsync(string key, CancellationToken token = default) => cache.RefreshAsync(key, token);

    public void Remove(string key) => cache.Remove(key);

    public Task RemoveAsync(string key, CancellationToken token = default) => cache.RemoveAsync(key, token);

    public void ClearAll() => DistributedStringAdapter.Wait(_entries.ClearAsync(CancellationToken.None));

    public Dictionary<string, byte[]> GetAllKeyValues() => DistributedStringAdapter.Wait(_entries.ReadAllAsync(CancellationToken.None));

    public async Task<IReadOnlyDictionary<string, byte[]>> GetAllKeyValuesAsync() => await _entries.ReadAllAsync(CancellationToken.None).ConfigureAwait(false);
}
