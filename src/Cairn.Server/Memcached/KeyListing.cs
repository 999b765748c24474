using Cairn.Engine;
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

    private const int MaxLineBytes = 1024;

    private long _bucket;

    /// <summary>Writes more keys. Returns false if there are others, which the next call writes.</summary>
    public bool TryWrite(MemcachedSessions sessions, bool isMgdump, OutputBuffer output)
    {
        StoreEngine engine = sessions.Store.Engine;
        long last = Math.Min(engine.BucketCount, _bucket + BucketsPerTurn);
        int partition = 0;
        EntryVisitor visitor = (ReadOnlySpan<byte> key, in EntryInfo info, uint collection) =>
        {
            if (sessions.Options.Pinned.Shows(collection) && info.Type == EntryType.Value && key.Length <= MemcachedReader.MaxKeyBytes)
            {
                Write(sessions, key, info, partition, isMgdump, output);
            }
        };
        while (_bucket < last && !output.IsFull)
        {
            partition = (int)(_bucket / engine.Memory.Layout.BucketsPerPartition);
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
        MemcachedSessions sessions, ReadOnlySpan<byte> key, in EntryInfo info, int partition, bool isMgdump, OutputBuffer output)
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
        long idleSeconds = sessions.WriteTimes.IdleSeconds(partition, info.Version, wasRead: false);
        line.WriteDigits(sessions.Options.Clock.GetUtcNow().ToUnixTimeSeconds() - idleSeconds);
        line.WriteRaw(" cas="u8);
        line.WriteDigits((long)sessions.TokenOf(partition, info));
        line.WriteRaw(" fetch=no cls=1 size="u8);
        line.WriteDigits(EntryCommands.ItemBytesOf(key.Length, info));
        line.WriteRaw("\n"u8);
        output.Advance(line.PendingBytes);
    }

    /// <summary>Returns a key as in a URL.</summary>
    public static string Escaped(ReadOnlySpan<byte> key)
    {
        Span<byte> text = new byte[3 * key.Length];
        return Encoding.ASCII.GetString(text[..Escape(key, text)]);
    }

    private static void WriteEscaped(ref MemcachedReplyWriter line, ReadOnlySpan<byte> key)
    {
        Span<byte> text = stackalloc byte[3 * MemcachedReader.MaxKeyBytes];
        line.WriteRaw(text[..Escape(key, text)]);
    }

    // Escapes the key as in a URL: letters, digits and -._~ are unchanged, everything else becomes %XX.
    private static int Escape(ReadOnlySpan<byte> key, Span<byte> text)
    {
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

        return length;
    }
}
