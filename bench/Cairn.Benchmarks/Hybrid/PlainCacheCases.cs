using System.Collections.Concurrent;
using Cairn.Benchmarks.Measuring;
using Cairn.Caching;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Benchmarks.Hybrid;

/// <summary>
/// What do misses and hits cost over a plain IDistributedCache in memory, compared with Microsoft's implementation of HybridCache? The
/// distributed cache is a dictionary, which costs both the same. Dependency injection creates both caches, as in applications. Each round of
/// misses starts with new caches: Microsoft's first level keeps entries that were removed by tag, so it would not grow as Cairn's does.
/// </summary>
internal static class PlainCacheCases
{
    private const double BytesGoal = 1.25;

    private static readonly Goal CpuGoal = Goal.AtMost(1.0);

    public static void Measure(AreaRun run, HybridScale scale) => run.Measure($"plain IDistributedCache, {scale.Size}", scale.Rounds, group =>
    {
        var operations = scale.Operations / 10;
        var requests = CustomerRequests.DrawLong(operations, operations, seed: 1);

        Ask("miss, plain IDistributedCache", isMicrosofts => new HybridMiss(NameOf(isMicrosofts), Renewed(isMicrosofts).Renew, operations));
        Ask("hit from a plain IDistributedCache, no first level", isMicrosofts => new SecondLevelHit(
            NameOf(isMicrosofts), HybridCaches.Fill(Renewed(isMicrosofts).Renew(), operations, CustomerValues.Text), requests));

        void Ask(string question, Func<bool, IContender> make)
        {
            var ours = group.Enter(make(false));
            var theirs = group.Enter(make(true));
            group.Compare(question, ours, theirs, CpuGoal);
            group.Compare(question, ours, theirs, Goal.AtMost(BytesGoal), Quantity.AllocatedBytes);
        }

        RenewedCache Renewed(bool isMicrosofts) => group.Own(new RenewedCache(isMicrosofts, operations * 2L));
    });

    private static string NameOf(bool isMicrosofts) => isMicrosofts ? HybridCaches.Microsofts : "Cairn";

    /// <summary>A cache over a new dictionary of its own. Each renewal replaces both.</summary>
    private sealed class RenewedCache(bool isMicrosofts, long maxEntries) : IDisposable
    {
        private ServiceProvider? _services;

        public HybridCache Renew()
        {
            _services?.Dispose();
            _services = isMicrosofts ? HybridCaches.BuildMicrosofts(new DictionaryCache()) : BuildCairns();
            return _services.GetRequiredService<HybridCache>();
        }

        private ServiceProvider BuildCairns()
        {
            var services = new ServiceCollection().AddSingleton<IDistributedCache>(new DictionaryCache());
            services.AddCairnHybridCache(options =>
            {
                options.DefaultEntryOptions = new CairnEntryOptions { Expiration = HybridCaches.TimeToLive };
                options.LocalMaxEntries = maxEntries;
                options.LocalMaxBytes = 1L << 30;
            });
            return services.BuildServiceProvider();
        }

        public void Dispose() => _services?.Dispose();
    }

    /// <summary>A dictionary as distributed cache: every call completes synchronously, and entries do not expire.</summary>
    private sealed class DictionaryCache : IDistributedCache
    {
        private readonly ConcurrentDictionary<string, byte[]> _values = new(StringComparer.Ordinal);

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
            // Entries do not expire.
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
