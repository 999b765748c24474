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
using Cairn.Keys;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Logging;

namespace Cairn.Caching;

// A hit (this file) asks for changes, finds, looks at the time and compares stamps. Everything else is a flight
// (CairnHybridCache.Create.cs) or a change (CairnHybridCache.Change.cs).
//
//   I1  A read asks coherence before it looks into the first level (ICoherence, I1).
//   I2  Nothing enters the first level but through Keep, which refuses what was changed since its flight's mark.
//   I3  Who changes a key detaches its flights and removes it here before and after the second level is changed: before, so
//       that nobody is served the old value any longer than need be; after, because a flight may have read it in between.

/// <summary>
/// Microsoft's <see cref="HybridCache"/> over two levels that agree: values in this process, bounded, and bytes that processes or machines
/// share.
/// </summary>
/// <remarks>
/// <para>
/// Safe from any thread. One factory runs for a key at a time, among all who share a second level that has leases. What a factory returns
/// is not kept if its key or one of its tags was changed since it began. Once a change is acknowledged, no process that shares a store
/// file serves an older value.
/// </para>
/// <para>
/// Trouble of the second level never reaches a caller: it is counted and logged, and changes are made up for when the level works again.
/// What a factory throws reaches its callers, unless <see cref="CairnEntryOptions.FailSafe"/> has an expired value for them.
/// </para>
/// <para>
/// A key that is null, empty, longer than <see cref="CairnHybridCacheOptions.MaximumKeyLength"/>, or holds lone surrogates or control characters
/// is not cached: the factory runs each time, and that is counted.
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

    /// <summary>Makes a cache without dependency injection.</summary>
    /// <param name="options">How it works; null for the defaults. Changes after this have no effect.</param>
    /// <param name="loggers">Where it logs to; null for nowhere.</param>
    /// <returns>The cache, to be disposed by the caller.</returns>
    /// <exception cref="ArgumentException">An option is out of its range.</exception>
    /// <exception cref="IOException">The store file cannot be opened, as <see cref="CairnStore.Open"/>.</exception>
    public static CairnHybridCache Create(CairnHybridCacheOptions? options = null, ILoggerFactory? loggers = null) =>
        Composition.HybridCacheAssembly.Create(options ?? new CairnHybridCacheOptions(), services: null, loggers);

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
        _metrics = new CacheMetrics(this, _counters, meters);
        _coherence.Attach(new ChangeSink(this));
    }

    /// <inheritdoc/>
    /// <remarks>Null, tags and options are as <see cref="CairnEntryOptions"/> says. A hit allocates nothing if the value may be shared.</remarks>
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
    /// <remarks>No text is allocated for the key if the first level has the value.</remarks>
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

    // A value that needs no further thought.
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

    // Over a store it is a look at a few words, done here and not behind a call through an interface, which would cost more.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryCatchUp(ulong hash) =>
        _storeCoherence is { } store ? store.TryCatchUp(hash) : !_hasLevel || _coherence.TryCatchUp(hash);

    // What changes the stamp of a tag is counted: who is told of all changes, and finds the count as it was, knows the stamps without a look at them.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool AreTagsCurrent(LocalEntry entry)
    {
        // Acquire; pairs with the release in CompareTags, so that the partitions are there.
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

        // Without a level nobody else changes a tag. Over a cache of another kind its channel would have to be asked for each.
        if (!_hasLevel || _storeCoherence is { HasFewPartitions: true })
        {
            ulong partitions = 0;
            foreach (Tag tag in entry.Tags!.Tags)
            {
                partitions |= _storeCoherence?.PartitionBitOf(tag.Hash) ?? 0;
            }

            // Two threads write the same partitions; and of two counts either is right.
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

    // The entry's value as the type that is asked for; a copy, if it must not be shared.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryTake<T>(LocalEntry entry, [MaybeNullWhen(false)] out T value)
    {
        // Of exactly the type, nearly always: a comparison of two words, where a cast of an unknown type is a call.
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

    // Tells the first level, the flights and the tags of changes that others made. Called with a partition's changes drained,
    // under its lock: nothing here calls back.
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
