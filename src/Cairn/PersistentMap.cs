using System.Collections;
using Cairn.Engine;
using Cairn.Keys;
using Cairn.Maps;
using Cairn.Platform;

namespace Cairn;

/// <summary>A dictionary in a store's file. It survives the process, and other processes can use it at the same time.</summary>
/// <typeparam name="TKey">
/// The type of the keys. Numbers, <see cref="bool"/>, <see cref="char"/>, enumerations, <see cref="Guid"/>, <see cref="decimal"/>, the types of dates and
/// times, text and arrays of bytes have built-in formats. Other types are written as JSON, or by a custom serializer
/// (<see cref="MapOptions{TKey, TValue}"/>).
/// </typeparam>
/// <typeparam name="TValue">The type of the values. The same types have built-in formats.</typeparam>
/// <remarks>
/// <para>
/// Every operation is safe from any thread of any process that has the store open. Operations on one key are linearizable, like those of
/// <see cref="CairnCollection"/>. Keys are equal if their bytes are equal: <c>1.0m</c> and <c>1.00m</c> are two keys, and so are <c>0.0</c> and
/// <c>-0.0</c>.
/// </para>
/// <para>
/// The map copies each value when it is set and when it is read. A change to an object does not change the content of the map.
/// </para>
/// <para>
/// By default nothing is evicted. A write that fails then throws an exception and changes nothing: <see cref="StoreFullException"/> if there is no room,
/// <see cref="StoreReadOnlyException"/> if the disk has failed, <see cref="StoreBusyException"/> if a stopped process holds the store's lock. A read of a
/// damaged entry throws <see cref="StoreCorruptException"/>. If entries can be evicted, a write that fails leaves the key without a value, and a damaged
/// entry is removed.
/// </para>
/// <para>
/// Every operation throws <see cref="ArgumentException"/> for a key of no bytes or more than 65,536 bytes, and <see cref="ArgumentOutOfRangeException"/>
/// for a value longer than <see cref="CairnStore.MaxValueBytes"/>. It throws <see cref="ObjectDisposedException"/> after the store is closed. Exceptions of
/// a serializer are passed on.
/// </para>
/// </remarks>
/// <example>
/// <code>
/// using var stock = PersistentMap.Open&lt;string, int&gt;("stock.cairn");
/// stock["Dune"] = 3;
/// stock.AddOrUpdate("Dune", 1, (_, copies) => copies - 1);
/// </code>
/// </example>
public sealed unsafe partial class PersistentMap<TKey, TValue> : IEnumerable<KeyValuePair<TKey, TValue>>, IDisposable
    where TKey : notnull
    where TValue : notnull
{
    private const int SmallValueBytes = 512;

    private readonly CairnStore _store;
    private readonly CairnCollection _collection;
    private readonly StoreEngine _engine;
    private readonly MapCodec<TKey> _keys;
    private readonly MapCodec<TValue> _values;
    private readonly CollectionShape _shape;
    private readonly ulong _keySeed;
    private readonly bool _isKept;
    private readonly bool _ownsStore;
    private readonly bool _isInMemory;

    // True if keys and values have built-in fixed formats and the file stores them without encryption.
    private readonly bool _isFixed;

    internal PersistentMap(CairnStore store, string name, MapOptions<TKey, TValue>? options, bool ownsStore, bool isInMemory = false)
    {
        if (name is MapTypes.CollectionName or MapTypes.DurableCollectionName)
        {
            throw new ArgumentException($"The name '{name}' is reserved for the collection that records the types of maps. Choose another name.", nameof(name));
        }

        _store = store;
        _ownsStore = ownsStore;
        _isInMemory = isInMemory;
        _keys = MapCodecs.For(options?.KeySerializer, options?.JsonOptions);
        _values = MapCodecs.For(options?.ValueSerializer, options?.JsonOptions);
        var types = new MapTypes(
            NameOf(typeof(TKey), options?.KeyTypeName, nameof(options.KeyTypeName)), _keys.FormatId,
            NameOf(typeof(TValue), options?.ValueTypeName, nameof(options.ValueTypeName)), _values.FormatId);

        // The recorded types are compared before anything of the map is changed.
        bool exists = store.CollectionNames.Contains(name, StringComparer.Ordinal);
        StoreOpenMode mode = options?.OpenMode ?? StoreOpenMode.OpenOrCreate;
        if (mode == (exists ? StoreOpenMode.CreateNew : StoreOpenMode.OpenExisting))
        {
            throw WrongMode(store, name, exists);
        }

        bool isRecorded = types.IsRecorded(store, name);
        bool keepsOptions = options is null && exists;
        _collection = store.Collection(name, keepsOptions ? null : (options ?? new MapOptions<TKey, TValue>()).ForCollection());
        _engine = _collection.Engine;
        var record = (CollectionRecord*)_engine.Memory.CollectionRecord((int)_collection.Number);
        if (!isRecorded && !types.TryRecord(store, name, (Durability)record->Durability) && mode == StoreOpenMode.CreateNew)
        {
            throw WrongMode(store, name, exists: true); // Another process has just created it.
        }

        _isKept = record->Region == StoreRegion.Keep;
        _shape = new CollectionShape(_collection.Number, _isKept, _engine.Memory.ChecksumSeed);
        _keySeed = KeyHash.SeedOf(_collection.Number, _engine.Memory.KeySeed);
        _isFixed = FixedFormat.SizeOf<TKey>() != 0 && FixedFormat.SizeOf<TValue>() != 0
            && _keys is MapFixedCodec<TKey> && _values is MapFixedCodec<TValue> && !store.IsEncrypted;
    }

    /// <summary>Gets the map's name, which is the name of the collection with its entries.</summary>
    public string Name => _collection.Name;

    /// <summary>Gets the collection with the map's entries.</summary>
    internal CairnCollection Collection => _collection;

    /// <summary>Gets the store that contains the map.</summary>
    public CairnStore Store => _store;

    /// <summary>
    /// Gets the number of entries. The call takes microseconds: it adds up the counters of the partitions. The number can include expired entries that are
    /// not removed yet.
    /// </summary>
    public long Count
    {
        get
        {
            _engine.ThrowIfClosed();
            return _engine.CountOf(_collection.Number);
        }
    }

    /// <summary>Gets or sets a key's value.</summary>
    /// <param name="key">The key.</param>
    /// <exception cref="KeyNotFoundException">The value was read, and the key has none.</exception>
    public TValue this[TKey key]
    {
        get => TryGet(key, out TValue? value) ? value : throw new KeyNotFoundException($"The map '{Name}' has no value for the key '{key}'.");
        set => Set(key, value);
    }

    /// <summary>Returns a key's value.</summary>
    /// <param name="key">The key.</param>
    /// <returns>The value, or the default of its type if there is none. <see cref="TryGet"/> distinguishes the two.</returns>
    public TValue? Get(TKey key) => TryGet(key, out TValue? value) ? value : default;

    /// <summary>Returns a key's value, and whether there is one.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value if the result is true.</param>
    /// <returns>True if there is a value.</returns>
    public bool TryGet(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        if (FixedFormat.SizeOf<TKey>() != 0 && FixedFormat.SizeOf<TValue>() != 0 && _isFixed && TryGetFixed(key, out value))
        {
            return true;
        }

        return TryGetAny(key, out value, out _);
    }

    /// <summary>Returns whether a key has a value.</summary>
    /// <param name="key">The key.</param>
    /// <returns>True if there is a value.</returns>
    public bool Contains(TKey key)
    {
        using var coded = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]);
        return _collection.Contains(coded.Bytes);
    }

    /// <summary>Returns a copy of everything.</summary>
    /// <returns>Keys and values, in no order.</returns>
    public IReadOnlyDictionary<TKey, TValue> GetAll()
    {
        KeyValuePair<TKey, TValue>[] items = CopyAll(wantsValues: true, out int count, out bool isSteady);
        var all = new MapSnapshot<TKey, TValue>(items, count);
        return isSteady ? all : all.WithoutRepetitions();
    }

    /// <summary>Returns a copy of all values.</summary>
    /// <returns>The values, in no order.</returns>
    public IReadOnlyList<TValue> GetAllValues()
    {
        KeyValuePair<TKey, TValue>[] items = CopyAll(wantsValues: true, out int count, out bool isSteady);
        if (!isSteady)
        {
            return [.. new MapSnapshot<TKey, TValue>(items, count).WithoutRepetitions().Values];
        }

        var values = new TValue[count];
        for (int i = 0; i < values.Length; i++)
        {
            values[i] = items[i].Value;
        }

        return values;
    }

    /// <summary>Returns a copy of all keys.</summary>
    /// <returns>The keys, in no order.</returns>
    public IReadOnlyList<TKey> GetAllKeys()
    {
        KeyValuePair<TKey, TValue>[] items = CopyAll(wantsValues: false, out int count, out bool isSteady);
        if (!isSteady)
        {
            return [.. new MapSnapshot<TKey, TValue>(items, count).WithoutRepetitions().Keys];
        }

        var keys = new TKey[count];
        for (int i = 0; i < keys.Length; i++)
        {
            keys[i] = items[i].Key;
        }

        return keys;
    }

    /// <summary>
    /// Enumerates the entries. The map is read while the caller consumes the enumeration, without a lock. Other threads and processes can change the map
    /// meanwhile.
    /// </summary>
    /// <returns>
    /// Keys and values, each as it was when it was read. A key that has a value during the whole enumeration occurs exactly once, even if other keys
    /// change. A key that is set or removed meanwhile can occur or not. If it is removed and set again, it can even occur twice. <see cref="GetAll"/>
    /// returns no key twice.
    /// </returns>
    public IEnumerator<KeyValuePair<TKey, TValue>> GetEnumerator()
    {
        _engine.ThrowIfClosed();
        return Enumerate();
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <summary>
    /// Closes the store if it was opened with the map (<see cref="PersistentMap.Open{TKey, TValue}(string, MapOptions{TKey, TValue}?)"/>). Otherwise does
    /// nothing.
    /// </summary>
    /// <remarks>Such a store is also closed when the process ends: normally, by SIGTERM, or by an unhandled exception.</remarks>
    public void Dispose()
    {
        if (_ownsStore)
        {
            CloseAtExit.Forget(_store);
            if (_isInMemory)
            {
                _store.Discard();
            }
            else
            {
                _store.Dispose();
            }
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    [SkipLocalsInit]
    private bool TryGetFixed(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        _engine.ThrowIfClosed();
        UInt128 keyBytes;
        UInt128 valueBytes;
        FixedFormat.Write(key, (byte*)&keyBytes);
        KeyPlacement place = _engine.Memory.Place(KeyHash.Compute((byte*)&keyBytes, FixedFormat.SizeOf<TKey>(), _keySeed));
        bool isFound = _engine.TryGetPlain(
            new BytesKey((byte*)&keyBytes, FixedFormat.SizeOf<TKey>()), _shape, place, ref *(byte*)&valueBytes, FixedFormat.SizeOf<TValue>(),
            isExact: true, out _, out _) >= 0;
        value = isFound ? FixedFormat.Read<TValue>((byte*)&valueBytes) : default;
        return isFound;
    }

    internal byte[] KeyBytes(TKey key)
    {
        using var coded = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]);
        return coded.Bytes.ToArray();
    }

    internal byte[] ValueBytes(TValue value)
    {
        using var coded = new Coded<TValue>(_values, value, stackalloc byte[MapCodec<TValue>.ScratchBytes]);
        return coded.Bytes.ToArray();
    }

    internal TValue ValueOf(ReadOnlySpan<byte> bytes) => _values.Read(bytes);

    // The slow path, for all types. The version is 0 if there is no value.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryGetAny(TKey key, [MaybeNullWhen(false)] out TValue value, out ulong version)
    {
        using var coded = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]);
        return TryRead(coded.Bytes, out value, out version);
    }

    [SkipLocalsInit]
    internal bool TryRead(ReadOnlySpan<byte> key, [MaybeNullWhen(false)] out TValue value, out ulong version)
    {
        Span<byte> small = stackalloc byte[SmallValueBytes];
        if (_collection.TryGet(key, small, out EntryInfo info))
        {
            value = _values.Read(small[..info.ValueBytes]);
            version = info.Version;
            return true;
        }

        while (info.ValueBytes > 0)
        {
            byte[] rented = System.Buffers.ArrayPool<byte>.Shared.Rent(info.ValueBytes);
            try
            {
                if (_collection.TryGet(key, rented, out info))
                {
                    value = _values.Read(rented.AsSpan(0, info.ValueBytes));
                    version = info.Version;
                    return true;
                }
            }
            finally
            {
                System.Buffers.ArrayPool<byte>.Shared.Return(rented);
            }
        }

        value = default;
        version = 0;
        return false;
    }

    private static StoreException WrongMode(CairnStore store, string name, bool exists) => new(
        exists
            ? $"The map '{name}' exists in the store '{store.Path}', and MapOptions.OpenMode is {nameof(StoreOpenMode.CreateNew)}. Choose another name or another mode."
            : $"The store '{store.Path}' has no map '{name}', and MapOptions.OpenMode is {nameof(StoreOpenMode.OpenExisting)}. Create the map first, or choose another mode.");

    private static string NameOf(Type type, string? name, string option)
    {
        // The name does not contain the assemblies of generic arguments, because their versions change.
        name ??= type.ToString();
        return name.Length is > 0 and <= MapTypes.LongestTypeName && !name.Contains('\n', StringComparison.Ordinal)
            ? name
            : throw new ArgumentException($"MapOptions.{option} must be 1 to {MapTypes.LongestTypeName:N0} characters in one line.", option);
    }
}
