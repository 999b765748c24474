namespace Cairn.Server.Resp.Hashes;

// A hash is one entry, so its fields are stored and removed together. Its bytes, with numbers in little endian:
//
//   0   count            u32
//   4   0                u32
//   8   field hashes     count x u32
//       record ends      count x u32, from the first record's start
//       records          u32 bytes of the field | field | value
//
// Fields are in the order in which they were first set. A search compares hashes first. All hashes are adjacent, so a search accesses
// only the matching record.
internal readonly ref struct HashView
{
    /// <summary>The maximum length of a hash in bytes, including headers.</summary>
    public const int MaxBytes = 1 << 20;

    /// <summary>The number of bytes before the directory.</summary>
    public const int HeaderBytes = 8;

    /// <summary>The number of directory bytes per field.</summary>
    public const int DirectoryBytes = 8;

    /// <summary>The number of bytes of a record before its field.</summary>
    public const int RecordHeaderBytes = 4;

    /// <summary>The number of fields that fit in the longest hash.</summary>
    public const int MaxFields = (MaxBytes - HeaderBytes) / (DirectoryBytes + RecordHeaderBytes);

    private readonly ReadOnlySpan<byte> _bytes;

    /// <summary>Creates a view of a hash's bytes. Without bytes, or with inconsistent bytes, the hash has no fields.</summary>
    public HashView(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length >= HeaderBytes
            && BinaryPrimitives.ReadUInt32LittleEndian(bytes) is var count
            && count <= (bytes.Length - HeaderBytes) / DirectoryBytes)
        {
            _bytes = bytes;
            Count = (int)count;
        }
    }

    public int Count { get; }

    /// <summary>Gets the length of the hash in bytes.</summary>
    public int Bytes => _bytes.Length;

    /// <summary>Returns the hash code by which a field is searched.</summary>
    public static uint HashOf(ReadOnlySpan<byte> field)
    {
        // FNV-1a: fields are short, and a collision costs one comparison.
        uint hash = 2_166_136_261;
        foreach (byte value in field)
        {
            hash = (hash ^ value) * 16_777_619;
        }

        return hash;
    }

    /// <summary>Returns a field's index, or -1 if the field does not exist.</summary>
    public int Find(ReadOnlySpan<byte> field)
    {
        uint hash = HashOf(field);
        ReadOnlySpan<uint> hashes = MemoryMarshal.Cast<byte, uint>(_bytes.Slice(_bytes.IsEmpty ? 0 : HeaderBytes, Count * sizeof(uint)));
        int start = 0;
        while (hashes[start..].IndexOf(hash) is var place and >= 0)
        {
            int index = start + place;
            if (TryGet(index, out ReadOnlySpan<byte> candidate, out _) && candidate.SequenceEqual(field))
            {
                return index;
            }

            start = index + 1;
        }

        return -1;
    }

    /// <summary>Gets a field's value. Returns false if the field does not exist.</summary>
    public bool TryGet(ReadOnlySpan<byte> field, out ReadOnlySpan<byte> value)
    {
        value = default;
        int index = Find(field);
        return index >= 0 && TryGet(index, out _, out value);
    }

    /// <summary>Gets a field and its value. Returns false only if the bytes were changed while they were read.</summary>
    public bool TryGet(int index, out ReadOnlySpan<byte> field, out ReadOnlySpan<byte> value)
    {
        field = value = default;
        int records = HeaderBytes + (Count * DirectoryBytes);
        uint start = index == 0 ? 0 : EndOf(index - 1);
        uint end = EndOf(index);
        if (end > _bytes.Length - records || start > end || end - start < RecordHeaderBytes)
        {
            return false;
        }

        ReadOnlySpan<byte> record = _bytes.Slice(records + (int)start, (int)(end - start));
        uint fieldBytes = BinaryPrimitives.ReadUInt32LittleEndian(record);
        if (fieldBytes > record.Length - RecordHeaderBytes)
        {
            return false;
        }

        field = record.Slice(RecordHeaderBytes, (int)fieldBytes);
        value = record[(RecordHeaderBytes + (int)fieldBytes)..];
        return true;
    }

    private uint EndOf(int index) =>
        BinaryPrimitives.ReadUInt32LittleEndian(_bytes[(HeaderBytes + ((Count + index) * sizeof(uint)))..]);
}
