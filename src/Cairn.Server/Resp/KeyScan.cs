using Cairn.Engine;
using Cairn.Server.Pinning;
using Cairn.Storage;

namespace Cairn.Server.Resp;

// The keys that a scan of the store has found and that match, in one buffer, each with its length in front. A scan first visits buckets
// and then writes its keys. A command may pause in both phases (RespSession.Pieces).
internal sealed class KeyScan
{
    /// <summary>The number of buckets without keys that take as long as one ordinary key.</summary>
    public const int BucketsOfElement = 16;

    private const int KeptBytes = 64 << 10;

    /// <summary>The number of comparisons of a byte with a pattern that take as long as one ordinary key.</summary>
    public const int ComparisonsOfElement = 256;

    private byte[] _bytes = [];
    private int _used;
    private int _written;
    private byte[] _prefix = [];
    private PinnedKeys _pinned = PinnedKeys.None;
    private KeyFilter? _filter;
    private RespType? _type;
    private int _bytesAfterStar;
    private long _comparisons;
    private readonly EntryVisitor _visitor;

    public KeyScan() => _visitor = Visit;

    /// <summary>Gets the number of keys visited, matching or not.</summary>
    public long Seen { get; private set; }

    /// <summary>Gets the number of matching keys.</summary>
    public int Found { get; private set; }

    /// <summary>Gets or sets the next bucket.</summary>
    public long Bucket { get; set; }

    /// <summary>Gets or sets whether all buckets were visited and keys are being written.</summary>
    public bool IsWriting { get; set; }

    /// <summary>Gets the number of bytes of the matching keys, including their lengths.</summary>
    public int UsedBytes => _used;

    /// <summary>Gets the length in bytes of the reply with its keys, or slightly more.</summary>
    public long ReplyBytes => _used + (Found * (long)RespWriter.MaxHeaderBytes);

    /// <summary>Gets the length in bytes of its buffer.</summary>
    public int HeldBytes => _bytes.Length;

    public void Begin(byte[] prefix, PinnedKeys pinned, KeyFilter? filter, RespType? type)
    {
        _pinned = pinned;
        _prefix = prefix;
        _filter = filter;
        _type = type;
        _bytesAfterStar = filter?.BytesAfterStar ?? 0;
        _comparisons = 0;
        _used = _written = Found = 0;
        Seen = 0;
        Bucket = 0;
        IsWriting = false;
    }

    /// <summary>Collects the matching keys of the next bucket.</summary>
    /// <returns>The amount of work, in elements.</returns>
    public int Visit(StoreEngine engine)
    {
        long before = Seen;
        engine.VisitBucket(Bucket++, _visitor);
        (long elements, _comparisons) = Math.DivRem(_comparisons, ComparisonsOfElement);
        return (int)(Seen - before + elements) + (Bucket % BucketsOfElement == 0 ? 1 : 0);
    }

    /// <summary>Gets the next key to write. Returns false if there is none.</summary>
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

    /// <summary>Removes the keys found so far. Their number remains.</summary>
    public void ForgetKeys() => _used = 0;

    /// <summary>Frees memory that only many keys needed.</summary>
    /// <returns>The number of bytes freed.</returns>
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
        if (!_pinned.Shows(collection) || !key.StartsWith(_prefix) || (_type is { } type && type != RespTypes.Of(info)))
        {
            return;
        }

        _comparisons += (long)key.Length * _bytesAfterStar; // A maximum: a key that does not match the pattern's beginning takes fewer.
        if (_filter is not null && !_filter.Matches(key))
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
