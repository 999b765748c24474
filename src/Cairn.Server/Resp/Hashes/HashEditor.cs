using System.Buffers.Binary;
using System.Runtime.InteropServices;

namespace Cairn.Server.Resp.Hashes;

/// <summary>Makes a hash's bytes from those it had: fields are set and removed, then everything is written anew. One serves all sessions of
/// a worker.</summary>
internal sealed class HashEditor
{
    private const int KeptBytes = 64 << 10;

    // Fields and values of all records, also of those that were replaced.
    private byte[] _bytes = [];
    private int _used;
    private readonly List<uint> _hashes = [];
    private readonly List<(int Start, int FieldBytes, int ValueBytes)> _records = [];
    private byte[] _encoded = [];

    public int Count => _records.Count;

    /// <summary>Begins with these fields.</summary>
    public void Load(HashView hash)
    {
        _used = 0;
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
    }

    /// <summary>A field's value; valid until the next call that sets one.</summary>
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

    /// <summary>Sets a field. True if it is new.</summary>
    public bool Set(ReadOnlySpan<byte> field, ReadOnlySpan<byte> value)
    {
        int index = Find(field);
        if (index >= 0)
        {
            _records[index] = Keep(field, value);
            return false;
        }

        _hashes.Add(HashView.HashOf(field));
        _records.Add(Keep(field, value));
        return true;
    }

    /// <summary>Removes a field. True if it was there.</summary>
    public bool Remove(ReadOnlySpan<byte> field)
    {
        int index = Find(field);
        if (index < 0)
        {
            return false;
        }

        _hashes.RemoveAt(index);
        _records.RemoveAt(index);
        return true;
    }

    /// <summary>The hash's bytes; valid until the next call. False if they are more than a hash may have.</summary>
    public bool TryEncode(out ReadOnlySpan<byte> encoded)
    {
        long length = HashView.HeaderBytes;
        foreach ((_, int fieldBytes, int valueBytes) in _records)
        {
            length += (long)HashView.DirectoryBytes + HashView.RecordHeaderBytes + fieldBytes + valueBytes;
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
        for (int i = 0; i < Count; i++)
        {
            (int start, int fieldBytes, int valueBytes) = _records[i];
            BinaryPrimitives.WriteUInt32LittleEndian(records[end..], (uint)fieldBytes);
            _bytes.AsSpan(start, fieldBytes + valueBytes).CopyTo(records[(end + HashView.RecordHeaderBytes)..]);
            end += HashView.RecordHeaderBytes + fieldBytes + valueBytes;
            BinaryPrimitives.WriteUInt32LittleEndian(hashes[(i * sizeof(uint))..], _hashes[i]);
            BinaryPrimitives.WriteUInt32LittleEndian(ends[(i * sizeof(uint))..], (uint)end);
        }

        encoded = target;
        return true;
    }

    /// <summary>Lets go of what only a long hash needed.</summary>
    /// <returns>Its bytes.</returns>
    public int Trim()
    {
        int bytes = _bytes.Length + _encoded.Length;
        if (bytes <= KeptBytes)
        {
            return 0;
        }

        _bytes = _encoded = [];
        _records.Clear();
        _hashes.Clear();
        _records.TrimExcess();
        _hashes.TrimExcess();
        return bytes;
    }

    private int Find(ReadOnlySpan<byte> field)
    {
        uint hash = HashView.HashOf(field);
        ReadOnlySpan<uint> hashes = CollectionsMarshal.AsSpan(_hashes);
        int start = 0;
        while (hashes[start..].IndexOf(hash) is var place and >= 0)
        {
            int index = start + place;
            (int at, int fieldBytes, _) = _records[index];
            if (_bytes.AsSpan(at, fieldBytes).SequenceEqual(field))
            {
                return index;
            }

            start = index + 1;
        }

        return -1;
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
}
