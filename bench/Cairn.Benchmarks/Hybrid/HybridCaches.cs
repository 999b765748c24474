using System.Collections.Concurrent;
using BitFaster.Caching.Lru;
using Cairn.Benchmarks.Store;
using Cairn.Caching;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Cairn.Benchmarks.Hybrid;

/// <summary>Creates and fills the caches that are measured.</summary>
internal static class HybridCaches
{
    // Longer than a run, so that no measured hit expires. The peers' entries also have an expiration, because a cache needs one.
    public static readonly TimeSpan TimeToLive = TimeSpan.FromHours(12);

    private const long StoreFileBytes = 64L << 20;

    public static string[] Tags { get; } = ["customers", "region:north"];

    /// <summary>The name of <see cref="BuildMicrosofts"/> in tables.</summary>
    public const string Microsofts = "Microsoft's HybridCache 10.11.0";

    public const string BitFasters = "BitFaster's ConcurrentLru 2.6.1";

    /// <summary>Creates Microsoft's implementation by dependency injection, which is the only way to create it.</summary>
    /// <param name="secondLevel">The second level; <see langword="null"/> for a first level alone.</param>
    public static ServiceProvider BuildMicrosofts(IDistributedCache? secondLevel = null)
    {
        var services = new ServiceCollection();
        if (secondLevel is not null)
        {
            services.AddSingleton(secondLevel);
        }

        services.AddHybridCache(options => options.DefaultEntryOptions = new HybridCacheEntryOptions { Expiration = TimeToLive });
        return services.BuildServiceProvider();
    }

    /// <summary>Creates a first level alone, with room for all entries unless a case needs less.</summary>
    public static CairnHybridCache CreateLocal(long maxEntries, CairnEntryOptions? defaults = null) =>
        CairnHybridCache.Create(OptionsFor(maxEntries, defaults));

    /// <summary>Creates a cache over a store file that other processes could change at any time: every hit checks for changes.</summary>
    public static CairnHybridCache CreateOverStore(string folder, string name, long maxEntries, CairnEntryOptions? defaults = null)
    {
        var options = OptionsFor(maxEntries, defaults);
        options.UseStoreFile(Path.Combine(folder, name + ".cairn"), file =>
        {
            file.CapacityBytes = StoreFileBytes;
            file.FlushOnClose = false;
        });
        return CairnHybridCache.Create(options);
    }

    /// <summary>Creates a cache over an open store.</summary>
    public static CairnHybridCache CreateOver(CairnStore store, long maxEntries)
    {
        var options = OptionsFor(maxEntries, defaults: null);
        options.StoreFile = new CairnStoreFileOptions { Store = store };
        return CairnHybridCache.Create(options);
    }

    public static CairnEntryOptions WithFailSafeAndEagerRefresh { get; } = new()
    {
        Expiration = TimeToLive,
        FailSafe = TimeToLive,
        EagerRefreshThreshold = 0.9,
        FactorySoftTimeout = TimeSpan.FromMilliseconds(100),
    };

    public static T Fill<T, TValue>(T cache, int entries, Func<int, TValue> valueOf, string[]? tags = null)
        where T : HybridCache
    {
        UsedCache.Fill(entries, number =>
            Wait(cache.SetAsync(CustomerRequests.KeyOfNumber(number), valueOf(number), options: null, tags)));
        return cache;
    }

    public static ConcurrentDictionary<string, string> FillDictionary(int entries)
    {
        var dictionary = new ConcurrentDictionary<string, string>(Environment.ProcessorCount, entries);
        UsedCache.Fill(entries, number => dictionary[CustomerRequests.KeyOfNumber(number)] = CustomerValues.Text(number));
        return dictionary;
    }

    /// <summary>Creates and fills a bounded cache with room for all entries.</summary>
    public static ConcurrentLru<string, string> FillLru(int entries)
    {
        var cache = new ConcurrentLru<string, string>(entries * 2);
        UsedCache.Fill(entries, number => cache.AddOrUpdate(CustomerRequests.KeyOfNumber(number), CustomerValues.Text(number)));
        return cache;
    }

    /// <summary>Creates and fills a memory cache without a size limit, which is its fastest form.</summary>
    public static MemoryCache FillMemoryCache<TValue>(int entries, Func<int, TValue> valueOf)
    {
        var cache = new MemoryCache(Options.Create(new MemoryCacheOptions()));
        UsedCache.Fill(entries, number => cache.Set(CustomerRequests.KeyOfNumber(number), valueOf(number), TimeToLive));
        return cache;
    }

#pragma warning disable VSTHRD002 // A benchmark has a thread that may block; the measured call has completed when it returns.
    public static void Wait(ValueTask task)
    {
        if (!task.IsCompletedSuccessfully)
        {
            task.AsTask().GetAwaiter().GetResult();
        }
    }

    public static T Wait<T>(ValueTask<T> task) => task.IsCompletedSuccessfully ? task.Result : task.AsTask().GetAwaiter().GetResult();
#pragma warning restore VSTHRD002

    private static CairnHybridCacheOptions OptionsFor(long maxEntries, CairnEntryOptions? defaults) => new()
    {
        LocalMaxEntries = maxEntries,
        LocalMaxBytes = 1L << 30,
        DefaultEntryOptions = defaults ?? new CairnEntryOptions { Expiration = TimeToLive },
    };
}
