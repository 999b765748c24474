using Cairn.Caching.Local;
using Cairn.Caching.Telemetry;

namespace Cairn.Caching;

// What the cache tells of itself, and its end.
public sealed partial class CairnHybridCache
{
    /// <summary>The cache's name in its second level.</summary>
    public string Name => _options.Name;

    /// <summary>How the second level is doing.</summary>
    internal Levels.LevelHealth LevelHealth => _level.Health;

    /// <summary>Whether there is a second level.</summary>
    internal bool HasSecondLevel => _hasLevel;

    /// <summary>What the cache did since it was made, and what its first level holds now.</summary>
    /// <returns>The counts at about this moment.</returns>
    public CairnCacheStatistics GetStatistics()
    {
        LocalCacheStatistics local = _local.GetStatistics();
        return new CairnCacheStatistics
        {
            LocalHits = _counters.Sum(CacheCount.LocalHit),
            SharedHits = _counters.Sum(CacheCount.SharedHit),
            Misses = _counters.Sum(CacheCount.Miss),
            StaleServed = _counters.Sum(CacheCount.StaleServed),
            FactoryRuns = _counters.Sum(CacheCount.FactoryRun),
            FactoryFaults = _counters.Sum(CacheCount.FactoryFault),
            FactoryTimeouts = _counters.Sum(CacheCount.FactoryTimeout),
            Refreshes = _counters.Sum(CacheCount.Refresh),
            Joined = _counters.Sum(CacheCount.Joined),
            NotKept = _counters.Sum(CacheCount.NotKept),
            TooLargeForShared = _counters.Sum(CacheCount.SharedTooLarge),
            Unreadable = _counters.Sum(CacheCount.SharedUnreadable),
            SerializationFaults = _counters.Sum(CacheCount.SerializationFault),
            Sets = _counters.Sum(CacheCount.Set),
            Removals = _counters.Sum(CacheCount.Removed),
            TagRemovals = _counters.Sum(CacheCount.TagRemoved),
            LocalEntries = local.Entries,
            LocalBytes = local.Bytes,
            LocalEvictions = local.Evictions,
        };
    }

    /// <summary>Closes the cache and its connection to the second level. Values that were handed out stay valid.</summary>
    /// <remarks>
    /// Hits may be served until all threads have noticed; what would need the second level or a factory throws
    /// <see cref="ObjectDisposedException"/>. Factories that run go on for those who wait for them.
    /// </remarks>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) != 0)
        {
            return;
        }

        _dependencies.Dispose();
        _metrics.Dispose();
        await _level.DisposeAsync().ConfigureAwait(false);
        _local.Clear();
    }

    /// <summary>Closes the cache, waiting for what its second level still has to write, for a bounded time.</summary>
    public void Dispose() => DisposeAsync().AsTask().GetAwaiter().GetResult();
}
