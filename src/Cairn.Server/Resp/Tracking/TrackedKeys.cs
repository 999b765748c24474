namespace Cairn.Server.Resp.Tracking;

// Records which clients have read which keys, up to a number of keys and of bytes, in order of arrival. If all places are taken, or bytes
// are missing, the oldest key loses its place, and its clients receive an invalidation.
//
// A reader is identified by its number, so the table keeps no ended session alive. Ended readers are removed each time the number of a
// key's readers has doubled. So there are at most as many ended readers as others, or FewestPruned.
internal sealed class TrackedKeys(int mostKeys, long mostBytes, Func<long, bool> isHere)
{
    // The memory of a key beyond its bytes, and of each reader after the first.
    private const int KeyBytes = 128;
    private const int ReaderBytes = 48;

    private const int FewestPruned = 32;

    private readonly Dictionary<ulong, int> _places = [];
    private readonly Stack<int> _free = new();
    private TrackedKey[] _keys = [];
    private int _used;
    private int _oldest;

    /// <summary>Gets the memory that the table uses.</summary>
    public long Bytes { get; private set; }

    /// <summary>Gets whether keys must be removed.</summary>
    public bool IsTooLong => Bytes > mostBytes;

    /// <summary>Gets the number of keys in the table.</summary>
    public int Count => _places.Count;

    /// <summary>Gets the number of places that were ever used, for callers that visit all of them.</summary>
    public int Places => _used;

    public ref TrackedKey At(int place) => ref _keys[place];

    /// <summary>Returns the key's place, or -1 if it is not in the table.</summary>
    public int Find(ulong hash) => _places.TryGetValue(hash, out int place) ? place : -1;

    /// <summary>Returns the place for the next new key. If the place is not empty, the caller first invalidates and removes its
    /// key.</summary>
    public int NextPlace()
    {
        if (_free.TryPeek(out int place))
        {
            return place;
        }

        if (_used < mostKeys)
        {
            if (_used == _keys.Length)
            {
                Array.Resize(ref _keys, Math.Min(mostKeys, Math.Max(64, 2 * _used)));
            }

            _free.Push(_used++);
            return _used - 1;
        }

        int oldest = _oldest;
        _oldest = (oldest + 1) % mostKeys;
        return oldest;
    }

    /// <summary>Returns the place of the oldest key, or of a nearly as old one. There must be one.</summary>
    public int OldestPlace()
    {
        while (true)
        {
            int place = _oldest % _used;
            _oldest = (_oldest + 1) % mostKeys;
            if (_keys[place].Key is not null)
            {
                return place;
            }
        }
    }

    public void AddReader(int place, long reader)
    {
        ref TrackedKey key = ref _keys[place];
        if (key.First == reader || key.More?.Contains(reader) == true)
        {
            return;
        }

        key.More ??= [];
        if (key.More.Count >= Math.Max(FewestPruned, key.PruneAt))
        {
            Bytes -= ReaderBytes * (long)key.More.RemoveWhere(other => !isHere(other));
            key.PruneAt = 2 * key.More.Count;
        }

        key.More.Add(reader);
        Bytes += ReaderBytes;
    }

    /// <summary>Adds a key at the place that <see cref="NextPlace"/> returned.</summary>
    public void Add(int place, ulong hash, byte[] key, bool wasThere, long reader)
    {
        if (_free.TryPeek(out int free) && free == place)
        {
            _free.Pop();
        }

        _places.Add(hash, place);
        Bytes += key.Length + KeyBytes;
        _keys[place] = new TrackedKey { Hash = hash, Key = key, WasThere = wasThere, First = reader };
    }

    public void Remove(int place)
    {
        _places.Remove(_keys[place].Hash);
        Bytes -= _keys[place].Key!.Length + KeyBytes + (ReaderBytes * (_keys[place].More?.Count ?? 0));
        _keys[place] = default;
        _free.Push(place);
    }

    public void Clear()
    {
        _places.Clear();
        _free.Clear();
        _places.TrimExcess();
        _free.TrimExcess();
        _keys = [];
        Bytes = 0;
        _used = _oldest = 0;
    }
}

/// <summary>A key that clients have read.</summary>
internal struct TrackedKey
{
    public ulong Hash;

    /// <summary>The key; null at an empty place.</summary>
    public byte[]? Key;

    /// <summary>Whether the key was in the store when it was read.</summary>
    public bool WasThere;

    /// <summary>The number of the first reader.</summary>
    public long First;

    /// <summary>The numbers of the other readers; null if there are none.</summary>
    public HashSet<long>? More;

    /// <summary>The number of other readers at which ended ones are removed again.</summary>
    public int PruneAt;
}
