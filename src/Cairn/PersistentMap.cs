using System.Collections;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Cairn.Engine;
using Cairn.Keys;
using Cairn.Maps;
using Cairn.Platform;
using Cairn.Storage;

namespace Cairn;

/// <summary>A dictionary in a store's file: it is still there when the process ends, and other processes may use it at the same time.</summary>
/// <typeparam name="TKey">
/// Of the keys. Numbers, <see cref="bool"/>, <see cref="char"/>, enumerations, <see cref="Guid"/>, <see cref="decimal"/>, the types of dates and times, text and arrays
/// of bytes have forms of their own; others are written as JSON, or by a serializer of yours (<see cref="MapOptions{TKey, TValue}"/>).
/// </typeparam>
/// <typeparam name="TValue">Of the values; the same types.</typeparam>
/// <remarks>
/// <para>
/// Every operation is safe from any thread of any process that has the store open, and operations on one key are linearizable, as those of
/// <see cref="CairnCollection"/>. Keys are the same if their bytes are: <c>1.0m</c> and <c>1.00m</c> are two, as are <c>0.0</c> and <c>-0.0</c>.
/// </para>
/// <para>
/// What is put is a copy, and what is got is a copy: changing an object does not change what the map holds.
/// </para>
/// <para>
/// Unless the options say otherwise, nothing is evicted. Then a write that cannot be done throws: <see cref="StoreFullException"/> if there is no room,
/// <see cref="StoreReadOnlyException"/> if the disk has failed, <see cref="StoreBusyException"/> if a stopped process holds the store's lock. Nothing was changed then,
/// and an entry that the disk has damaged is a <see cref="StoreCorruptException"/>. Where entries may be evicted, a put that cannot be done leaves the key without a value,
/// and what is damaged is gone.
/// </para>
/// <para>
/// Every operation throws <see cref="ArgumentException"/> for a key whose bytes are more than 65,536, or none, <see cref="ArgumentOutOfRangeException"/> for a value that is
/// longer than <see cref="CairnStore.MaxValueBytes"/>, <see cref="ObjectDisposedException"/> once the store is closed, and what a serializer throws.
/// </para>
/// </remarks>
/// <example>
/// <code>
/// using var stock = PersistentMap.Open&lt;string, int&gt;("stock.cairn");
/// stock["Dune"] = 3;
/// stock.AddOrUpdate("Dune", 1, (_, copies) => copies - 1);
/// </code>
/// </example>
public sealed unsafe partial class PersistentMap<TKey, TValue> : ICache<TKey, TValue>, IEnumerable<KeyValuePair<TKey, TValue>>, IDisposable
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

    // Both parts have the built-in fixed formats, and lie in the file as they are written, not encrypted.
    private readonly bool _isFixed;

    internal PersistentMap(CairnStore store, string name, MapOptions<TKey, TValue>? options, bool ownsStore)
    {
        if (name is MapTypes.CollectionName or MapTypes.DurableCollectionName)
        {
            throw new ArgumentException($"The name '{name}' is taken: what the keys and values of maps are is recorded there.", nameof(name));
        }

        _store = store;
        _ownsStore = ownsStore;
        _keys = MapCodecs.For(options?.KeySerializer, options?.JsonOptions);
        _values = MapCodecs.For(options?.ValueSerializer, options?.JsonOptions);
        var types = new MapTypes(
            NameOf(typeof(TKey), options?.KeyTypeName, nameof(options.KeyTypeName)), _keys.FormatId,
            NameOf(typeof(TValue), options?.ValueTypeName, nameof(options.ValueTypeName)), _values.FormatId);

        // Before anything of the map is changed.
        bool isRecorded = types.IsRecorded(store, name);
        bool keepsOptions = options is null && store.CollectionNames.Contains(name, StringComparer.Ordinal);
        _collection = store.Collection(name, keepsOptions ? null : (options ?? new MapOptions<TKey, TValue>()).ForCollection());
        _engine = _collection.Engine;
        var record = (CollectionRecord*)_engine.Memory.CollectionRecord((int)_collection.Number);
        if (!isRecorded)
        {
            types.Record(store, name, (Durability)record->Durability);
        }

        _isKept = record->Region == StoreRegion.Keep;
        _shape = new CollectionShape(_collection.Number, _isKept, _engine.Memory.ChecksumSeed);
        _keySeed = KeyHash.SeedOf(_collection.Number, _engine.Memory.KeySeed);
        _isFixed = FixedFormat.SizeOf<TKey>() != 0 && FixedFormat.SizeOf<TValue>() != 0
            && _keys is FixedCodec<TKey> && _values is FixedCodec<TValue> && !store.IsEncrypted;
    }

    /// <summary>The map's name: that of the collection that holds its entries.</summary>
    public string Name => _collection.Name;

    /// <summary>The store that the map lies in.</summary>
    public CairnStore Store => _store;

    /// <summary>
    /// How many entries there are. Costs microseconds: it adds up what the store's parts have counted, and so may count entries that have expired and were not
    /// yet cleaned away.
    /// </summary>
    public long Count
    {
        get
        {
            _engine.ThrowIfClosed();
            return _engine.CountOf(_collection.Number);
        }
    }

    /// <summary>A key's value.</summary>
    /// <param name="key">The key.</param>
    /// <exception cref="KeyNotFoundException">Read, and there is none.</exception>
    public TValue this[TKey key]
    {
        get => TryGet(key, out TValue? value) ? value : throw new KeyNotFoundException($"The map '{Name}' has no value for the key '{key}'.");
        set => Put(key, value);
    }

    /// <inheritdoc/>
    public TValue? Get(TKey key) => TryGet(key, out TValue? value) ? value : default;

    /// <inheritdoc/>
    public bool TryGet(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        if (FixedFormat.SizeOf<TKey>() != 0 && FixedFormat.SizeOf<TValue>() != 0 && _isFixed && TryGetFixed(key, out value))
        {
            return true;
        }

        return TryGetAny(key, out value, out _);
    }

    /// <inheritdoc/>
    public bool ContainsKey(TKey key)
    {
        using var coded = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]);
        return _collection.Contains(coded.Bytes);
    }

    /// <inheritdoc/>
    public IReadOnlyDictionary<TKey, TValue> GetAll()
    {
        KeyValuePair<TKey, TValue>[] items = CopyAll(wantsValues: true, out int count, out bool isSteady);
        var all = new MapSnapshot<TKey, TValue>(items, count);
        return isSteady ? all : all.WithoutRepetitions();
    }

    /// <inheritdoc/>
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

    /// <inheritdoc/>
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

    /// <summary>Goes through the entries, reading on as they are consumed, without a lock and without keeping anybody from changing the map.</summary>
    /// <returns>
    /// Keys and values as each was when it was read. A key that has a value from the beginning to the end is met exactly once, whatever changes meanwhile;
    /// one that comes, goes or is put anew after it was removed may be met or not, and even twice. <see cref="GetAll"/> has no key twice.
    /// </returns>
    public IEnumerator<KeyValuePair<TKey, TValue>> GetEnumerator()
    {
        _engine.ThrowIfClosed();
        return Enumerate();
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <summary>Closes the store if it was opened with the map (<see cref="PersistentMap.Open{TKey, TValue}(string, MapOptions{TKey, TValue}?)"/>); else does nothing.</summary>
    /// <remarks>Such a store is also closed when the process ends, by itself, by SIGTERM or by an exception that nobody handles.</remarks>
    public void Dispose()
    {
        if (_ownsStore)
        {
            CloseAtExit.Forget(_store);
            _store.Dispose();
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
            isExact: true, out _) >= 0;
        value = isFound ? FixedFormat.Read<TValue>((byte*)&valueBytes) : default;
        return isFound;
    }

    // The long way, for all types. The version is 0 if there is no value.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryGetAny(TKey key, [MaybeNullWhen(false)] out TValue value, out ulong version)
    {
        using var coded = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]);
        return TryRead(coded.Bytes, out value, out version);
    }

    [SkipLocalsInit]
    private bool TryRead(ReadOnlySpan<byte> key, [MaybeNullWhen(false)] out TValue value, out ulong version)
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

    private static string NameOf(Type type, string? name, string option)
    {
        // Without the assemblies of generic arguments, whose versions change.
        name ??= type.ToString();
        return name.Length is > 0 and <= MapTypes.LongestTypeName && !name.Contains('\n', StringComparison.Ordinal)
            ? name
            : throw new ArgumentException($"MapOptions.{option} must be 1 to {MapTypes.LongestTypeName:N0} characters in one line.", option);
    }
}
