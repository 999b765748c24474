namespace Cairn.Server.Resp.Hashes;

// Edits a hash: loads its fields, sets and removes some, and then writes all of them again. All sessions of a worker share one editor.
//
//   I1  A removed record keeps its place, with the start Removed, until the next hash is loaded.
//   I2  An edit of many fields creates an index of all records that are not removed. Clients cannot predict the index's hash
//       function. So the time per field does not grow with the hash, whatever its fields are.
//   I3  The records of a sorted set that were loaded are in order. A changed one is removed and set again at the end, so every record from
//       _loaded on is new. Encoding sorts the new ones and merges them with the others.
internal sealed class HashEditor
{
    private const int KeptBytes = 64 << 10;
    private const int Removed = -1;

    // The number of searches before an index is created. Creating it takes as long as reading the whole hash.
    private const int FindsWithoutIndex = 32;

    // The fields and values of all records, including replaced ones.
    private byte[] _bytes = [];
    private int _used;
    private readonly List<uint> _hashes = [];
    private readonly List<(int Start, int FieldBytes, int ValueBytes)> _records = [];
    private readonly Comparison<(int Start, int FieldBytes, int ValueBytes)> _byScore; // Created only once.
    private HashSet<int>? _index;
    private bool _isSorted;
    private int _loaded;
    private int _finds;
    private byte[] _encoded = [];

    public HashEditor() => _byScore = CompareScores;

    public int Count { get; private set; }

    /// <summary>Starts with the fields of a hash, a set or, if <paramref name="isSorted"/> is true, a sorted set.</summary>
    public void Load(HashView hash, bool isSorted = false)
    {
        _isSorted = isSorted;
        _used = _finds = 0;
        _index = null;
        _hashes.Clear();
        _records.Clear();
        for (int i = 0; i < hash.Count; i++)
        {
            if (hash.TryGet(i, out ReadOnlySpan<byte> field, out ReadOnlySpan<byte> value))
            {
                _hashes.Add(HashView.HashOf(field));
                _records.Add(Keep(field, value));
            }
        }

        Count = _loaded = _records.Count;
    }

    /// <summary>Gets a field's value, which is valid until the next call that sets a field.</summary>
    public bool TryGet(ReadOnlySpan<byte> field, out ReadOnlySpan<byte> value)
    {
        value = default;
        int index = Find(field);
        if (index >= 0)
        {
            (int start, int fieldBytes, int valueBytes) = _records[index];
            value = _bytes.AsSpan(start + fieldBytes, valueBytes);
        }

        return index >= 0;
    }

    /// <summary>Sets a field. Returns true if it is new.</summary>
    public bool Set(ReadOnlySpan<byte> field, ReadOnlySpan<byte> value)
    {
        int index = Find(field);
        if (index >= 0 && !_isSorted)
        {
            _records[index] = Keep(field, value);
            return false;
        }

        if (index >= 0)
        {
            RemoveAt(index);
        }

        _hashes.Add(HashView.HashOf(field));
        _records.Add(Keep(field, value));
        _index?.Add(_records.Count - 1);
        Count++;
        return index < 0;
    }

    /// <summary>Removes a field. Returns true if it existed.</summary>
    public bool Remove(ReadOnlySpan<byte> field)
    {
        int index = Find(field);
        if (index < 0)
        {
            return false;
        }

        RemoveAt(index);
        return true;
    }

    /// <summary>Removes loaded fields by their indexes. Nothing was set or removed before.</summary>
    public void RemoveRange(int first, int count)
    {
        for (int i = first; i < first + count; i++)
        {
            RemoveAt(i);
        }
    }

    /// <summary>Encodes the hash. The bytes are valid until the next call. Returns false if they exceed the maximum length of a
    /// hash.</summary>
    public bool TryEncode(out ReadOnlySpan<byte> encoded)
    {
        long length = HashView.HeaderBytes;
        foreach ((int start, int fieldBytes, int valueBytes) in _records)
        {
            length += start == Removed ? 0 : (long)HashView.DirectoryBytes + HashView.RecordHeaderBytes + fieldBytes + valueBytes;
        }

        encoded = default;
        if (length > HashView.MaxBytes)
        {
            return false;
        }

        if (_encoded.Length < length)
        {
            _encoded = GC.AllocateUninitializedArray<byte>((int)Math.Max(length, 256));
        }

        Span<byte> target = _encoded.AsSpan(0, (int)length);
        BinaryPrimitives.WriteUInt32LittleEndian(target, (uint)Count);
        BinaryPrimitives.WriteUInt32LittleEndian(target[4..], 0);
        Span<byte> hashes = target[HashView.HeaderBytes..];
        Span<byte> ends = hashes[(Count * sizeof(uint))..];
        Span<byte> records = ends[(Count * sizeof(uint))..];
        int end = 0;
        int old = 0;
        int added = BeginOrder();
        for (int i = 0; i < Count; i++)
        {
            int record = Next(ref old, ref added);
            (int start, int fieldBytes, int valueBytes) = _records[record];
            BinaryPrimitives.WriteUInt32LittleEndian(records[end..], (uint)fieldBytes);
            _bytes.AsSpan(start, fieldBytes + valueBytes).CopyTo(records[(end + HashView.RecordHeaderBytes)..]);
            end += HashView.RecordHeaderBytes + fieldBytes + valueBytes;
            BinaryPrimitives.WriteUInt32LittleEndian(hashes[(i * sizeof(uint))..], _hashes[record]);
            BinaryPrimitives.WriteUInt32LittleEndian(ends[(i * sizeof(uint))..], (uint)end);
        }

        encoded = target;
        return true;
    }

