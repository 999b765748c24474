using System.Diagnostics.Metrics;
using Cairn.Caching.Levels;
using Cairn.Caching.Operations;
using Cairn.Caching.Policies;
using Cairn.Caching.Serialization;
using Cairn.Caching.Tagging;
using Cairn.Caching.Telemetry;
using Cairn.Engine;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Logging;

namespace Cairn.Caching;

// A facade: it forwards each call to the part that does the job (Operations). Operations/CacheParts.cs lists the parts, and has the invariants.

/// <summary>
/// Microsoft's <see cref="HybridCache"/> over two coherent levels. The first level holds objects in this process, within a size limit. The
/// second holds bytes that processes or machines share.
/// </summary>
/// <remarks>
/// <para>
/// Safe from any thread. One factory runs for a key at a time, among all processes that share a second level with leases. The value of a
/// factory is not kept if its key or one of its tags changed since the factory began.
/// </para>
/// <para>
/// A change is acknowledged when its task ends. From then on, no process that shares a store file serves an older value. Over another second
/// level, another machine serves it until it receives the message about the change (<see cref="ICacheInvalidation"/>), or until its copy expires.
/// </para>
/// <para>
/// A failure of the second level never reaches a caller. It is counted and logged, and changes are sent again when the level works again.
/// An exception of a factory reaches its callers, unless <see cref="CairnEntryOptions.FailSafe"/> provides an expired value.
/// </para>
/// <para>
/// A key is not cached if it is null, empty, longer than <see cref="CairnHybridCacheOptions.MaximumKeyLength"/>, or contains lone surrogates or
/// characters below U+0020. The factory then runs each time, and the call is counted.
/// </para>
/// </remarks>
public sealed class CairnHybridCache : HybridCache, IAsyncDisposable, IDisposable
{
    private readonly CacheParts _parts;
    private readonly EntryPolicy _defaults;
    private readonly KeyHasher _hasher;
    private readonly LocalHits _hits;
    private readonly LocalReader _local;
    private readonly ValueReader _values;
    private readonly FlightRunner _flights;
    private readonly EntryKeeper _keeper;
    private readonly CacheInvalidator _invalidator;
    private readonly TaggedKeys _tagged;

    /// <summary>Creates a cache without dependency injection.</summary>
    /// <param name="options">The options; null for the defaults. Later changes of the object have no effect.</param>
    /// <param name="loggers">The factory of the cache's logger; null for no logging.</param>
    /// <returns>The cache, which the caller disposes.</returns>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    /// <exception cref="IOException">The store file cannot be opened; see <see cref="CairnStore.Open"/>.</exception>
    public static CairnHybridCache Create(CairnHybridCacheOptions? options = null, ILoggerFactory? loggers = null) =>
        HybridCacheAssembly.Create(options ?? new CairnHybridCacheOptions(), services: null, loggers);

    internal CairnHybridCache(CairnHybridCacheOptions options, SecondLevel level, Codecs codecs, ILogger logger, IMeterFactory? meters = null)
    {
        _parts = new CacheParts(this, options, level, codecs, logger, meters, key => _invalidator!.RemoveDependent(key));
        _defaults = _parts.Defaults;
        _hasher = _parts.Hasher;
        var tags = new TagReader(_parts);
        var converter = new EntryConverter(_parts, tags);
        _hits = new LocalHits(_parts, tags, converter);
        _keeper = new EntryKeeper(_parts, tags, converter);
        _local = new LocalReader(_parts, tags, converter);
        var shared = new SharedReader(_parts, tags, converter, _keeper);
        _values = new ValueReader(_parts, _hits, converter, _local, shared, _keeper);
        _flights = new FlightRunner(_parts, tags, converter, _local, shared, _keeper);
        _invalidator = new CacheInvalidator(_parts, tags, _local, _keeper);
        _tagged = new TaggedKeys(_parts, tags);
    }

    /// <summary>The cache's name in its second level.</summary>
    public string Name => _parts.Options.Name;

