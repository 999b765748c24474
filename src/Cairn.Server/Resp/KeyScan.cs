using System.Buffers.Binary;
using Cairn.Engine;
using Cairn.Protocol;
using Cairn.Storage;

namespace Cairn.Server.Resp;

/// <summary>The keys that a scan has come by and that are wanted, one after the other in a buffer, each with its length before it.
/// One serves all sessions of a worker.</summary>
internal sealed class KeyScan
{
    private const int KeptBytes = 64 << 10;

    private byte[] _bytes = [];
    private int _used;
    private int _found;
    private byte[] _prefix = [];
    private KeyFilter? _filter;
    private EntryType? _type;

    public KeyScan() => Visitor = Visit;

    /// <summary>Takes a key in, if it is wanted.</summary>
    public EntryVisitor Visitor { get; }

    /// <summary>Keys come by, wanted or not.</summary>
    public long Seen { get; private set; }

    public void Begin(byte[] prefix, KeyFilter? filter, EntryType? type)
    {
        _prefix = prefix;
        _filter = filter;
        _type = type;
        _used = _found = 0;
        Seen = 0;
    }

    /// <summary>Bytes of the keys that are wanted, with a length for each.</summary>
    public int UsedBytes => _used;

    /// <summary>Bytes of the reply that <see cref="WriteKeys"/> writes, or a few more.</summary>
    public long ReplyBytes => _used + (_found * (long)RespWriter.MaxHeaderBytes);

    /// <summary>Lets go of what only many keys needed.</summary>
    /// <returns>Its bytes.</returns>
    public int Trim()
    {
        int bytes = _bytes.Length;
        if (bytes <= KeptBytes)
        {
            return 0;
        }

        _bytes = [];
        return bytes;
    }

    /// <summary>Writes the keys as an array.</summary>
    public void WriteKeys(ref RespWriter writer)
    {
        writer.WriteArrayHeader(_found);
        ReadOnlySpan<byte> rest = _bytes.AsSpan(0, _used);
        while (!rest.IsEmpty)
        {
            int end = sizeof(int) + BinaryPrimitives.ReadInt32LittleEndian(rest);
            writer.WriteBulk(rest[sizeof(int)..end]);
            rest = rest[end..];
        }
    }

    private void Visit(ReadOnlySpan<byte> key, in EntryInfo info, uint collection)
    {
        if (collection != 0 || !key.StartsWith(_prefix))
        {
            return;
        }

        Seen++;
        if ((_type is { } type && type != info.Type) || (_filter is not null && !_filter.Matches(key)))
        {
            return;
        }

        int end = _used + sizeof(int) + key.Length;
        if (_bytes.Length < end)
        {
            Array.Resize(ref _bytes, Math.Max(end, Math.Max(1024, 2 * _bytes.Length)));
        }

        BinaryPrimitives.WriteInt32LittleEndian(_bytes.AsSpan(_used), key.Length);
        key.CopyTo(_bytes.AsSpan(_used + sizeof(int)));
        _used = end;
        _found++;
    }
}
