using System.Diagnostics.CodeAnalysis;
using System.Diagnostics.Metrics;
using System.Runtime.CompilerServices;
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
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Logging;

namespace Cairn.Caching;

// A hit (this file) catches up with changes, finds the entry, checks the time and compares stamps. Everything else is a flight
// (CairnHybridCache.Create.cs) or a change (CairnHybridCache.Change.cs).
//
//   I1  A read catches up with the changes (ICoherence, I1) before it looks into the first level.
//   I2  An entry enters the first level only through Keep, which refuses entries that were changed since their flight's mark.
//   I3  A change of a key detaches the key's flights and removes the key here, before and after the change of the second level: before, to end
//       the serving of the old value as early as possible; after, because a flight may have read the old value in between.

/// <summary>
/// Microsoft's <see cref="HybridCache"/> over two coherent levels. The first level holds objects in this process, within a size limit. The
/// second holds bytes that processes or machines share.
/// </summary>
/// <remarks>
/// <para>
/// Safe from any thread. One factory runs for a key at a time, among all processes that share a second level with leases. The value of a
/// factory is not kept if its key or one of its tags changed since the factory began. Once a change is acknowledged, no process that shares a
/// store file serves an older value.
/// </para>
/// <para>
/// A failure of the second level never reaches a caller. It is counted and logged, and changes are sent again when the level works again.
/// An exception of a factory reaches its callers, unless <see cref="CairnEntryOptions.FailSafe"/> provides an expired value.
/// </para>
/// <para>
/// A key is not cached if it is null, empty, longer than <see cref="CairnHybridCacheOptions.MaximumKeyLength"/>, or contains lone surrogates or
/// control characters. The factory then runs each time, and the call is counted.
/// </para>
/// </remarks>
public sealed partial class CairnHybridCache : HybridCache, IAsyncDisposable, IDisposable
{
    private readonly CairnHybridCacheOptions _options;
    private readonly EntryPolicy _defaults;
    private readonly KeyHasher _hasher;
    private readonly LocalCache _local;
    private readonly SecondLevel _level;
    private readonly ICoherence _coherence;
    private readonly StoreCoherence? _storeCoherence;
    private readonly bool _hasLevel;
    private readonly Codecs _codecs;
    private readonly CacheClock _clock;
    private readonly TagRegistry _tags;
    private readonly StampedeGuard _guard = new();
    private readonly CacheCounters _counters = new();
    private readonly DependencyWatch _dependencies;
    private readonly CacheLog _log;
    private readonly CacheMetrics _metrics;
    private int _isDisposed;

    /// <summary>Creates a cache without dependency injection.</summary>
    /// <param name="options">The options; null for the defaults. Later changes of the object have no effect.</param>
    /// <param name="loggers">The factory of the cache's logger; null for no logging.</param>
    /// <returns>The cache, which the caller disposes.</returns>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    /// <exception cref="IOException">The store file cannot be opened; see <see cref="CairnStore.Open"/>.</exception>
    public static CairnHybridCache Create(CairnHybridCacheOptions? options = null, ILoggerFactory? loggers = null) =>
        HybridCacheAssembly.Create(options ?? new CairnHybridCacheOptions(), services: null, loggers);

    internal CairnHybridCache(CairnHybridCacheOptions options, SecondLevel level, bool hasLevel, Codecs codecs, ILogger logger, IMeterFactory? meters = null)
    {
        _options = options;
        _defaults = EntryPolicy.Of(options.DefaultEntryOptions ?? new CairnEntryOptions());
        _level = level;
        _hasLevel = hasLevel;
        _hasher = level.Hasher;
        _coherence = level.Coherence;
        _storeCoherence = level.Coherence as StoreCoherence;
        _codecs = codecs;
        _log = new CacheLog(logger);
        _clock = new CacheClock(options.TimeProvider);
        _tags = new TagRegistry(level.TagHasher);
        _local = new LocalCache(options.LocalMaxEntries, options.LocalMaxBytes);
        _dependencies = new DependencyWatch(_clock, OnDependencyChanged);
        _metrics = new CacheMetrics(Name, GetStatistics, () => LevelHealth, _counters, meters);
        _coherence.Attach(new ChangeSink(this));
    }

    /// <inheritdoc/>
    /// <remarks>For null, tags and options see <see cref="CairnEntryOptions"/>. A hit allocates nothing if the value may be shared.</remarks>
    public override ValueTask<T> GetOrCreateAsync<TState, T>(
        string key,
        TState state,
        Func<TState, CancellationToken, ValueTask<T>> factory,
        HybridCacheEntryOptions? options = null,
        IEnumerable<string>? tags = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(factory);
        ulong hash = _hasher.Hash(key);
        return MayReadLocal(options) && TryHit(hash, key, out T? value)
            ? new ValueTask<T>(value!)
            : CreateAsync<PlainFactory<TState, T>, TState, T>(
                key ?? "", hash, new PlainFactory<TState, T>(factory), state, _defaults.With(options), tags, cancellationToken);
    }

