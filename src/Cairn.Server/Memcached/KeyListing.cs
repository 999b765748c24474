using System.Globalization;
using Cairn.Engine;
using Cairn.Protocol;
using Cairn.Server.Buffers;

namespace Cairn.Server.Memcached;

/// <summary>
/// Lists the keys of a store for <c>lru_crawler metadump</c> and <c>mgdump</c>, as the client reads them. Between two pieces, only the
/// position in the index is kept.
/// </summary>
internal struct KeyListing
{
    // The number of index buckets visited before other connections are served.
    private const int BucketsPerTurn = 4096;

    // memcached's classes are 1 to 63. All entries of the store are in the first.
    private const int MaxClass = 63;
    private const int MaxLineBytes = 1024;

    private long _bucket;

    /// <summary>Reads a list of classes. Returns -1 for an unknown class, 0 for classes without entries, 1 for all entries.</summary>
    public static int ClassesOf(ReadOnlySpan<byte> text)
    {
        if (text.SequenceEqual("all"u8) || text.SequenceEqual("hash"u8))
        {
            return 1;
        }

        int result = 0;
        foreach (Range range in text.Split((byte)','))
        {
            if (!int.TryParse(text[range], NumberStyles.None, CultureInfo.InvariantCulture, out int number) || number is < 1 or > MaxClass)
            {
                return -1;
            }

            result |= number == 1 ? 1 : 0;
        }

        return result;
    }

    /// <summary>Writes more keys. Returns false if there are others, which the next call writes.</summary>
    public bool TryWrite(MemcachedSessions sessions, bool isMgdump, OutputBuffer output)
    {
        StoreEngine engine = sessions.Store.Engine;
        long last = Math.Min(engine.BucketCount, _bucket + BucketsPerTurn);
        EntryVisitor visitor = (ReadOnlySpan<byte> key, in EntryInfo info, uint collection) =>
        {
            if (collection == 0 && info.Type == EntryType.Value && key.Length <= MemcachedReader.MaxKeyBytes)
            {
                Write(sessions, key, info, isMgdump, output);
            }
        };
        while (_bucket < last && !output.IsFull)
        {
            engine.VisitBucket(_bucket++, visitor);
        }

        if (_bucket < engine.BucketCount)
        {
            return false;
        }

        _bucket = 0;
        return true;
    }

    private static void Write(
        MemcachedSessions sessions, ReadOnlySpan<byte> key, in EntryInfo info, bool isMgdump, OutputBuffer output)
    {
        bool isPlain = key.IndexOfAnyExceptInRange((byte)33, (byte)126) < 0;
        var line = new MemcachedReplyWriter(output.Reserve(MaxLineBytes));
        if (isMgdump)
        {
            line.WriteRaw("mg "u8);
            if (isPlain)
            {
                line.WriteLine(key);
            }
            else
            {
                Span<byte> text = stackalloc byte[MaxLineBytes / 2];
                System.Buffers.Text.Base64.EncodeToUtf8(key, text, out _, out int length);
                line.WriteRaw(text[..length]);
                line.WriteRaw(" b\r\n"u8);
            }

            output.Advance(line.PendingBytes);
            return;
        }

        line.WriteRaw("key="u8);
        WriteEscaped(ref line, key);
        line.WriteRaw(" exp="u8);
        line.WriteDigits(info.DeadlineUnixMs == long.MaxValue ? -1 : info.DeadlineUnixMs / 1000);
        line.WriteRaw(" la="u8);
        line.WriteDigits(sessions.StartedAt.ToUnixTimeSeconds());
        line.WriteRaw(" cas="u8);
        line.WriteDigits((long)info.Version);
        line.WriteRaw(" fetch=no cls=1 size="u8);
        line.WriteDigits(EntryCommands.ItemBytesOf(key.Length, info));
        line.WriteRaw("\n"u8);
        output.Advance(line.PendingBytes);
    }

    // Escapes the key as in a URL: letters, digits and -._~ are unchanged, everything else becomes %XX.
    private static void WriteEscaped(ref MemcachedReplyWriter line, ReadOnlySpan<byte> key)
    {
        Span<byte> text = stackalloc byte[3 * MemcachedReader.MaxKeyBytes];
        int length = 0;
        foreach (byte b in key)
        {
            if (char.IsAsciiLetterOrDigit((char)b) || b is (byte)'-' or (byte)'.' or (byte)'_' or (byte)'~')
            {
                text[length++] = b;
            }
            else
            {
                text[length++] = (byte)'%';
                text[length++] = (byte)"0123456789ABCDEF"[b >> 4];
                text[length++] = (byte)"0123456789ABCDEF"[b & 15];
            }
        }

        line.WriteRaw(text[..length]);
    }
}
