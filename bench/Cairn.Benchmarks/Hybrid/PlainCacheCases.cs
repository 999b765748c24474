using System.Collections.Concurrent;
using Cairn.Benchmarks.Measuring;
using Cairn.Caching;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Benchmarks.Hybrid;

/// <summary>
/// What do misses and hits cost over a plain IDistributedCache in memory, compared with Microsoft's implementation of HybridCache? The cache
/// in memory is a dictionary, which costs both the same. Both caches are made by dependency injection, as applications do.
/// </summary>
internal static class PlainCacheCases
{
    private const double BytesGoal = 1.25;

    private static readonly Goal CpuGoal = Goal.AtMost(1.0);

    public static void Measure(AreaRun run, HybridScale scale) => run.Measure($"plain IDistributedCache, {scale.Size}", scale.Rounds, group =>
    {
        var operations = scale.Operations / 10;
        var requests = CustomerRequests.DrawLong(operations, operations, seed: 1);

        Ask("miss, plain IDistributedCache", isMicrosofts =>
        {
            var dictionary = new DictionaryCache();
            return new HybridMiss(NameOf(isMicrosofts), Create(isMicrosofts, dictionary), operations, isEmptied: true, begin: dictionary.Clear);
        });
        Ask("hit from a plain IDistributedCache, no first level", isMicrosofts => new SecondLevelHit(
            NameOf(isMicrosofts), HybridCaches.Fill(Create(isMicrosofts, new DictionaryCache()), operations, CustomerValues.Text), requests));

        void Ask(string question, Func<bool, IContender> make)
        {
            var ours = group.Enter(make(false));
            var theirs = group.Enter(make(true));
            group.Compare(question, ours, theirs, CpuGoal);
            group.Compare(question, ours, theirs, Goal.AtMost(BytesGoal), Quantity.AllocatedBytes);
        }

        HybridCache Create(bool isMicrosofts, IDistributedCache cache)
        {
            var services = new ServiceCollection().AddSingleton(cache);
            var defaults = new HybridCacheEntryOptions { Expiration = HybridCaches.TimeToLive };
            if (isMicrosofts)
            {
                services.AddHybridCache(options => options.DefaultEntryOptions = defaults);
            }
            else
            {
                services.AddCairnHybridCache(options =>
                {
                    options.DefaultEntryOptions = defaults;
                    options.LocalMaxEntries = operations * 2L;
                    options.LocalMaxBytes = 1L << 30;
                });
            }

            return group.Own(services.BuildServiceProvider()).GetRequiredService<HybridCache>();
        }
    });

    private static string NameOf(bool isMicrosofts) => isMicrosofts ? "Microsoft's HybridCache 10.11.0" : "Cairn";

    /// <summary>A dictionary as distributed cache: every call completes at once, and nothing expires.</summary>
    private sealed class DictionaryCache : IDistributedCache
    {
        private readonly ConcurrentDictionary<string, byte[]> _values = new(StringComparer.Ordinal);

        public void Clear() => _values.Clear();

        public byte[]? Get(string key) => _values.GetValueOrDefault(key);

        public Task<byte[]?> GetAsync(string key, CancellationToken token = default) => Task.FromResult(Get(key));

        public void Set(string key, byte[] value, DistributedCacheEntryOptions options) => _values[key] = value;

        public Task SetAsync(string key, byte[] value, DistributedCacheEntryOptions options, CancellationToken token = default)
        {
            Set(key, value, options);
            return Task.CompletedTask;
        }

        public void Refresh(string key)
        {
            // Nothing expires.
        }

        public Task RefreshAsync(string key, CancellationToken token = default) => Task.CompletedTask;

        public void Remove(string key) => _values.TryRemove(key, out _);

        public Task RemoveAsync(string key, CancellationToken token = default)
        {
            Remove(key);
            return Task.CompletedTask;
        }
    }
}