    /// <inheritdoc/>
    /// <remarks>No string is allocated for the key if the first level has the value.</remarks>
    public override ValueTask<T> GetOrCreateAsync<TState, T>(
        ReadOnlySpan<char> key,
        TState state,
        Func<TState, CancellationToken, ValueTask<T>> factory,
        HybridCacheEntryOptions? options = null,
        IEnumerable<string>? tags = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(factory);
        ulong hash = _hasher.Hash(key);
        return MayReadLocal(options) && TryHit(hash, key, out T? value)
            ? new ValueTask<T>(value!)
            : CreateAsync<PlainFactory<TState, T>, TState, T>(
                key.ToString(), hash, new PlainFactory<TState, T>(factory), state, _defaults.With(options), tags, cancellationToken);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool MayReadLocal(HybridCacheEntryOptions? options) =>
        options?.Flags is { } flags ? (flags & HybridCacheEntryFlags.DisableLocalCacheRead) == 0 : _defaults.ReadsLocal;

    private bool MayReadLocal(CairnEntryOptions? options) =>
        options?.Flags is { } flags ? (flags & HybridCacheEntryFlags.DisableLocalCacheRead) == 0 : _defaults.ReadsLocal;

    // The fast path: finds a fresh value that needs no refresh, no extension and no read of the second level.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryHit<T>(ulong hash, ReadOnlySpan<char> key, [MaybeNullWhen(false)] out T value)
    {
        if (TryCatchUp(hash) // I1
            && _local.Find(hash, key) is { } entry
            && _clock.NowMs() < entry.QuietUntil
            && (entry.Tags is null || AreTagsCurrent(entry))
            && TryTake(entry, out value))
        {
            CountLocalHit(entry);
            return true;
        }

        value = default;
        return false;
    }

    // For a store, the check reads a few words. It is inlined here because a call through the interface would cost more.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryCatchUp(ulong hash) =>
        _storeCoherence is { } store ? store.TryCatchUp(hash) : !_hasLevel || _coherence.TryCatchUp(hash);

    // Every change of a tag's stamp is counted. If all changes have been applied and the count is the same, the stamps have not changed.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool AreTagsCurrent(LocalEntry entry)
    {
        // Acquire; pairs with the release in CompareTags: TagPartitions is visible when TagsCheckedAt is.
        ulong checkedAt = Volatile.Read(ref entry.TagsCheckedAt);
        return (checkedAt != 0
                && (_storeCoherence is not { } store || store.TryCatchUpAll(entry.TagPartitions))
                && _tags.Changes.Now == checkedAt)
            || CompareTags(entry);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool CompareTags(LocalEntry entry)
    {
        ulong now = _tags.Changes.Now;
        if (!AreCurrent(entry.Tags!))
        {
            return false;
        }

        // Without a second level only this process changes tags. With an IDistributedCache, its channel would have to be checked for each tag.
        if (!_hasLevel || _storeCoherence is { HasFewPartitions: true })
        {
            ulong partitions = 0;
            foreach (Tag tag in entry.Tags!.Tags)
            {
                partitions |= _storeCoherence?.PartitionBitOf(tag.Hash) ?? 0;
            }

            // Concurrent writers store the same partitions, and either of two counts is correct.
            entry.TagPartitions = partitions;
            Volatile.Write(ref entry.TagsCheckedAt, now);
        }

        return true;
    }

    private bool AreCurrent(TagStamps stamps)
    {
        Tag[] tags = stamps.Tags;
        ulong[] expected = stamps.Stamps;
        for (int i = 0; i < tags.Length && i < expected.Length; i++)
        {
            Tag tag = tags[i];
            if (!TryCatchUp(tag.Hash) || tag.Stamp != expected[i])
            {
                return false;
            }
        }

        return true;
    }

    private static bool AreAsLastKnown(TagStamps stamps)
    {
        for (int i = 0; i < stamps.Tags.Length; i++)
        {
            if (stamps.Tags[i].Stamp != stamps.Stamps[i])
            {
                return false;
            }
        }

        return true;
    }

    // Returns the entry's value as the requested type; a copy, if the value must not be shared.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryTake<T>(LocalEntry entry, [MaybeNullWhen(false)] out T value)
    {
        // The value nearly always has exactly this type: a comparison of two words, whereas a cast to a generic type is a call.
        object? kept = entry.Value;
        if (kept is not null && kept.GetType() == typeof(T))
        {
            value = typeof(T).IsValueType ? (T)kept : Unsafe.As<object, T>(ref kept);
            return true;
        }

        return TryTakeOther(entry, out value);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryTakeOther<T>(LocalEntry entry, [MaybeNullWhen(false)] out T value)
    {
        switch (entry.Value)
        {
            case null:
                value = default!;
                return default(T) is null;
            case LocalPayload payload:
                return TryDeserialize(payload, out value);
            case T shared:
                value = shared;
                return true;
            default:
                _counters.Add(CacheCount.TypeMismatch);
                value = default;
                return false;
        }
    }

    // Applies changes of other processes to the first level, the flights and the tags. Called under the lock of the partition whose changes are
    // applied, so nothing here calls back.
    private sealed class ChangeSink(CairnHybridCache cache) : IChangeSink
    {
        public void OnChanged(ulong hash)
        {
            cache._guard.Unjoin(hash);
            cache._local.RemoveHash(hash);
            cache._tags.Forget(hash);
        }

        public void OnChangedMany(int shift, ulong value)
        {
            cache._guard.UnjoinMany(shift, value);
            cache._local.RemoveMany(shift, value);
            cache._tags.ForgetMany(shift, value);
        }
    }
}
