using System.Collections.Concurrent;
using BitFaster.Caching;
using Cairn.Benchmarks.Measuring;
using Cairn.Caching;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Caching.Memory;

namespace Cairn.Benchmarks.Hybrid;

/// <summary>A lookup in a dictionary: the lower bound for every cache.</summary>
internal sealed class DictionaryHit(ConcurrentDictionary<string, string> dictionary, CustomerRequests requests)
    : OperationContender("ConcurrentDictionary", requests.Count, requests.Passes)
{
    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            if (!dictionary.TryGetValue(requests.Key(i), out _))
            {
                Misses++;
            }
        }
    }
}

/// <summary><c>IMemoryCache.TryGetValue</c> with an existing string.</summary>
internal sealed class MemoryCacheHit<T>(IMemoryCache cache, CustomerRequests requests)
    : OperationContender("IMemoryCache", requests.Count, requests.Passes)
    where T : class
{
    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            if (!cache.TryGetValue(requests.Key(i), out T? value) || value is null)
            {
                Misses++;
            }
        }
    }
}

/// <summary>A get of BitFaster's bounded cache, which neither expires entries nor shares runs of the factory.</summary>
internal sealed class LruHit(ICache<string, string> cache, CustomerRequests requests)
    : OperationContender(HybridCaches.BitFasters, requests.Count, requests.Passes)
{
    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            if (!cache.TryGet(requests.Key(i), out _))
            {
                Misses++;
            }
        }
    }
}

/// <summary>A get of the first level, without a factory.</summary>
internal sealed class HybridGet(CairnHybridCache cache, CustomerRequests requests)
    : OperationContender("Cairn", requests.Count, requests.Passes)
{
    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            if (!cache.TryGet<string>(requests.Key(i), out _))
            {
                Misses++;
            }
        }
    }
}

/// <summary><c>GetOrCreateAsync</c> through the abstract class, as for an injected cache. A run of the factory counts as a miss.</summary>
internal abstract class HybridHit<T> : OperationContender
    where T : class
{
    protected HybridHit(string name, HybridCache cache, int operations, int passes)
        : base(name, operations, passes)
    {
        Cache = cache;
        Factory = MakeAsync;
    }

    protected HybridCache Cache { get; }

    protected Func<CancellationToken, ValueTask<T>> Factory { get; }

    private ValueTask<T> MakeAsync(CancellationToken cancellationToken)
    {
        Misses++;
        return new ValueTask<T>((T)null!);
    }
}

/// <summary>A hit with an existing string as key.</summary>
internal sealed class HybridStringHit<T>(string name, HybridCache cache, CustomerRequests requests)
    : HybridHit<T>(name, cache, requests.Count, requests.Passes)
    where T : class
{
    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            if (HybridCaches.Wait(Cache.GetOrCreateAsync(requests.Key(i), Factory)) is null)
            {
                Misses++;
            }
        }
    }
}

/// <summary>A hit with an interpolated key, for which no string is created.</summary>
internal sealed class HybridInterpolatedHit<T>(string name, HybridCache cache, CustomerRequests requests)
    : HybridHit<T>(name, cache, requests.Count, requests.Passes)
    where T : class
{
    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            if (HybridCaches.Wait(Cache.GetOrCreateAsync($"customer:{requests.Id(i)}", Factory)) is null)
            {
                Misses++;
            }
        }
    }
}

/// <summary>A hit on an entry with two tags. The call names the tags too.</summary>
internal sealed class HybridTaggedHit<T>(string name, HybridCache cache, CustomerRequests requests)
    : HybridHit<T>(name, cache, requests.Count, requests.Passes)
    where T : class
{
    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            if (HybridCaches.Wait(Cache.GetOrCreateAsync(requests.Key(i), Factory, options: null, HybridCaches.Tags)) is null)
            {
                Misses++;
            }
        }
    }
}

/// <summary>Gets sixteen keys in one call; the cost is counted per key.</summary>
internal sealed class HybridGetMany<T>(string name, CairnHybridCache cache, CustomerRequests requests)
    : OperationContender(name, requests.Count / BatchKeys * BatchKeys, requests.Passes)
    where T : class
{
    private const int BatchKeys = 16;

    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i += BatchKeys)
        {
            foreach (var result in HybridCaches.Wait(cache.GetManyAsync<T>(requests.Keys(i, BatchKeys))))
            {
                if (!result.IsFound)
                {
                    Misses++;
                }
            }
        }
    }
}

/// <summary>A call that does not use the first level, neither for reading nor for writing.</summary>
internal sealed class SecondLevelHit(string name, HybridCache cache, CustomerRequests requests)
    : HybridHit<string>(name, cache, requests.Count, passes: 1)
{
    private static readonly HybridCacheEntryOptions NoFirstLevel = new() { Flags = HybridCacheEntryFlags.DisableLocalCache };

    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            if (HybridCaches.Wait(Cache.GetOrCreateAsync(requests.Key(i), Factory, NoFirstLevel)) is null)
            {
                Misses++;
            }
        }
    }
}
