using System.Buffers.Binary;
using Cairn.Engine;
using Cairn.Protocol;
using Cairn.Storage;

namespace Cairn.Server.Resp;

/// <summary>The keys that a scan has come by and that are wanted, one after the other in a buffer, each with its length before it.
/// One serves a session, again and again.</summary>
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
        if (_bytes.Length > KeptBytes)
        {
            _bytes = [];
        }
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
