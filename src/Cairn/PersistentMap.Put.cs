using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Cairn.Keys;
using Cairn.Maps;
using Cairn.Storage;

namespace Cairn;

// Writing.
public sealed unsafe partial class PersistentMap<TKey, TValue>
{
    /// <inheritdoc/>
    public void Put(TKey key, TValue value)
    {
        if (FixedFormat.SizeOf<TKey>() != 0 && FixedFormat.SizeOf<TValue>() != 0 && _isFixed && TryReplaceFixed(key, value))
        {
            return;
        }

        Put(key, value, default);
    }

    /// <summary>Stores a value, replacing any earlier one, with an expiration of its own.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <param name="expiration">When it expires; the default is the map's. A moment that has passed removes the key.</param>
    public void Put(TKey key, TValue value, Expiration expiration)
    {
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
    /// <param name="expiration">When it expires; the default is the map's.</param>
    /// <returns>False if the key has a value already.</returns>
    /// <exception cref="StoreException">It could not be done.</exception>
    public bool TryAdd(TKey key, TValue value, Expiration expiration = default) =>
        Write(key, value, expiration, expectedVersion: 0) switch
        {
            WriteStatus.Stored => true,
            WriteStatus.Exists => false,
            var status => throw NotDone(status),
        };

    /// <summary>A key's value; if there is none, stores one and returns it.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">To be stored if there is no value.</param>
    /// <returns>The value that the key has.</returns>
    public TValue GetOrAdd(TKey key, TValue value) => GetOrAdd(key, static (_, value) => value, value);

    /// <summary>A key's value; if there is none, makes one, stores it and returns it.</summary>
    /// <param name="key">The key.</param>
    /// <param name="make">
    /// Makes the value, without any lock being held: several threads and processes may do so at the same time, and what one of them stores first, all get. What
    /// it throws is thrown. To let only one of them make it, take a lease (<see cref="CairnCollection.AcquireLease"/>).
    /// </param>
    /// <returns>The value that the key has. Where entries may be evicted and there is no room, what was made.</returns>
    public TValue GetOrAdd(TKey key, Func<TKey, TValue> make)
    {
        ArgumentNullException.ThrowIfNull(make);
        return GetOrAdd(key, static (key, make) => make(key), make);
    }

    /// <summary>A key's value; if there is none, makes one, stores it and returns it.</summary>
    /// <typeparam name="TArgument">Of what is handed to <paramref name="make"/>.</typeparam>
    /// <param name="key">The key.</param>
    /// <param name="make">Makes the value, as for the other form.</param>
    /// <param name="argument">Handed to it, so that it needs no closure.</param>
    /// <returns>The value that the key has. Where entries may be evicted and there is no room, what was made.</returns>
    public TValue GetOrAdd<TArgument>(TKey key, Func<TKey, TArgument, TValue> make, TArgument argument)
    {
        ArgumentNullException.ThrowIfNull(make);
        TValue? value;
        while (!TryGet(key, out value))
        {
            value = make(key, argument);
            WriteStatus status = Write(key, value, default, expectedVersion: 0);
            if (status == WriteStatus.Stored || (!_isKept && status is WriteStatus.NoRoom or WriteStatus.Busy))
            {
                break;
            }

            if (status != WriteStatus.Exists)
            {
                throw NotDone(status);
            }
        }

        return value;
    }

    /// <summary>Stores a value if the key has none, else what is made of its value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="addValue">Stored if there is no value.</param>
    /// <param name="update">
    /// Makes the new value of the key and its value, without any lock being held. Called again if somebody else changed the value meanwhile.
    /// </param>
    /// <returns>What was stored. It expires as the map says.</returns>
    /// <exception cref="StoreException">It could not be done.</exception>
    public TValue AddOrUpdate(TKey key, TValue addValue, Func<TKey, TValue, TValue> update)
    {
        ArgumentNullException.ThrowIfNull(update);
        return AddOrUpdate(key, static (_, arguments) => arguments.addValue, static (key, value, arguments) => arguments.update(key, value), (addValue, update));
    }

    /// <summary>Stores what is made for a key that has no value, or of the value that it has.</summary>
    /// <typeparam name="TArgument">Of what is handed to the functions.</typeparam>
    /// <param name="key">The key.</param>
    /// <param name="add">Makes the value if there is none, without any lock being held; perhaps several times.</param>
    /// <param name="update">Makes the new value of the key and its value, without any lock being held; perhaps several times.</param>
    /// <param name="argument">Handed to them, so that they need no closure.</param>
    /// <returns>What was stored. It expires as the map says.</returns>
    /// <exception cref="StoreException">It could not be done.</exception>
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
                return value;
            }

            if (status is not (WriteStatus.Exists or WriteStatus.VersionMismatch or WriteStatus.NotFound))
            {
                throw NotDone(status);
            }
        }
    }

    /// <summary>Changes when a key's value expires.</summary>
    /// <param name="key">The key.</param>
    /// <param name="expiration">When it shall expire. A moment that has passed removes the key.</param>
    /// <returns>False if there is no value.</returns>
    /// <exception cref="StoreException">It could not be done.</exception>
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

    /// <inheritdoc/>
    public bool Invalidate(TKey key)
    {
        using var coded = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]);
        return _collection.Remove(coded.Bytes);
    }

    /// <summary>Removes a key's value and returns it.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">What was removed, if the result is true.</param>
    /// <returns>True if there was a value. Of several who remove it at the same time, one gets it.</returns>
    /// <exception cref="StoreException">It could not be done.</exception>
    public bool TryRemove(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        using var coded = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]);
        while (TryRead(coded.Bytes, out value, out ulong version))
        {
            WriteStatus status = _collection.Remove(coded.Bytes, version);
            if (status == WriteStatus.Stored)
            {
                return true;
            }

            if (status is not (WriteStatus.VersionMismatch or WriteStatus.NotFound))
            {
                throw NotDone(status);
            }
        }

        return false;
    }

    /// <summary>Removes everything, at once and at no cost.</summary>
    /// <exception cref="StoreException">A part could not be cleared, because a stopped process holds its lock. Others may be.</exception>
    public void Clear()
    {
        if (!_collection.Clear())
        {
            throw NotDone(WriteStatus.Busy);
        }
    }

    // If the version is 0, only where there is no value; else only where the value is still at it.
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
