using System.Diagnostics.CodeAnalysis;
using Cairn.Caching.Coherence;
using Cairn.Caching.Flights;
using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Policies;
using Cairn.Caching.Serialization;
using Cairn.Caching.Telemetry;

namespace Cairn.Caching;

// Reads without a factory, and reads whose factory decides how its value is cached.
public sealed partial class CairnHybridCache
{
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
        return GetOrCreateWithAsync<AdaptiveFactory<TState, T>, TState, T>(
            key, new AdaptiveFactory<TState, T>(factory), state, options, tags, cancellationToken);
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
        return GetOrCreateWithAsync<PlainFactory<TState, T>, TState, T>(
            key, new PlainFactory<TState, T>(factory), state, options, tags, cancellationToken);
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
        if (TryHit(hash, key, out value))
        {
            return true;
        }

        ObjectDisposedException.ThrowIf(_isDisposed != 0, this);
        return TryTakeFresh(FindUsable(hash, key), _defaults, out value);
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
        return MayReadLocal(options) && TryHit(hash, key, out T? value)
            ? new ValueTask<CacheResult<T>>(new CacheResult<T>(IsFound: true, value, IsStale: false))
            : LookAsync<T>(key, hash, _defaults.With(options), allowStale, new LevelWait(_level.NewDeadline(), cancellationToken));
    }

    /// <summary>Gets many values. One request to the second level reads those that this process does not have.</summary>
    /// <typeparam name="T">The values' type.</typeparam>
    /// <param name="keys">The keys; repetitions are allowed.</param>
    /// <param name="options">The levels to skip, and how long this process keeps the values; null for the defaults.</param>
    /// <param name="cancellationToken">Ends the wait for the second level.</param>
    /// <returns>One result for each key, in the order of the keys.</returns>
    public async ValueTask<CacheResult<T>[]> GetManyAsync<T>(
        IReadOnlyList<string> keys, CairnEntryOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(keys);
        ObjectDisposedException.ThrowIf(_isDisposed != 0, this);
        EntryPolicy policy = _defaults.With(options);
        var wait = new LevelWait(_level.NewDeadline(), cancellationToken);
        var results = new CacheResult<T>[keys.Count];
        var missing = new List<int>();
        for (int i = 0; i < results.Length; i++)
        {
            ArgumentNullException.ThrowIfNull(keys[i], nameof(keys));
            ulong hash = _hasher.Hash(keys[i]);
            if (policy.ReadsLocal && (TryHit(hash, keys[i], out T? value)
                || TryTakeFresh(await FindCurrentAsync(keys[i], hash, wait).ConfigureAwait(false), policy, out value)))
            {
                results[i] = new CacheResult<T>(IsFound: true, value, IsStale: false);
            }
            else if (IsCacheable(keys[i]))
            {
                missing.Add(i);
            }
        }

        if (_hasLevel && policy.ReadsShared && missing.Count > 0)
        {
            await LookForManyAsync(keys, missing, results, policy, wait).ConfigureAwait(false);
        }
        else
        {
            foreach (int i in missing)
            {
                results[i] = await LookAsync<T>(keys[i], _hasher.Hash(keys[i]), policy, allowStale: false, wait).ConfigureAwait(false);
            }
        }

        return results;
    }

    // Takes an entry that a read without a factory finds in the first level. If a refresh is due, the next hit with a factory starts it.
    private bool TryTakeFresh<T>(LocalEntry? entry, EntryPolicy policy, [MaybeNullWhen(false)] out T value)
    {
        value = default;
        long now = _clock.NowMs();
        if (entry is null || now >= entry.FreshUntil || !TryTake(entry, out value))
        {
            return false;
        }

        SlideIfDue(entry, now, policy);
        _counters.Add(CacheCount.LocalHit);
        return true;
    }

    private ValueTask<T> GetOrCreateWithAsync<TFactory, TState, T>(
        string key, TFactory factory, TState state, CairnEntryOptions? options, IEnumerable<string>? tags, CancellationToken cancellationToken)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        ulong hash = _hasher.Hash(key);
        return MayReadLocal(options) && TryHit(hash, key, out T? value)
            ? new ValueTask<T>(value!)
            : CreateAsync<TFactory, TState, T>(key, hash, factory, state, _defaults.With(options), tags, cancellationToken);
    }

    private async ValueTask<CacheResult<T>> LookAsync<T>(
        string key, ulong hash, EntryPolicy policy, bool allowStale, LevelWait wait)
    {
        ObjectDisposedException.ThrowIf(_isDisposed != 0, this);
        if (!IsCacheable(key))
        {
            return default;
        }

        var flight = new SoloFlight(key, hash, isWriter: false) { Began = BeganNow() };
        _guard.Add(flight);
        try
        {
            ChangeMark mark = _hasLevel ? _coherence.Mark(hash) : default;
            LocalEntry? stale = null;
            if (policy.ReadsLocal && await FindCurrentAsync(key, hash, wait).ConfigureAwait(false) is { } local)
            {
                if (TryTakeFresh(local, policy, out T? value))
                {
                    return new CacheResult<T>(IsFound: true, value, IsStale: false);
                }

                stale = local;
            }

            if (_hasLevel && policy.ReadsShared)
            {
                using var buffer = new PooledBuffer();
                LevelStatus status = await _level.ReadAsync(key, hash, buffer, wait).ConfigureAwait(false);
                LocalEntry? read = status == LevelStatus.Hit
                    ? await DecodeAsync<T>(key, hash, buffer.WrittenMemory, policy, wait).ConfigureAwait(false)
                    : null;
                if (read is not null && _clock.NowMs() < read.FreshUntil && TryTake(read, out T? value))
                {
                    KeepRead(flight, mark, read, policy);
                    _counters.Add(CacheCount.SharedHit);
                    return new CacheResult<T>(IsFound: true, value, IsStale: false);
                }

                stale = read ?? stale;
            }

            if (allowStale && stale is not null && _clock.NowMs() < stale.UsableUntil && TryTake(stale, out T? old))
            {
                _counters.Add(CacheCount.StaleServed);
                return new CacheResult<T>(IsFound: true, old, IsStale: true);
            }

            _counters.Add(CacheCount.Miss);
            return default;
        }
        finally
        {
            _guard.Remove(flight);
        }
    }

    private async ValueTask LookForManyAsync<T>(
        IReadOnlyList<string> keys, List<int> missing, CacheResult<T>[] results, EntryPolicy policy, LevelWait wait)
    {
        var names = new string[missing.Count];
        var hashes = new ulong[missing.Count];
        var flights = new SoloFlight[missing.Count];
        var marks = new ChangeMark[missing.Count];
        var buffers = new PooledBuffer[missing.Count];
        var statuses = new LevelStatus[missing.Count];
        for (int i = 0; i < names.Length; i++)
        {
            names[i] = keys[missing[i]];
            hashes[i] = _hasher.Hash(names[i]);
            buffers[i] = new PooledBuffer();
            flights[i] = new SoloFlight(names[i], hashes[i], isWriter: false) { Began = BeganNow() };
            _guard.Add(flights[i]);
            marks[i] = _coherence.Mark(hashes[i]);
        }

        try
        {
            await _level.ReadManyAsync(names, hashes, buffers, statuses, wait).ConfigureAwait(false);
            for (int i = 0; i < names.Length; i++)
            {
                if (statuses[i] == LevelStatus.Hit
                    && await DecodeAsync<T>(names[i], hashes[i], buffers[i].WrittenMemory, policy, wait).ConfigureAwait(false) is { } read
                    && _clock.NowMs() < read.FreshUntil && TryTake(read, out T? value))
                {
                    KeepRead(flights[i], marks[i], read, policy);
                    _counters.Add(CacheCount.SharedHit);
                    results[missing[i]] = new CacheResult<T>(IsFound: true, value, IsStale: false);
                }
                else
                {
                    _counters.Add(CacheCount.Miss);
                }
            }
        }
        finally
        {
            foreach (SoloFlight flight in flights)
            {
                _guard.Remove(flight);
            }

            foreach (PooledBuffer buffer in buffers)
            {
                buffer.Dispose();
            }
        }
    }
}
