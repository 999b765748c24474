using System.Diagnostics.Metrics;
using Cairn.Caching.Coherence;
using Cairn.Caching.Dependencies;
using Cairn.Caching.Flights;
using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Policies;
using Cairn.Caching.Serialization;
using Cairn.Caching.Tagging;
using Cairn.Caching.Telemetry;
using Cairn.Caching.Timing;
using Cairn.Engine;
using Cairn.Eviction.Dueling;
using Microsoft.Extensions.Logging;

namespace Cairn.Caching.Operations;

// The objects that all operations of a hybrid cache share. CairnHybridCache creates it once, and forwards each call to the operation that does the job:
//
//   LocalHits         a hit: catches up with changes, finds the entry, checks the time and compares stamps
//   LocalReader       reads of the first level beyond a simple hit
//   SharedReader      reads of the second level
//   ValueReader       reads of both levels without a factory
//   FlightRunner      a miss: the creation of a value, for all callers that want it meanwhile (with FlightWaiter, FactoryCaller and FailSafe)
//   EntryKeeper       stores values in both levels
//   CacheInvalidator  removals, by callers and by other processes
//   TagReader         stamps of tags
//   EntryConverter    values to entries and back
//
//   I1  A read catches up with the changes (ICoherence, I1) before it looks into the first level.
//   I2  An entry enters the first level only through EntryKeeper, which refuses entries that were changed since their flight's mark.
//   I3  A change of a key detaches the key's flights and removes the key here, before and after the change of the second level: before, to end
//       the serving of the old value as early as possible; after, because a flight may have read the old value in between. A change that
//       completes is visible everywhere the second level reaches, or is sent again until it is.
internal sealed class CacheParts : IAsyncDisposable
{
    private readonly object _cache;
    private int _isClosed;

    /// <summary>Creates the parts of a cache.</summary>
    /// <param name="cache">The cache, whose type the exceptions of a closed cache name.</param>
    /// <param name="options">The validated options.</param>
    /// <param name="level">The second level, or <see cref="NoLevel"/>. The parts dispose it.</param>
    /// <param name="codecs">The serializers.</param>
    /// <param name="logger">The target of the log messages.</param>
    /// <param name="meters">The factory of the meter; null for a meter of this cache alone.</param>
    /// <param name="onDependencyChanged">Called with a key when a change token of its value has changed.</param>
    public CacheParts(
        object cache, CairnHybridCacheOptions options, SecondLevel level, Codecs codecs, ILogger logger, IMeterFactory? meters, Action<string> onDependencyChanged)
    {
        _cache = cache;
        Options = options;
        Defaults = EntryPolicy.Of(options.DefaultEntryOptions ?? new CairnEntryOptions());
        SecondLevel = level;
        HasLevel = level is not NoLevel;
        Hasher = level.Hasher;
        Coherence = level.Coherence;
        Changes = new LevelChanges(level.Coherence, HasLevel);
        Codecs = codecs;
        Log = new CacheLog(logger);
        Clock = new CacheClock(options.TimeProvider);
        Tags = new TagRegistry(level.TagHasher);
        FirstLevel = new LocalCache(options.LocalMaxEntries, options.LocalMaxBytes);
        Dependencies = new DependencyWatch(Clock, onDependencyChanged, Log.DependencyFailed);
        Metrics = new CacheMetrics(options.Name, GetStatistics, () => SecondLevel.Health, Counters, meters);
    }

    public CairnHybridCacheOptions Options { get; }

    /// <summary>The policy of a call without options.</summary>
    public EntryPolicy Defaults { get; }

    public KeyHasher Hasher { get; }

    public LocalCache FirstLevel { get; }

    public SecondLevel SecondLevel { get; }

    /// <summary>True if there is a second level.</summary>
    public bool HasLevel { get; }

    public ICoherence Coherence { get; }

    public LevelChanges Changes { get; }

