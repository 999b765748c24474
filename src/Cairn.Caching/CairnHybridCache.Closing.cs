using Cairn.Caching.Local;
using Cairn.Caching.Telemetry;

namespace Cairn.Caching;

// The cache's name, its statistics, and its disposal.
public sealed partial class CairnHybridCache
{
    /// <summary>The cache's name in its second level.</summary>
    public string Name => _options.Name;

    /// <summary>The health of the second level.</summary>
    internal LevelHealth LevelHealth => _level.Health;

    /// <summary>Whether there is a second level.</summary>
    internal bool HasSecondLevel => _hasLevel;

    /// <summary>Returns the cache's counts since its creation and the contents of its first level.</summary>
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

    /// <summary>Closes the cache and its connection to the second level. Values that callers hold stay valid.</summary>
    /// <remarks>
    /// Hits may be served until all threads see the change. Operations that need the second level or a factory throw
    /// <see cref="ObjectDisposedException"/>. Running factories continue for the callers that wait for them.
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

    /// <summary>Closes the cache. Waits, for a limited time, until the second level has written its pending writes.</summary>
    public void Dispose() => DisposeAsync().AsTask().GetAwaiter().GetResult();
}
