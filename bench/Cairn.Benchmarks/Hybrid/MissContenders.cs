using Cairn.Benchmarks.Measuring;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Caching.Memory;

namespace Cairn.Benchmarks.Hybrid;

// Every operation is for a missing key, whose value an instant factory creates and the cache keeps. A round requests each of its keys once,
// and there are many times more keys than fit. When a key is requested again in the next round, its entry was evicted long ago, or the cache
// was emptied. A policy may keep one key in a thousand that it considers popular. The key strings can therefore be created once, and the
// caches cause all garbage collections during a round.
internal abstract class MissContender(string name, int operations) : IContender
{
    private const int ChunkOperations = 1024;

    // Created in advance, because the cost of the value does not belong to the cache.
    protected static readonly string Value = CustomerValues.Text(0);

    private readonly string[] _keys = [.. Enumerable.Range(0, operations).Select(CustomerRequests.KeyOfNumber)];

    public string Name { get; } = name;

    /// <summary>Gets or sets the number of runs of the factory in this round.</summary>
    protected int Runs { get; set; }

    public void WarmUp() => Measure(round: 0);

    public Sample Measure(int round)
    {
        Runs = 0;
        Begin();

        // Otherwise this contender would pay for moving the young objects that the contender before it left, which is always the same one.
        GC.Collect();
        var meter = Meter.Start();
        for (var first = 0; first < operations; first += ChunkOperations)
        {
            Run(_keys.AsSpan(first, Math.Min(ChunkOperations, operations - first)));
        }

        var sample = meter.Stop(operations);
        return Runs >= operations - (operations / 1000) ? sample : throw new InvalidDataException($"{Name}: the factory ran {Runs} times for {operations} keys that should not have been there.");
    }

    public void Dispose()
    {
        // The group owns the resources.
    }

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
internal sealed class MemoryCacheMiss(string name, MemoryCache cache, int operations, int? limit = null) : MissContender(name, operations)
{
    private readonly string[] _others = [.. Enumerable.Range(operations, limit ?? 0).Select(CustomerRequests.KeyOfNumber)];

    protected override void Begin()
    {
        cache.Clear();
        foreach (var key in _others)
        {
            cache.GetOrCreate(key, MakeSized);
        }

        Runs = 0;
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

/// <summary><c>GetOrCreateAsync</c> through the abstract class. The expiration is the cache's default or is passed with each call.</summary>
internal sealed class HybridMiss : MissContender
{
    private static readonly HybridCacheEntryOptions CallOptions = new() { Expiration = TimeSpan.FromHours(6) };

    // The first misses initialise what the cache learns about a new second level. They run before the round.
    private const int FirstMisses = 1000;

    private readonly Func<CancellationToken, ValueTask<string>> _factory;
    private readonly HybridCacheEntryOptions? _options;
    private readonly bool _isEmptied;
    private readonly Func<HybridCache>? _renew;
    private readonly string[] _others = [];
    private HybridCache _cache;

    public HybridMiss(string name, HybridCache cache, int operations, bool isEmptied = false, bool hasOptions = false)
        : base(name, operations)
    {
        _cache = cache;
        _factory = MakeAsync;
        _options = hasOptions ? CallOptions : null;
        _isEmptied = isEmptied;
    }

    /// <summary>Misses in a cache that is new in each round, for caches that keep removed entries in memory.</summary>
    public HybridMiss(string name, Func<HybridCache> renew, int operations)
        : this(name, renew(), operations)
    {
        _renew = renew;
        _others = [.. Enumerable.Range(operations, FirstMisses).Select(CustomerRequests.KeyOfNumber)];
    }

    protected override void Begin()
    {
        if (_isEmptied)
        {
            HybridCaches.Wait(_cache.RemoveByTagAsync("*"));
        }

        if (_renew is not null)
        {
            _cache = _renew();
            Run(_others);
            Runs = 0;
        }
    }

    protected override void Run(ReadOnlySpan<string> keys)
    {
        foreach (var key in keys)
        {
            HybridCaches.Wait(_cache.GetOrCreateAsync(key, _factory, _options));
        }
    }

    private ValueTask<string> MakeAsync(CancellationToken cancellationToken)
    {
        Runs++;
        return new ValueTask<string>(Value);
    }
}
