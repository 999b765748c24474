using System.Buffers.Binary;
using Cairn.Engine;
using Cairn.Protocol;
using Cairn.Storage;

namespace Cairn.Server.Resp;

// The keys that a scan of the store has come by and that are wanted, one after the other in a buffer, each with its length before it. A scan
// goes through buckets, and then its keys are written; a command pauses in either (RespSession.Pieces).
internal sealed class KeyScan
{
    /// <summary>Buckets without keys that are visited in the time that an ordinary key takes.</summary>
    public const int BucketsOfElement = 16;

    private const int KeptBytes = 64 << 10;

    private byte[] _bytes = [];
    private int _used;
    private int _written;
    private byte[] _prefix = [];
    private KeyFilter? _filter;
    private EntryType? _type;
    private readonly EntryVisitor _visitor;

    public KeyScan() => _visitor = Visit;

    /// <summary>Keys come by, wanted or not.</summary>
    public long Seen { get; private set; }

    /// <summary>Those that are wanted.</summary>
    public int Found { get; private set; }

    /// <summary>The bucket that comes next.</summary>
    public long Bucket { get; set; }

    /// <summary>Whether all buckets were visited, and keys are written.</summary>
    public bool IsWriting { get; set; }

    /// <summary>Bytes of the keys that are wanted, with a length for each.</summary>
    public int UsedBytes => _used;

    /// <summary>Bytes of the reply that its keys are, or a few more.</summary>
    public long ReplyBytes => _used + (Found * (long)RespWriter.MaxHeaderBytes);

    /// <summary>Bytes of its buffer.</summary>
    public int HeldBytes => _bytes.Length;

    public void Begin(byte[] prefix, KeyFilter? filter, EntryType? type)
    {
        _prefix = prefix;
        _filter = filter;
        _type = type;
        _used = _written = Found = 0;
        Seen = 0;
        Bucket = 0;
        IsWriting = false;
    }

    /// <summary>Takes in the keys of the next bucket that are wanted.</summary>
    /// <returns>The work that it was, in elements.</returns>
    public int Visit(StoreEngine engine)
    {
        long before = Seen;
        engine.VisitBucket(Bucket++, _visitor);
        return (int)(Seen - before) + (Bucket % BucketsOfElement == 0 ? 1 : 0);
    }

    /// <summary>The next key to be written. False if there is none.</summary>
    public bool TryTake(out ReadOnlySpan<byte> key)
    {
        key = default;
        if (_written == _used)
        {
            return false;
        }

        ReadOnlySpan<byte> rest = _bytes.AsSpan(_written, _used - _written);
        int end = sizeof(int) + BinaryPrimitives.ReadInt32LittleEndian(rest);
        key = rest[sizeof(int)..end];
        _written += end;
        return true;
    }

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

    private void Visit(ReadOnlySpan<byte> key, in EntryInfo info, uint collection)
    {
        Seen++;
        if (collection != 0 || !key.StartsWith(_prefix)
            || (_type is { } type && type != info.Type) || (_filter is not null && !_filter.Matches(key)))
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
        Found++;
    }
}
