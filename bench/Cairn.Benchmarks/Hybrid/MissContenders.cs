using Cairn.Benchmarks.Measuring;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Caching.Memory;

namespace Cairn.Benchmarks.Hybrid;

// Every operation is of a key that is not there, whose value is made at once by a factory and cached. A round asks for each of its
// keys once, and there are many times as many as fit: when a key comes again in the next round, its entry has long been driven out, or
// the cache was emptied. A policy may hold on to one in a thousand that it took for popular. So the strings can be made once, and collections during a round are the caches' doing.
internal abstract class MissContender(string name, int operations) : IContender
{
    private const int ChunkOperations = 1024;

    // Made in advance: what the value costs is not the cache's doing.
    protected static readonly string Value = CustomerValues.Text(0);

    private readonly string[] _keys = [.. Enumerable.Range(0, operations).Select(CustomerRequests.KeyOfNumber)];

    public string Name { get; } = name;

    /// <summary>How often the factory has run in this round.</summary>
    protected int Runs { get; set; }

    public void WarmUp() => Measure(round: 0);

    public Sample Measure(int round)
    {
        Runs = 0;
        Begin();

        // What the contender before this one left young would be moved on this one's account, and it is always the same one.
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
        // What it uses is its group's.
    }

    /// <summary>Before a round, not measured.</summary>
    protected virtual void Begin()
    {
    }

    protected abstract void Run(ReadOnlySpan<string> keys);
}

/// <summary><c>IMemoryCache.GetOrCreate</c> whose factory gives the entry its time to live, and its size if the cache counts sizes.</summary>
/// <param name="name">What tables call it.</param>
/// <param name="cache">Emptied before each round, and then filled up to the limit.</param>
/// <param name="operations">Misses in a round.</param>
/// <param name="limit">The most entries; null for no bound.</param>
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

/// <summary><c>GetOrCreateAsync</c> through the abstract class. The time to live is the cache's default, or is given with each call.</summary>
internal sealed class HybridMiss : MissContender
{
    private static readonly HybridCacheEntryOptions CallOptions = new() { Expiration = TimeSpan.FromHours(6) };

    private readonly HybridCache _cache;
    private readonly Func<CancellationToken, ValueTask<string>> _factory;
    private readonly HybridCacheEntryOptions? _options;
    private readonly bool _isEmptied;
    private readonly Action? _begin;

    public HybridMiss(string name, HybridCache cache, int operations, bool isEmptied = false, bool hasOptions = false, Action? begin = null)
        : base(name, operations)
    {
        _cache = cache;
        _factory = MakeAsync;
        _options = hasOptions ? CallOptions : null;
        _isEmptied = isEmptied;
        _begin = begin;
    }

    protected override void Begin()
    {
        if (_isEmptied)
        {
            HybridCaches.Wait(_cache.RemoveByTagAsync("*"));
        }

        _begin?.Invoke();
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
