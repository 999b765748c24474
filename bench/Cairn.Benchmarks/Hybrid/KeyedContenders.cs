using BitFaster.Caching.Lru;
using Cairn.Benchmarks.Measuring;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Caching.Memory;

namespace Cairn.Benchmarks.Hybrid;

// A round requests each of its keys once, and the first level has none of them: the factory creates the values of misses, and the second level
// has the others. The cache is new in each round or is emptied; a full one is filled with other keys then. A policy may keep one key in a thousand
// that it considers popular. The key strings can therefore be created once, and the caches cause all garbage collections during a round.
internal abstract class KeyedContender(string name, int operations, bool isMiss) : IContender
{
    private const int ChunkOperations = 1024;

    // The first requests initialise parts of a cache. They do not belong to the round.
    private const int FirstOperations = 1000;

    // Created in advance, because the cost of the value does not belong to the cache.
    protected static readonly string Value = CustomerValues.Text(0);

    private readonly string[] _keys = [.. Enumerable.Range(0, operations).Select(CustomerRequests.KeyOfNumber)];
    private readonly string[] _others = [.. Enumerable.Range(operations, FirstOperations).Select(CustomerRequests.KeyOfNumber)];

    public string Name { get; } = name;

    /// <summary>Gets or sets the number of runs of the factory in this round.</summary>
    protected int Runs { get; set; }

    public void WarmUp() => Measure(round: 0);

    public Sample Measure(int round)
    {
        Begin();
        Run(_others);
        Runs = 0;

        // Otherwise this contender would pay for moving the young objects that the contender before it left, which is always the same one.
        GC.Collect();
        var meter = Meter.Start();
        for (var first = 0; first < operations; first += ChunkOperations)
        {
            Run(_keys.AsSpan(first, Math.Min(ChunkOperations, operations - first)));
        }

        var sample = meter.Stop(operations);
        var unexpected = isMiss ? operations - Runs : Runs;
        return unexpected <= operations / 1000 ? sample : throw new InvalidDataException($"{Name}: the factory ran {Runs} times for {operations} keys.");
    }

    public virtual void Dispose() => GC.SuppressFinalize(this);

    /// <summary>Runs before each round, outside the measurement.</summary>
    protected virtual void Begin()
    {
    }

    protected abstract void Run(ReadOnlySpan<string> keys);
}

/// <summary><c>IMemoryCache.GetOrCreate</c>. The factory sets the entry's expiration, and its size if the cache has a size limit.</summary>
/// <param name="name">The name in tables.</param>
/// <param name="cache">The cache. It is emptied before each round and then filled up to the limit.</param>
/// <param name="operations">The number of misses in a round.</param>
/// <param name="limit">The maximum number of entries; <see langword="null"/> for no limit.</param>
internal sealed class MemoryCacheMiss(string name, MemoryCache cache, int operations, int? limit = null) : KeyedContender(name, operations, isMiss: true)
{
    private readonly string[] _others = [.. Enumerable.Range(operations * 2, limit ?? 0).Select(CustomerRequests.KeyOfNumber)];

    protected override void Begin()
    {
        cache.Clear();
        foreach (var key in _others)
        {
            cache.GetOrCreate(key, MakeSized);
        }
    }

    protected override void Run(ReadOnlySpan<string> keys)
    {
        Func<ICacheEntry, string> factory = limit is null ? Make : MakeSized;
        foreach (var key in keys)
        {
            ((IMemoryCache)cache).GetOrCreate(key, factory);
        }
    }

    private string Make(ICacheEntry entry)
    {
        Runs++;
        entry.AbsoluteExpirationRelativeToNow = HybridCaches.TimeToLive;
        return Value;
    }

    private string MakeSized(ICacheEntry entry)
    {
        entry.Size = 1;
        return Make(entry);
    }
}

/// <summary><c>GetOrAdd</c> of BitFaster's bounded cache. It neither expires entries nor shares runs of the factory.</summary>
internal sealed class LruMiss(int capacity, int operations) : KeyedContender(HybridCaches.BitFasters, operations, isMiss: true)
{
    private readonly string[] _others = [.. Enumerable.Range(operations * 2, capacity).Select(CustomerRequests.KeyOfNumber)];
    private readonly ConcurrentLru<string, string> _cache = new(capacity);

    // Cleared, because otherwise the queue of used entries would keep a part of the keys for the next round.
    protected override void Begin()
    {
        _cache.Clear();
        Run(_others);
    }

    protected override void Run(ReadOnlySpan<string> keys)
    {
        Func<string, string> factory = Make;
        foreach (var key in keys)
        {
            _cache.GetOrAdd(key, factory);
        }
    }

    private string Make(string key)
    {
        Runs++;
        return Value;
    }
}

/// <summary><c>GetOrCreateAsync</c> through the abstract class.</summary>
internal sealed class HybridKeyed : KeyedContender
{
    private readonly Func<CancellationToken, ValueTask<string>> _factory;
    private readonly HybridCacheEntryOptions? _options;
    private readonly RenewedCache? _renewed;
    private readonly string[] _filling = [];
    private HybridCache _cache;

    /// <summary>Calls of a cache that is the same in all rounds and is emptied before each.</summary>
    /// <param name="name">The name in tables.</param>
    /// <param name="cache">The cache, which the group owns.</param>
    /// <param name="operations">The number of keys in a round.</param>
    public HybridKeyed(string name, HybridCache cache, int operations)
        : base(name, operations, isMiss: true)
    {
        _cache = cache;
        _factory = MakeAsync;
    }

    /// <summary>Calls of a cache that is new in each round.</summary>
    /// <param name="renewed">The cache.</param>
    /// <param name="operations">The number of keys in a round.</param>
    /// <param name="isMiss">Whether the factory creates the values.</param>
    /// <param name="options">The options that each call passes.</param>
    /// <param name="filledWith">The number of other entries that are added before each round. An old cache would learn the order of the keys.</param>
    public HybridKeyed(RenewedCache renewed, int operations, bool isMiss, HybridCacheEntryOptions? options = null, int filledWith = 0)
        : base(renewed.Name, operations, isMiss)
    {
        _filling = [.. Enumerable.Range(operations * 2, filledWith).Select(CustomerRequests.KeyOfNumber)];
        _renewed = renewed;
        _cache = renewed.Renew();
        _factory = MakeAsync;
        _options = options;
    }

    protected override void Begin()
    {
        if (_renewed is null)
        {
            HybridCaches.Wait(_cache.RemoveByTagAsync("*"));
        }
        else
        {
            _cache = _renewed.Renew();
        }

        Run(_filling);
    }

    protected override void Run(ReadOnlySpan<string> keys)
    {
        foreach (var key in keys)
        {
            HybridCaches.Wait(_cache.GetOrCreateAsync(key, _factory, _options));
        }
    }

    public override void Dispose()
    {
        _renewed?.Dispose();
        base.Dispose();
    }

    private ValueTask<string> MakeAsync(CancellationToken cancellationToken)
    {
        Runs++;
        return new ValueTask<string>(Value);
    }
}