    /// <summary>The health of the second level.</summary>
    internal LevelHealth LevelHealth => _parts.SecondLevel.Health;

    /// <summary>Whether there is a second level.</summary>
    internal bool HasSecondLevel => _parts.HasLevel;

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
        return _defaults.ReadsLocalWith(options) && _hits.TryHit(hash, key, out T? value)
            ? new ValueTask<T>(value!)
            : _flights.CreateAsync(key ?? "", hash, factory, state, _defaults.With(options), tags, cancellationToken);
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
        return _defaults.ReadsLocalWith(options) && _hits.TryHit(hash, key, out T? value)
            ? new ValueTask<T>(value!)
            : _flights.CreateAsync(key.ToString(), hash, factory, state, _defaults.With(options), tags, cancellationToken);
    }

    /// <summary>Gets a value, or creates it with a factory that decides how it is cached.</summary>
    /// <typeparam name="TState">The type of <paramref name="state"/>.</typeparam>
    /// <typeparam name="T">The value's type.</typeparam>
    /// <param name="key">The key.</param>
    /// <param name="state">The argument of the factory, which avoids a closure.</param>
    /// <param name="factory">The factory. Its context has the expired value, and accepts the expiration, tags, validators and dependencies.</param>
    /// <param name="options">The caching options, which the factory may replace; null for the defaults.</param>
    /// <param name="tags">The tags by which the value can be removed; null for none.</param>
    /// <param name="cancellationToken">Ends the caller's wait. The factory is cancelled when all its callers have cancelled.</param>
    /// <returns>The value.</returns>
    /// <exception cref="TimeoutException">The hard time-out passed, and there was no expired value.</exception>
    /// <exception cref="InvalidOperationException">A factory requests its own key, or a key whose factory waits for it.</exception>
    public ValueTask<T> GetOrCreateAsync<TState, T>(
        string key,
        TState state,
        Func<TState, CacheFactoryContext<T>, CancellationToken, ValueTask<T>> factory,
        CairnEntryOptions? options = null,
        IEnumerable<string>? tags = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        ArgumentNullException.ThrowIfNull(factory);
        ulong hash = _hasher.Hash(key);
        return _defaults.ReadsLocalWith(options) && _hits.TryHit(hash, key, out T? value)
            ? new ValueTask<T>(value!)
            : _flights.CreateAsync(key, hash, factory, state, _defaults.With(options), tags, cancellationToken);
    }

    /// <inheritdoc cref="GetOrCreateAsync{TState, T}(string, TState, Func{TState, CacheFactoryContext{T}, CancellationToken, ValueTask{T}}, CairnEntryOptions, IEnumerable{string}, CancellationToken)"/>
    public ValueTask<T> GetOrCreateAsync<T>(
        string key,
        Func<CacheFactoryContext<T>, CancellationToken, ValueTask<T>> factory,
        CairnEntryOptions? options = null,
        IEnumerable<string>? tags = null,
        CancellationToken cancellationToken = default) =>
        GetOrCreateAsync<Func<CacheFactoryContext<T>, CancellationToken, ValueTask<T>>, T>(
            key, factory, static (make, context, token) => make(context, token), options, tags, cancellationToken);

    /// <summary>Gets a value, or creates it with a factory.</summary>
    /// <typeparam name="TState">The type of <paramref name="state"/>.</typeparam>
    /// <typeparam name="T">The value's type.</typeparam>
    /// <param name="key">The key.</param>
    /// <param name="state">The argument of the factory, which avoids a closure.</param>
    /// <param name="factory">The function that creates the value.</param>
    /// <param name="options">The caching options.</param>
    /// <param name="tags">The tags by which the value can be removed; null for none.</param>
    /// <param name="cancellationToken">Ends the caller's wait. The factory is cancelled when all its callers have cancelled.</param>
    /// <returns>The value.</returns>
    /// <exception cref="TimeoutException">The hard time-out passed, and there was no expired value.</exception>
    /// <exception cref="InvalidOperationException">A factory requests its own key, or a key whose factory waits for it.</exception>
    public ValueTask<T> GetOrCreateAsync<TState, T>(
        string key,
        TState state,
        Func<TState, CancellationToken, ValueTask<T>> factory,
        CairnEntryOptions options,
        IEnumerable<string>? tags = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        ArgumentNullException.ThrowIfNull(factory);
        ulong hash = _hasher.Hash(key);
        return _defaults.ReadsLocalWith(options) && _hits.TryHit(hash, key, out T? value)
            ? new ValueTask<T>(value!)
            : _flights.CreateAsync(key, hash, factory, state, _defaults.With(options), tags, cancellationToken);
    }

    /// <inheritdoc cref="GetOrCreateAsync{TState, T}(string, TState, Func{TState, CancellationToken, ValueTask{T}}, CairnEntryOptions, IEnumerable{string}, CancellationToken)"/>
    public ValueTask<T> GetOrCreateAsync<T>(
        string key,
        Func<CancellationToken, ValueTask<T>> factory,
        CairnEntryOptions options,
        IEnumerable<string>? tags = null,
        CancellationToken cancellationToken = default) =>
        GetOrCreateAsync<Func<CancellationToken, ValueTask<T>>, T>(
            key, factory, static (make, token) => make(token), options, tags, cancellationToken);

    /// <summary>Gets a fresh value from the first level only.</summary>
    /// <typeparam name="T">The value's type.</typeparam>
    /// <param name="key">The key.</param>
    /// <param name="value">The value, which may be a cached null.</param>
    /// <returns>True if there is a value. <see cref="GetAsync"/> also reads the second level.</returns>
    public bool TryGet<T>(string key, [MaybeNullWhen(false)] out T value)
    {
        ArgumentNullException.ThrowIfNull(key);
        return TryGet(key.AsSpan(), out value);
    }

    /// <inheritdoc cref="TryGet{T}(string, out T)"/>
    public bool TryGet<T>(ReadOnlySpan<char> key, [MaybeNullWhen(false)] out T value)
    {
        ulong hash = _hasher.Hash(key);
        if (_hits.TryHit(hash, key, out value))
        {
            return true;
        }

        _parts.ThrowIfClosed();
        return _local.TryTakeFresh(_local.FindUsable(hash, key), _defaults, out value);
    }

    /// <summary>Gets a value from either level, without creating one.</summary>
    /// <typeparam name="T">The value's type.</typeparam>
    /// <param name="key">The key.</param>
    /// <param name="options">The levels to skip, and how long this process keeps the value; null for the defaults.</param>
    /// <param name="allowStale">True to accept an expired value that is kept for <see cref="CairnEntryOptions.FailSafe"/>.</param>
    /// <param name="cancellationToken">Ends the wait for the second level.</param>
    /// <returns>The value, if there is one.</returns>
    public ValueTask<CacheResult<T>> GetAsync<T>(
        string key, CairnEntryOptions? options = null, bool allowStale = false, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        ulong hash = _hasher.Hash(key);
        return _defaults.ReadsLocalWith(options) && _hits.TryHit(hash, key, out T? value)
            ? new ValueTask<CacheResult<T>>(new CacheResult<T>(IsFound: true, value, IsStale: false))
            : _values.ReadAsync<T>(key, hash, _defaults.With(options), allowStale, cancellationToken);
    }

    /// <summary>Gets many values. One request to the second level reads those that this process does not have.</summary>
    /// <typeparam name="T">The values' type.</typeparam>
    /// <param name="keys">The keys; repetitions are allowed.</param>
    /// <param name="options">The levels to skip, and how long this process keeps the values; null for the defaults.</param>
    /// <param name="cancellationToken">Ends the wait for the second level.</param>
    /// <returns>One result for each key, in the order of the keys.</returns>
    public ValueTask<CacheResult<T>[]> GetManyAsync<T>(
        IReadOnlyList<string> keys, CairnEntryOptions? options = null, CancellationToken cancellationToken = default) =>
        _values.ReadManyAsync<T>(keys, options, cancellationToken);

    /// <inheritdoc/>
    /// <remarks>A factory that is running for the key does not replace this value.</remarks>
    public override ValueTask SetAsync<T>(
        string key, T value, HybridCacheEntryOptions? options = null, IEnumerable<string>? tags = null, CancellationToken cancellationToken = default) =>
        _keeper.SetAsync(key, value, (CairnEntryOptions?)options, tags, cancellationToken);

    /// <summary>Stores a value in both levels and replaces any earlier one.</summary>
    /// <typeparam name="T">The value's type.</typeparam>
    /// <param name="key">The key. If it cannot be cached, nothing is stored, and the call is counted.</param>
    /// <param name="value">The value, which may be null.</param>
    /// <param name="options">The caching options; null for the defaults.</param>
    /// <param name="tags">The tags by which the value can be removed; null for none.</param>
    /// <param name="cancellationToken">Ends the wait for the second level; the change may have been made.</param>
    /// <returns>A task that ends when the change is acknowledged, as the remarks of the class describe.</returns>
    /// <remarks>A factory that is running for the key does not replace this value.</remarks>
    public ValueTask SetAsync<T>(
        string key, T value, CairnEntryOptions? options, IEnumerable<string>? tags = null, CancellationToken cancellationToken = default) =>
        _keeper.SetAsync(key, value, options, tags, cancellationToken);

    /// <inheritdoc/>
    /// <remarks>
    /// The value of a running factory of the key is not kept. The task ends when the change is acknowledged, as the remarks of the class describe.
    /// </remarks>
    public override ValueTask RemoveAsync(string key, CancellationToken cancellationToken = default) =>
        _invalidator.RemoveAsync(key, cancellationToken);

    /// <inheritdoc/>
    /// <remarks>The removals run concurrently. The task ends when all are done.</remarks>
    public override ValueTask RemoveAsync(IEnumerable<string> keys, CancellationToken cancellationToken = default) =>
        _invalidator.RemoveAsync(keys, cancellationToken);

    /// <inheritdoc/>
    /// <remarks>The invalidations run concurrently. The task ends when all are done.</remarks>
    public override ValueTask RemoveByTagAsync(IEnumerable<string> tags, CancellationToken cancellationToken = default) =>
        _invalidator.RemoveByTagAsync(tags, cancellationToken);

    /// <inheritdoc/>
    /// <remarks>The tag <c>*</c> means all entries. The task ends when the change is acknowledged, as the remarks of the class describe.</remarks>
    public override ValueTask RemoveByTagAsync(string tag, CancellationToken cancellationToken = default) =>
        _invalidator.RemoveByTagAsync(tag, cancellationToken);

    /// <summary>Removes the entries that carry any or all of some tags, from every level and every process.</summary>
    /// <param name="tags">
    /// The tags, at most 32 for <see cref="TagMatch.All"/>. No tags remove nothing. Every entry carries the tag <c>*</c>, and none carries an empty one.
    /// </param>
    /// <param name="match">Whether an entry must carry one of the tags, or all of them.</param>
    /// <param name="cancellationToken">Ends the wait for the second level; the change may have been made.</param>
    /// <returns>A task that ends when the change is acknowledged, as the remarks of the class describe.</returns>
    /// <exception cref="ArgumentOutOfRangeException">There are more than 32 tags, or <paramref name="match"/> is not defined.</exception>
    /// <remarks>
    /// <para>
    /// With <see cref="TagMatch.All"/> the call searches for no entries: it stores a condition with one of the tags, which has up to 32 of them. The next
    /// one replaces the oldest, and then the entries with this tag that are older than the oldest condition are removed too.
    /// </para>
    /// <para>
    /// If the second level cannot change the state of a tag in one step, all entries with the first tag are removed. This applies to an
    /// <c>IDistributedCache</c> that other machines share and that has no <see cref="ICacheLeases"/>, to Cairn's server with memcached's protocol, and while
    /// the second level fails.
    /// </para>
    /// </remarks>
    public ValueTask RemoveByTagAsync(IEnumerable<string> tags, TagMatch match, CancellationToken cancellationToken = default) =>
        _invalidator.RemoveByTagAsync(tags, match, cancellationToken);

    /// <summary>Lists the keys whose values carry a tag and are fresh.</summary>
    /// <param name="tag">The tag; not empty. The tag <c>*</c> lists all keys.</param>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    /// <returns>
    /// The keys in no order, each once. A key that exists during the whole enumeration is listed. A key that is set or removed meanwhile may be listed.
    /// </returns>
    /// <exception cref="ArgumentException">The tag is empty or white space.</exception>
    /// <remarks>
    /// There is no index by tag: the call visits every entry of the first level, and reads every entry of the second one, which for a server means
    /// that all values are transferred. So it is for maintenance, not for each request. The second level is listed if it is a store file, or a
    /// distributed cache that implements <see cref="ICacheKeys"/>, such as Redis. Over any other cache, and after a failure of the second level, which is
    /// logged, the keys are those of this process's first level, and those that were already found.
    /// </remarks>
    public IAsyncEnumerable<string> KeysByTagAsync(string tag, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(tag);
        return _tagged.ListAsync(tag, cancellationToken);
    }

    /// <summary>Removes every entry that depends on a topic, from every level and every process.</summary>
    /// <param name="topic">The topic; not empty.</param>
    /// <param name="cancellationToken">Ends the wait for the second level; the change may have been made.</param>
    /// <returns>A task that ends when the change is acknowledged, as the remarks of the class describe.</returns>
    /// <remarks>
    /// For changes that an external source reports, such as a database's notification. Entries name their topics in
    /// <see cref="CairnEntryOptions.Topics"/>.
    /// </remarks>