    public Codecs Codecs { get; }

    public CacheClock Clock { get; }

    public TagRegistry Tags { get; }

    public StampedeGuard Flights { get; } = new();

    public CacheCounters Counters { get; } = new();

    public DependencyWatch Dependencies { get; }

    public CacheLog Log { get; }

    public CacheMetrics Metrics { get; }

    public bool IsCacheable(ReadOnlySpan<char> key) => KeyRules.IsCacheable(key, Options.MaximumKeyLength);

    /// <summary>Returns the value of <see cref="Flight.Began"/> for a flight that begins now.</summary>
    public uint BeganNow() => HasLevel ? (uint)(Clock.NowMs() / 1000) : 0;

    /// <summary>Throws if the cache is closed.</summary>
    public void ThrowIfClosed() => ObjectDisposedException.ThrowIf(_isClosed != 0, _cache);

    public CairnCacheStatistics GetStatistics()
    {
        LocalCacheStatistics local = FirstLevel.GetStatistics();
        DuelStatistics duel = FirstLevel.GetPolicyStatistics();
        long hits = Counters.Sum(CacheCount.LocalHit);
        long reads = hits + Counters.Sum(CacheCount.SharedHit) + Counters.Sum(CacheCount.Miss) + Counters.Sum(CacheCount.StaleServed);
        return new CairnCacheStatistics
        {
            LocalHits = hits,
            SharedHits = Counters.Sum(CacheCount.SharedHit),
            Misses = Counters.Sum(CacheCount.Miss),
            StaleServed = Counters.Sum(CacheCount.StaleServed),
            FactoryRuns = Counters.Sum(CacheCount.FactoryRun),
            FactoryFaults = Counters.Sum(CacheCount.FactoryFault),
            FactoryTimeouts = Counters.Sum(CacheCount.FactoryTimeout),
            Refreshes = Counters.Sum(CacheCount.Refresh),
            Joined = Counters.Sum(CacheCount.Joined),
            NotKept = Counters.Sum(CacheCount.NotKept),
            TooLargeForShared = Counters.Sum(CacheCount.SharedTooLarge),
            Unreadable = Counters.Sum(CacheCount.SharedUnreadable),
            SerializationFaults = Counters.Sum(CacheCount.SerializationFault),
            Sets = Counters.Sum(CacheCount.Set),
            Removals = Counters.Sum(CacheCount.Removed),
            TagRemovals = Counters.Sum(CacheCount.TagRemoved),
            LocalEntries = local.Entries,
            LocalBytes = local.Bytes,
            LocalEvictions = local.Evictions,
            LocalPolicy = duel.Ruling,
            LocalPolicyChanges = duel.Changes,
            LocalPolicyAge = duel.Changes == 0 ? null : TimeSpan.FromMilliseconds(Math.Max(0, Clock.NowMs() - duel.Since)),
            LocalEstimates = EstimatesOf(duel, hits, reads),
        };
    }

    private static LocalHitEstimate[] EstimatesOf(DuelStatistics duel, long hits, long reads)
    {
        int candidates = QueuePolicy.Candidates.Count;
        var estimates = new LocalHitEstimate[reads == 0 ? 0 : duel.Gained.Count];
        for (int i = 0; i < estimates.Length; i++)
        {
            estimates[i] = new LocalHitEstimate(
                i < candidates ? QueuePolicy.Candidates[i].Name : duel.Ruling,
                i < candidates ? 1 : ShadowSet.Scales[i - candidates],
                Math.Clamp((hits + duel.Gained[i]) / reads, 0, 1),
                Math.Min(1, duel.Margins[i] / reads));
        }

        return estimates;
    }

    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isClosed, 1) != 0)
        {
            return;
        }

        Dependencies.Dispose();
        Metrics.Dispose();
        await SecondLevel.DisposeAsync().ConfigureAwait(false);
        FirstLevel.Clear();
    }
}
