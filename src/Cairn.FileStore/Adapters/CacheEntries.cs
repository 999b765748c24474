using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Primitives;

namespace Cairn.FileStore.Adapters;

/// <summary>All entries of a distributed cache that lists its keys (<see cref="ICacheKeys"/>), and the changes of them.</summary>
internal sealed class CacheEntries(IDistributedCache cache, ILogger? log = null)
{
    // Requests that wait for the server at the same time.
    private const int BatchSize = 128;

    private readonly ICacheKeys? _keys = cache as ICacheKeys;
    private KeyTokens? _tokens;

    private ICacheKeys Keys => _keys ?? throw new NotSupportedException(
        $"{cache.GetType()} cannot list its keys or report their changes, which GetAllKeyValues, ClearAll and Watch need: it does not implement {typeof(ICacheKeys)}. " +
        "CairnRedisCache of the package Cairn.Redis does, over Redis and Cairn's server. Otherwise use a cache file, or keep the keys you need under a key of their own.");

    public async Task<Dictionary<string, byte[]>> ReadAllAsync(CancellationToken token)
    {
        var all = new Dictionary<string, byte[]>(StringComparer.Ordinal);
        foreach (string[] batch in (await ListAsync(token).ConfigureAwait(false)).Chunk(BatchSize))
        {
            byte[]?[] values = await Task.WhenAll(batch.Select(key => cache.GetAsync(key, token))).ConfigureAwait(false);
            for (int i = 0; i < batch.Length; i++)
            {
                if (values[i] is { } value)
                {
                    all[batch[i]] = value;
                }
            }
        }

        return all;
    }

    public async Task ClearAsync(CancellationToken token)
    {
        foreach (string[] batch in (await ListAsync(token).ConfigureAwait(false)).Chunk(BatchSize))
        {
            await Task.WhenAll(batch.Select(key => cache.RemoveAsync(key, token))).ConfigureAwait(false);
        }

        Report(null);
    }

    public IChangeToken Watch(string? key) =>
        LazyInitializer.EnsureInitialized(ref _tokens, () => new KeyTokens(Keys, log)).Watch(key);

    /// <summary>Fires the tokens of a key that this object has changed; null for all. The cache reports the changes of others.</summary>
    public void Report(string? key) => Volatile.Read(ref _tokens)?.Fire(key);

    private async Task<HashSet<string>> ListAsync(CancellationToken token)
    {
        var keys = new HashSet<string>(StringComparer.Ordinal);
        await foreach (string key in Keys.ListKeysAsync(token).ConfigureAwait(false))
        {
            keys.Add(key);
        }

        return keys;
    }
}
