namespace Cairn.Server.Resp.Tracking;

// Which clients have read which keys: so many keys and bytes at most, in the order in which they came. One that comes when all places are
// taken gets that of the key that has been there longest, whose clients are told that it changed. So does one for which bytes lack.
internal sealed class TrackedKeys(int mostKeys, long mostBytes)
{
    // What a key costs beyond its bytes, and a reader after the first.
    private const int KeyBytes = 128;
    private const int ReaderBytes = 16;

    private readonly Dictionary<ulong, int> _places = [];
    private readonly Stack<int> _free = new();
    private TrackedKey[] _keys = [];
    private int _used;
    private int _oldest;

    /// <summary>Memory that it takes.</summary>
    public long Bytes { get; private set; }

    /// <summary>Whether keys must be removed.</summary>
    public bool IsTooLong => Bytes > mostBytes;

    /// <summary>How many keys are remembered.</summary>
    public int Count => _places.Count;

    /// <summary>Places that were ever used, for who looks at all of them.</summary>
    public int Places => _used;

    public ref TrackedKey At(int place) => ref _keys[place];

    /// <summary>The key's place; -1 if it is not remembered.</summary>
    public int Find(ulong hash) => _places.TryGetValue(hash, out int place) ? place : -1;

    /// <summary>A place to be used by the next new key. Unless it is empty, what is there must be told and removed first.</summary>
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

    /// <summary>The place of the key that has been there longest, or nearly so. There must be one.</summary>
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

    public void AddReader(int place, RespSession session)
    {
        if (_keys[place].AddReader(session))
        {
            Bytes += ReaderBytes;
        }
    }

    /// <summary>Remembers a key at the place that <see cref="NextPlace"/> gave.</summary>
    public void Add(int place, ulong hash, byte[] key, bool wasThere, RespSession session)
    {
        if (_free.TryPeek(out int free) && free == place)
        {
            _free.Pop();
        }

        _places.Add(hash, place);
        Bytes += key.Length + KeyBytes;
        _keys[place] = new TrackedKey { Hash = hash, Key = key, WasThere = wasThere, First = session };
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

    /// <summary>Null at a place that is not used.</summary>
    public byte[]? Key;

    /// <summary>Whether the key was in the store when it was read.</summary>
    public bool WasThere;

    public RespSession First;

    /// <summary>The other readers; null if there are none.</summary>
    public List<RespSession>? More;

    /// <summary>False if it is known as one.</summary>
    public bool AddReader(RespSession session)
    {
        if (First == session || More?.Contains(session) == true)
        {
            return false;
        }

        (More ??= []).Add(session);
        return true;
    }
}