#pragma warning disable CA1030 // The application raises topics, and the cache handles them.
    public ValueTask RaiseTopicAsync(string topic, CancellationToken cancellationToken = default) =>
        _invalidator.RemoveByTagAsync(TagNames.OfTopic(topic), cancellationToken);
#pragma warning restore CA1030

    /// <summary>Removes all entries from every level and every process that shares the second level.</summary>
    /// <param name="cancellationToken">Ends the wait for the second level; the change may have been made.</param>
    /// <returns>A task that ends when the change is acknowledged, as the remarks of the class describe.</returns>
    public ValueTask ClearAsync(CancellationToken cancellationToken = default) => _invalidator.ClearAsync(cancellationToken);

    /// <summary>
    /// Makes an entry expire now. The next reader creates a new value. With <see cref="CairnEntryOptions.FailSafe"/> it gets the old value if
    /// its factory fails. Without an expired value to serve, this call is equivalent to <see cref="RemoveAsync(string, CancellationToken)"/>.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="cancellationToken">Ends the wait for the second level; the change may have been made.</param>
    /// <returns>A task that ends when the change is acknowledged, as the remarks of the class describe.</returns>
    /// <remarks>Only this process keeps the old value. Other processes and the second level remove it.</remarks>
    public ValueTask ExpireAsync(string key, CancellationToken cancellationToken = default) => _invalidator.ExpireAsync(key, cancellationToken);

    /// <summary>Returns the cache's counts since its creation and the contents of its first level.</summary>
    /// <returns>The counts at about this moment.</returns>
    public CairnCacheStatistics GetStatistics() => _parts.GetStatistics();

    /// <summary>Closes the cache and its connection to the second level. Values that callers hold stay valid.</summary>
    /// <remarks>
    /// Hits may be served until all threads see the change. Operations that need the second level or a factory throw
    /// <see cref="ObjectDisposedException"/>. Running factories continue for the callers that wait for them.
    /// </remarks>
    public ValueTask DisposeAsync() => _parts.DisposeAsync();

    /// <summary>Closes the cache. Waits, for a limited time, until the second level has written its pending writes.</summary>
    public void Dispose() => DisposeAsync().AsTask().GetAwaiter().GetResult();
}
