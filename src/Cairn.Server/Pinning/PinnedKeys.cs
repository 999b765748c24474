using Cairn.Engine;
using Cairn.Keys;
using Cairn.Messages;
using Cairn.Storage;

namespace Cairn.Server.Pinning;

// Keys that begin with one of the operator's prefixes are pinned: they are in a kept collection, and all others are in the default collection.
// Clients see one name space. Every access to a key asks here for its collection, so a key is never looked for in the other one.

/// <summary>The keys of clients whose entries the store keeps. Thread-safe.</summary>
internal sealed unsafe class PinnedKeys
{
    /// <summary>The name of the kept collection.</summary>
    public const string CollectionName = "pinned";

    /// <summary>The maximum number of prefixes. A key is compared with each prefix that has its first byte.</summary>
    public const int MaxPrefixes = 64;

    private readonly byte[][] _prefixes;

    // By the first byte of a key: whether a prefix begins with it. Most keys are compared with no prefix.
    private readonly bool[] _begins = new bool[256];
    private readonly CairnCollection? _collection;
    private readonly uint _number;

    private PinnedKeys(byte[][] prefixes, CairnCollection? collection)
    {
        _prefixes = prefixes;
        _collection = collection;
        _number = collection?.Number ?? 0;
        foreach (byte[] prefix in prefixes)
        {
            _begins[prefix[0]] = true;
        }
    }

    /// <summary>Gets the value for a server that pins no keys.</summary>
    public static PinnedKeys None { get; } = new([], null);

    /// <summary>Gets whether there are no prefixes, so that every key is in the default collection.</summary>
    public bool IsEmpty
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _prefixes.Length == 0;
    }

    /// <summary>Opens the kept collection.</summary>
    /// <param name="store">The store.</param>
    /// <param name="prefixes">The prefixes. If there are none, no collection is opened.</param>
    /// <param name="limitBytes">The maximum number of bytes of the collection's entries, with their headers; 0 for a quarter of the file.</param>
    /// <exception cref="ServerException">The limit is more than half of the file.</exception>
    public static PinnedKeys Open(CairnStore store, IReadOnlyList<string> prefixes, long limitBytes)
    {
        if (prefixes.Count == 0)
        {
            return None;
        }

        long fileBytes = store.GetStatistics().FileBytes;
        if (limitBytes > fileBytes / 2)
        {
            throw new ServerException(
                $"Pinned entries may take at most half of the store, {ByteText.Of(fileBytes / 2)}, not {ByteText.Of(limitBytes)}: give a smaller --pin-limit or a larger store.");
        }

        var options = new CollectionOptions
        {
            Region = StoreRegion.Keep,
            BudgetBytes = limitBytes == 0 ? fileBytes / 4 : limitBytes,
            Durability = Durability.ProcessCrash, // A worker must not wait for the disk.
        };
        store.Engine.ThrowsForKept = false;
        return new PinnedKeys([.. prefixes.Select(Encoding.UTF8.GetBytes)], store.Collection(CollectionName, options));
    }

    /// <summary>Returns the number of the collection of a key.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public uint CollectionOf(byte* key, int length) => IsEmpty || length == 0 || !_begins[*key] ? 0 : Find(new ReadOnlySpan<byte>(key, length));

    /// <summary>Returns where a key is in the index.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public KeyPlacement PlaceOf(StoreEngine engine, byte* key, int length) =>
        engine.Memory.Place(engine.Memory.HashKey(key, length, CollectionOf(key, length)));

    /// <summary>Returns a key with its collection and place.</summary>
    public KeyRef Place(StoreEngine engine, byte* key, int length) => engine.Place(key, length, CollectionOf(key, length));

    /// <summary>Returns a key whose place is known.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public KeyRef At(byte* key, int length, in KeyPlacement place) => new(key, length, CollectionOf(key, length), place);

    /// <summary>Returns whether clients see the entries of a collection.</summary>
    public bool Shows(uint collection) => collection == 0 || collection == _number;

    /// <summary>Returns the number of entries that clients see.</summary>
    public long CountKeys(StoreStatistics statistics) => Math.Max(
        0,
        statistics.Totals.Entries
            - statistics.Collections.Where(one => one.Name.Length > 0 && !(one.Name == CollectionName && !IsEmpty)).Aggregate(0L, (sum, one) => sum + one.Entries));

    /// <summary>Returns the statistics of the kept collection; null if no keys are pinned.</summary>
    public CollectionStatistics? StatisticsIn(StoreStatistics statistics) =>
        IsEmpty ? null : statistics.Collections.FirstOrDefault(one => one.Name == CollectionName);

    /// <summary>Removes all entries that clients see. Returns false if a part is held by a process that does not run.</summary>
    public bool Clear(CairnStore store)
    {
        bool isCleared = store.DefaultCollection.Clear();
        return (_collection?.Clear() ?? true) && isCleared;
    }

    private uint Find(ReadOnlySpan<byte> key)
    {
        foreach (byte[] prefix in _prefixes)
        {
            if (key.StartsWith(prefix))
            {
                return _number;
            }
        }

        return 0;
    }
}