    /// <summary>Frees memory that only a long hash needed.</summary>
    /// <returns>The number of bytes freed.</returns>
    public int Trim()
    {
        int bytes = _bytes.Length + _encoded.Length;
        if (bytes <= KeptBytes)
        {
            return 0;
        }

        _bytes = _encoded = [];
        _index = null;
        _records.Clear();
        _hashes.Clear();
        _records.TrimExcess();
        _hashes.TrimExcess();
        return bytes;
    }

    private void RemoveAt(int index)
    {
        _index?.Remove(index);
        _records[index] = (Removed, 0, 0);
        Count--;
    }

    // Sorts the new records of a sorted set (I3). Returns the first of them.
    private int BeginOrder()
    {
        if (!_isSorted)
        {
            return _loaded = _records.Count;
        }

        _index = null; // It would name other records.
        CollectionsMarshal.AsSpan(_records)[_loaded..].Sort(_byScore);
        for (int i = _loaded; i < _records.Count; i++)
        {
            _hashes[i] = HashView.HashOf(FieldOf(i));
        }

        return _loaded;
    }

    private int Next(ref int old, ref int added)
    {
        while (old < _loaded && _records[old].Start == Removed)
        {
            old++;
        }

        while (added < _records.Count && _records[added].Start == Removed)
        {
            added++;
        }

        bool isOld = added == _records.Count || (old < _loaded && CompareScores(_records[old], _records[added]) < 0);
        return isOld ? old++ : added++;
    }

    // Compares records by their scores, and records of the same score by their fields. Removed records come first.
    private int CompareScores((int Start, int FieldBytes, int ValueBytes) x, (int Start, int FieldBytes, int ValueBytes) y)
    {
        if (x.Start == Removed || y.Start == Removed)
        {
            return (x.Start == Removed ? 0 : 1) - (y.Start == Removed ? 0 : 1);
        }

        int order = ScoreOf(x).CompareTo(ScoreOf(y));
        return order != 0 ? order : _bytes.AsSpan(x.Start, x.FieldBytes).SequenceCompareTo(_bytes.AsSpan(y.Start, y.FieldBytes));
    }

    private double ScoreOf((int Start, int FieldBytes, int ValueBytes) record) =>
        SortedSetRange.ScoreOf(_bytes.AsSpan(record.Start + record.FieldBytes, record.ValueBytes));

    private int Find(ReadOnlySpan<byte> field)
    {
        if (_index is not null || ++_finds > FindsWithoutIndex)
        {
            _index ??= MakeIndex();
            return _index.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(field, out int record) ? record : -1;
        }

        uint hash = HashView.HashOf(field);
        ReadOnlySpan<uint> hashes = CollectionsMarshal.AsSpan(_hashes);
        int start = 0;
        while (hashes[start..].IndexOf(hash) is var place and >= 0)
        {
            int index = start + place;
            if (_records[index].Start != Removed && FieldOf(index).SequenceEqual(field))
            {
                return index;
            }

            start = index + 1;
        }

        return -1;
    }

    private ReadOnlySpan<byte> FieldOf(int record)
    {
        (int start, int fieldBytes, _) = _records[record];
        return start == Removed ? default : _bytes.AsSpan(start, fieldBytes);
    }

    private HashSet<int> MakeIndex()
    {
        var index = new HashSet<int>(_records.Count, new ByField(this));
        for (int i = 0; i < _records.Count; i++)
        {
            if (_records[i].Start != Removed)
            {
                index.Add(i);
            }
        }

        return index;
    }

    private (int Start, int FieldBytes, int ValueBytes) Keep(ReadOnlySpan<byte> field, ReadOnlySpan<byte> value)
    {
        int needed = _used + field.Length + value.Length;
        if (_bytes.Length < needed)
        {
            Array.Resize(ref _bytes, Math.Max(needed, Math.Max(256, _bytes.Length * 2)));
        }

        int start = _used;
        field.CopyTo(_bytes.AsSpan(start));
        value.CopyTo(_bytes.AsSpan(start + field.Length));
        _used = needed;
        return (start, field.Length, value.Length);
    }

    // Compares records by their fields.
    private sealed class ByField(HashEditor editor) : IEqualityComparer<int>, IAlternateEqualityComparer<ReadOnlySpan<byte>, int>
    {
        public bool Equals(int x, int y) => x == y;

        public int GetHashCode(int record) => GetHashCode(editor.FieldOf(record));

        public bool Equals(ReadOnlySpan<byte> field, int record) => editor.FieldOf(record).SequenceEqual(field);

        // The hash of a string, which .NET computes with a random key of the process. A character has two bytes.
        public int GetHashCode(ReadOnlySpan<byte> field) =>
            (string.GetHashCode(MemoryMarshal.Cast<byte, char>(field), StringComparison.Ordinal) * 257) + (field.Length % 2 == 0 ? 0 : field[^1] + 1);

        public int Create(ReadOnlySpan<byte> field) => throw new NotSupportedException();
    }
}
