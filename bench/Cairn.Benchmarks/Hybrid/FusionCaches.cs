using System.Text.Json;
using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Store;
using Microsoft.Extensions.Caching.Distributed;
using ZiggyCreatures.Caching.Fusion;
using ZiggyCreatures.Caching.Fusion.Serialization;

namespace Cairn.Benchmarks.Hybrid;

/// <summary>Creates caches of FusionCache, which are called through its own interface: its adapter to <c>HybridCache</c> takes longer.</summary>
internal static class FusionCaches
{
    public const string Name = "FusionCache 2.9.0";

    public static FusionCache Create(IDistributedCache? secondLevel = null, bool hasFailSafe = false)
    {
        var cache = new FusionCache(new FusionCacheOptions { DefaultEntryOptions = OptionsOf(hasFailSafe) });
        return secondLevel is null ? cache : (FusionCache)cache.SetupDistributedCache(secondLevel, new JsonFormat());
    }

    public static FusionCache Fill<T>(FusionCache cache, int entries, Func<int, T> valueOf, string[]? tags = null)
    {
        UsedCache.Fill(entries, number => cache.Set(CustomerRequests.KeyOfNumber(number), valueOf(number), options: null, tags));
        return cache;
    }

    private static FusionCacheEntryOptions OptionsOf(bool hasFailSafe)
    {
        var options = new FusionCacheEntryOptions { Duration = HybridCaches.TimeToLive };
        return !hasFailSafe ? options : options
            .SetFailSafe(isEnabled: true, HybridCaches.TimeToLive)
            .SetEagerRefresh(0.9f)
            .SetFactoryTimeouts(TimeSpan.FromMilliseconds(100));
    }

    // The same as FusionCache's package for System.Text.Json.
    private sealed class JsonFormat : IFusionCacheSerializer
    {
        public byte[] Serialize<T>(T? obj) => JsonSerializer.SerializeToUtf8Bytes(obj);

        public T? Deserialize<T>(byte[] data) => JsonSerializer.Deserialize<T>(data);

        public ValueTask<byte[]> SerializeAsync<T>(T? obj, CancellationToken token = default) => new(Serialize(obj));

        public ValueTask<T?> DeserializeAsync<T>(byte[] data, CancellationToken token = default) => new(Deserialize<T>(data));
    }
}

/// <summary><c>GetOrSetAsync</c> of FusionCache with a key that exists. A run of the factory counts as a miss.</summary>
/// <param name="cache">The filled cache.</param>
/// <param name="requests">The keys.</param>
/// <param name="tags">The tags that the call names; null for none.</param>
/// <param name="isInterpolated">Whether the call interpolates the key. FusionCache takes strings only.</param>
internal sealed class FusionHit<T>(FusionCache cache, CustomerRequests requests, string[]? tags = null, bool isInterpolated = false)
    : OperationContender(FusionCaches.Name, requests.Count, requests.Passes)
    where T : class
{
    protected override void Run(int first, int count)
    {
        Func<FusionCacheFactoryExecutionContext<T>, CancellationToken, Task<T>> factory = MakeAsync;
        for (var i = first; i < first + count; i++)
        {
            var key = isInterpolated ? $"customer:{requests.Id(i)}" : requests.Key(i);
            if (HybridCaches.Wait(cache.GetOrSetAsync(key, factory, default, options: null, tags)) is null)
            {
                Misses++;
            }
        }
    }

    private Task<T> MakeAsync(FusionCacheFactoryExecutionContext<T> context, CancellationToken cancellationToken)
    {
        Misses++;
        return Task.FromResult<T>(null!);
    }
}

/// <summary>Calls of FusionCache with keys that the first level does not have.</summary>
internal sealed class FusionKeyed(Func<FusionCache> renew, int operations, bool isMiss, bool hasFirstLevel = true)
    : KeyedContender(FusionCaches.Name, operations, isMiss)
{
    private static readonly FusionCacheEntryOptions NoFirstLevel =
        new(HybridCaches.TimeToLive) { SkipMemoryCacheRead = true, SkipMemoryCacheWrite = true };

    private FusionCache _cache = renew();

    protected override void Begin()
    {
        _cache.Dispose();
        _cache = renew();
    }

    protected override void Run(ReadOnlySpan<string> keys)
    {
        Func<FusionCacheFactoryExecutionContext<string>, CancellationToken, Task<string>> factory = MakeAsync;
        foreach (var key in keys)
        {
            HybridCaches.Wait(_cache.GetOrSetAsync(key, factory, default, hasFirstLevel ? null : NoFirstLevel));
        }
    }

    public override void Dispose()
    {
        _cache.Dispose();
        base.Dispose();
    }

    private Task<string> MakeAsync(FusionCacheFactoryExecutionContext<string> context, CancellationToken cancellationToken)
    {
        Runs++;
        return Task.FromResult(Value);
    }
}
