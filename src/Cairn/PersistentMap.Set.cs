using Cairn.Keys;
using Cairn.Maps;

namespace Cairn;

// Write operations.
public sealed unsafe partial class PersistentMap<TKey, TValue>
{
    /// <summary>Stores a value. It replaces an earlier value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    public void Set(TKey key, TValue value)
    {
        if (FixedFormat.SizeOf<TKey>() != 0 && FixedFormat.SizeOf<TValue>() != 0 && _isFixed && !ReportsRemovals && TryReplaceFixed(key, value))
        {
            return;
        }

        Set(key, value, default);
    }

    /// <summary>Stores a value with an expiration of its own. It replaces an earlier value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <param name="expiration">When the value expires. The default is the map's. A moment that has passed removes the key.</param>
    public void Set(TKey key, TValue value, Expiration expiration)
    {
        if (ReportsRemovals)
        {
            SetAndReport(key, value, expiration);
            return;
        }

        using var codedKey = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]);
        using var codedValue = new Coded<TValue>(_values, value, stackalloc byte[MapCodec<TValue>.ScratchBytes]);
        if (!_collection.Set(codedKey.Bytes, codedValue.Bytes, expiration) && _isKept)
        {
            throw NotDone(WriteStatus.Busy);
        }
    }

    /// <summary>Stores a value if the key has none.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <param name="expiration">When the value expires. The default is the map's.</param>
    /// <returns>False if the key already has a value.</returns>
    /// <exception cref="StoreException">The write failed.</exception>
    public bool TryAdd(TKey key, TValue value, Expiration expiration = default) =>
        Write(key, value, expiration, expectedVersion: 0) switch
        {
            WriteStatus.Stored => true,
            WriteStatus.Exists => false,
            var status => throw NotDone(status),
        };

    /// <summary>Returns a key's value. If there is none, stores a value and returns it.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value to store if there is none.</param>
    /// <returns>The present value of the key.</returns>
    public TValue GetOrAdd(TKey key, TValue value)
    {
        TValue? present;
        while (!TryGet(key, out present))
        {
            if (IsAdded(Write(key, value, default, expectedVersion: 0)))
            {
                return value;
            }
        }

        return present;
    }

    /// <summary>Returns a key's value. If there is none, creates a value, stores it and returns it.</summary>
    /// <param name="key">The key.</param>
    /// <param name="make">
    /// Creates a value. Of several threads and processes that need the value at the same time, one runs it; the others wait for its result. If it throws, the
    /// exception is passed on to its caller, and the next one runs it. If its process ends, or if it takes longer than <see cref="StoreLease.Duration"/>, another
    /// caller runs it too. Readers and writers do not wait for it, and if one of them stores a value meanwhile, that value is returned. Within this function, a
    /// further call of this method runs its function without waiting for others, so that two such functions cannot wait for each other.
    /// </param>
    /// <returns>The present value of the key. If entries can be evicted and there is no room, the created value.</returns>
    public TValue GetOrAdd(TKey key, Func<TKey, TValue> make)
    {
        ArgumentNullException.ThrowIfNull(make);
        return GetOrAdd(key, static (key, make) => make(key), make);
    }

    /// <summary>Returns a key's value. If there is none, creates a value, stores it and returns it.</summary>
    /// <typeparam name="TArgument">The type of the argument of <paramref name="make"/>.</typeparam>
    /// <param name="key">The key.</param>
    /// <param name="make">Creates the value, as for the other overload.</param>
    /// <param name="argument">The argument of <paramref name="make"/>, so that the function needs no closure.</param>
    /// <returns>The present value of the key. If entries can be evicted and there is no room, the created value.</returns>
    public TValue GetOrAdd<TArgument>(TKey key, Func<TKey, TArgument, TValue> make, TArgument argument)
    {
        ArgumentNullException.ThrowIfNull(make);
        TValue? value;
        while (!TryGet(key, out value))
        {
            using StoreLease? lease = AcquireLease(key, out bool isStored);
            if (isStored)
            {
                continue;
            }

            MapFactories.Begin();
            try
            {
                value = make(key, argument);
            }
            finally
            {
                MapFactories.End();
            }

            // Without a lease, the value of the first caller counts. With one, the lease is over if another caller has stored a value.
            if (IsAdded(lease is null ? Write(key, value, default, expectedVersion: 0) : Write(lease, value)))
            {
                break;
            }
        }

        return value;
    }

    /// <summary>Stores a value if the key has none. Otherwise stores a new value that is computed from the present one.</summary>
    /// <param name="key">The key.</param>
    /// <param name="addValue">The value to store if there is none.</param>
    /// <param name="update">
    /// Computes the new value from the key and its present value. No lock is held during the call. It is called again if another writer has changed the
    /// value meanwhile.
    /// </param>
    /// <returns>The stored value. It expires as the map's default says.</returns>
    /// <exception cref="StoreException">The write failed.</exception>
    public TValue AddOrUpdate(TKey key, TValue addValue, Func<TKey, TValue, TValue> update)
    {
        ArgumentNullException.ThrowIfNull(update);
        return AddOrUpdate(key, static (_, arguments) => arguments.addValue, static (key, value, arguments) => arguments.update(key, value), (addValue, update));
    }

    /// <summary>Creates and stores a value if the key has none. Otherwise stores a new value that is computed from the present one.</summary>
    /// <typeparam name="TArgument">The type of the argument of the functions.</typeparam>
    /// <param name="key">The key.</param>
    /// <param name="add">Creates the value if there is none. No lock is held during the call. It can be called several times.</param>
    /// <param name="update">
    /// Computes the new value from the key and its present value. No lock is held during the call. It can be called several times.
    /// </param>
    /// <param name="argument">The argument of the functions, so that they need no closure.</param>
    /// <returns>The stored value. It expires as the map's default says.</returns>
    /// <exception cref="StoreException">The write failed.</exception>
    public TValue AddOrUpdate<TArgument>(
        TKey key, Func<TKey, TArgument, TValue> add, Func<TKey, TValue, TArgument, TValue> update, TArgument argument)
    {
        ArgumentNullException.ThrowIfNull(add);
        ArgumentNullException.ThrowIfNull(update);
        while (true)
        {
            TValue value = TryGetAny(key, out TValue? present, out ulong version)
                ? update(key, present, argument)
                : add(key, argument);
            WriteStatus status = Write(key, value, default, version);
            if (status == WriteStatus.Stored)
            {
                if (version != 0)
                {
                    Report(key, MapRemovalReason.Replaced);
                }

                return value;
            }

            if (status is not (WriteStatus.Exists or WriteStatus.VersionMismatch or WriteStatus.NotFound))
            {
                throw NotDone(status);
            }
        }
    }

    /// <summary>Changes the expiration of a key's value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="expiration">The new expiration. A moment that has passed removes the key.</param>
    /// <returns>False if there is no value.</returns>
    /// <exception cref="StoreException">The write failed.</exception>
    public bool Touch(TKey key, Expiration expiration)
    {
        using var coded = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]);
        return _collection.Touch(coded.Bytes, expiration) switch
        {
            WriteStatus.Stored => true,
            WriteStatus.NotFound => false,
            var status => throw NotDone(status),
        };
    }

    /// <summary>Removes a key's value.</summary>
    /// <param name="key">The key.</param>
    /// <returns>True if there was one.</returns>
    public bool Remove(TKey key)
    {
        using var coded = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]);
        if (!_collection.Remove(coded.Bytes))
        {
            return false;
        }

        Report(key, MapRemovalReason.Removed);
        return true;
    }

    /// <summary>Removes a key's value and returns it.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The removed value, if the result is true.</param>
    /// <returns>True if there was a value. If several callers remove it at the same time, only one of them gets it.</returns>
    /// <exception cref="StoreException">The removal failed.</exception>
    public bool Remove(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        using var coded = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]);
        while (TryRead(coded.Bytes, out value, out ulong version))
        {
            WriteStatus status = _collection.CompareAndRemove(coded.Bytes, version);
            if (status == WriteStatus.Stored)
            {
                Report(key, MapRemovalReason.Removed);
                return true;
            }

            if (status is not (WriteStatus.VersionMismatch or WriteStatus.NotFound))
            {
                throw NotDone(status);
            }
        }

        return false;
    }

    /// <summary>Removes everything, immediately and at no cost.</summary>
    /// <exception cref="StoreException">
    /// A part could not be cleared, because a stopped process holds its lock. Other parts can have been cleared.
    /// </exception>
    public void Clear()
    {
        IReadOnlyList<TKey> keys = ReportsRemovals ? GetAllKeys() : [];
        if (!_collection.Clear())
        {
            throw NotDone(WriteStatus.Busy);
        }

        foreach (TKey key in keys)
        {
            Report(key, MapRemovalReason.Removed);
        }
    }

    // Returns the right to create the value. Null if there is a value, if this thread runs a factory already, or if the store cannot lease the key.
    private StoreLease? AcquireLease(TKey key, out bool isStored)
    {
        isStored = false;
        if (MapFactories.IsInFactory)
        {
            return null;
        }

        using var coded = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]);
        isStored = _collection.AcquireLease(coded.Bytes, Timeout.InfiniteTimeSpan, out StoreLease? lease) == LeaseStatus.Hit;
        return lease;
    }

    private WriteStatus Write(StoreLease lease, TValue value)
    {
        using var coded = new Coded<TValue>(_values, value, stackalloc byte[MapCodec<TValue>.ScratchBytes]);
        return lease.Set(coded.Bytes, default, flags: 0);
    }

    // Returns whether the caller's value is the result of GetOrAdd: it was stored, or a cache has no room for it.
    private bool IsAdded(WriteStatus status) => status switch
    {
        WriteStatus.Stored => true,
        WriteStatus.Exists or WriteStatus.LeaseLost => false,
        WriteStatus.NoRoom or WriteStatus.Busy when !_isKept => true,
        _ => throw NotDone(status),
    };

    // If the expected version is 0, writes only if the key has no value. Otherwise writes only if the value still has that version.
    private WriteStatus Write(TKey key, TValue value, Expiration expiration, ulong expectedVersion)
    {
        using var codedKey = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]);
        using var codedValue = new Coded<TValue>(_values, value, stackalloc byte[MapCodec<TValue>.ScratchBytes]);
        return expectedVersion == 0
            ? _collection.Add(codedKey.Bytes, codedValue.Bytes, expiration)
            : _collection.CompareAndSwap(codedKey.Bytes, codedValue.Bytes, expectedVersion, expiration);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    [SkipLocalsInit]
    private bool TryReplaceFixed(TKey key, TValue value)
    {
        _engine.ThrowIfClosed();
        if (!CollectionRecord.IsPlain((CollectionRecord*)_engine.Memory.CollectionRecord((int)_shape.Collection)))
        {
            return false;
        }

        UInt128 keyBytes;
        UInt128 valueBytes;
        FixedFormat.Write(key, (byte*)&keyBytes);
        FixedFormat.Write(value, (byte*)&valueBytes);
        KeyPlacement place = _engine.Memory.Place(KeyHash.Compute((byte*)&keyBytes, FixedFormat.SizeOf<TKey>(), _keySeed));
        return _engine.TryReplacePlain(
            new BytesKey((byte*)&keyBytes, FixedFormat.SizeOf<TKey>()), _shape, place, ref *(byte*)&valueBytes, FixedFormat.SizeOf<TValue>(),
            isExact: true);
    }

    private StoreException NotDone(WriteStatus status) => status switch
    {
        WriteStatus.Busy => new StoreBusyException(
            $"A write to the map '{Name}' was not done, because a stopped process holds the lock of a part of the store '{_store.Path}'. Continue or end that process."),
        WriteStatus.NoRoom => new StoreException(
            $"A write to the map '{Name}' was not done: everything in the store '{_store.Path}' that could be evicted is pinned by readers."),
        _ => new StoreException($"A write to the map '{Name}' in the store '{_store.Path}' was not done: {status}."),
    };
}
