using System.Collections.Concurrent;
using Cairn.Benchmarks.Store;
using Cairn.Caching;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Options;

namespace Cairn.Benchmarks.Hybrid;

/// <summary>The caches that are measured, and how they are filled.</summary>
internal static class HybridCaches
{
    // Nothing that is measured as a hit expires while it is measured. Peers' entries expire, too: an entry that does is what a cache is for.
    public static readonly TimeSpan TimeToLive = TimeSpan.FromHours(12);

    private const long StoreFileBytes = 64L << 20;

    public static string[] Tags { get; } = ["customers", "region:north"];

    /// <summary>A first level alone, with room for all entries unless a case wants less.</summary>
    public static CairnHybridCache CreateLocal(long maxEntries, CairnEntryOptions? defaults = null) =>
        CairnHybridCache.Create(OptionsFor(maxEntries, defaults));

    /// <summary>The same over a store file that other processes could change at any time, so that every hit asks for changes.</summary>
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

    /// <summary>The same over a store that is there already.</summary>
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

    /// <summary>Without a size limit, which is its fastest form.</summary>
    public static MemoryCache FillMemoryCache<TValue>(int entries, Func<int, TValue> valueOf)
    {
        var cache = new MemoryCache(Options.Create(new MemoryCacheOptions()));
        UsedCache.Fill(entries, number => cache.Set(CustomerRequests.KeyOfNumber(number), valueOf(number), TimeToLive));
        return cache;
    }

#pragma warning disable VSTHRD002 // A benchmark has a thread to wait with; what is measured has completed when it returns.
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
