using System.Globalization;
using Cairn.Engine;
using Cairn.Protocol;
using Cairn.Server.Buffers;
using Cairn.Server.Metrics;

namespace Cairn.Server.Memcached;

// lru_crawler metadump and mgdump: list the keys, written as the client reads them. Between two pieces, only the position of the scan is
// kept. The request is consumed when the last piece is written (I1).
internal sealed unsafe partial class MemcachedSession
{
    // The number of index buckets visited before other connections are served.
    private const int BucketsPerTurn = 4096;

    // memcached's classes are 1 to 63. All entries of the store are in the first.
    private const int MaxClass = 63;

    private long _listedBuckets = -1;

    private bool LruCrawler(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        MemcachedTokens words = request.EnumerateArguments(input);
        ReadOnlySpan<byte> what = words.MoveNext() ? words.Current : [];
        ReadOnlySpan<byte> how = words.MoveNext() ? words.Current : [];
        bool isMgdump = what.SequenceEqual("mgdump"u8);
        if (!how.IsEmpty && (isMgdump || what.SequenceEqual("metadump"u8)))
        {
            return List(how, isMgdump, output);
        }

        bool isCrawl = what.SequenceEqual("crawl"u8);
        bool isNumber = what.SequenceEqual("sleep"u8) || what.SequenceEqual("tocrawl"u8);
        if (how.IsEmpty ? what.SequenceEqual("enable"u8) || what.SequenceEqual("disable"u8) : isCrawl && ClassesOf(how) >= 0)
        {
            output.Write("OK\r\n"u8); // Expired entries are found without a crawler.
        }
        else if (!how.IsEmpty && isCrawl)
        {
            output.Write("BADCLASS invalid class id\r\n"u8);
        }
        else if (!how.IsEmpty && isNumber)
        {
            output.Write(
                uint.TryParse(how, NumberStyles.None, CultureInfo.InvariantCulture, out _)
                    ? "OK\r\n"u8
                    : ErrorText(MemcachedError.BadCommandLineFormat));
        }
        else
        {
            output.Write(ErrorText(MemcachedError.UnknownCommand));
        }

        return true;
    }

    // Returns -1 for an unknown class, 0 for classes without entries, 1 for all entries.
    private static int ClassesOf(ReadOnlySpan<byte> text)
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

    private bool List(ReadOnlySpan<byte> classes, bool isMgdump, OutputBuffer output)
    {
        int chosen = ClassesOf(classes);
        if (!_sessions.Options.AllowDump)
        {
            _recorder.CountError(RequestRecorder.Memcached + (int)_command);
            output.Write("CLIENT_ERROR metadump not allowed\r\n"u8);
            return true;
        }

        if (chosen < 0)
        {
            output.Write("BADCLASS invalid class id\r\n"u8);
            return true;
        }

        _listedBuckets = Math.Max(0, _listedBuckets);
        long last = chosen == 0 ? 0 : Math.Min(_engine.BucketCount, _listedBuckets + BucketsPerTurn);
        EntryVisitor visitor = (ReadOnlySpan<byte> key, in EntryInfo info, uint collection) =>
        {
            if (collection == 0 && info.Type == EntryType.Value && key.Length <= MemcachedReader.MaxKeyBytes)
            {
                WriteListed(key, info, isMgdump, output);
            }
        };
        while (_listedBuckets < last && !output.IsFull)
        {
            _engine.VisitBucket(_listedBuckets++, visitor);
        }

        if (chosen != 0 && _listedBuckets < _engine.BucketCount)
        {
            HasUnfinishedRequest = !output.IsFull; // With room in the output, no event would resume the connection.
            return false;
        }

        _listedBuckets = -1;
        output.Write(isMgdump ? "EN\r\n"u8 : "END\r\n"u8);
        return true;
    }

    private void WriteListed(ReadOnlySpan<byte> key, in EntryInfo info, bool isMgdump, OutputBuffer output)
    {
        bool isPlain = key.IndexOfAnyExceptInRange((byte)33, (byte)126) < 0;
        var line = new MemcachedReplyWriter(output.Reserve(MaxMetaLineBytes));
        if (isMgdump)
        {
            line.WriteRaw("mg "u8);
            if (isPlain)
            {
                line.WriteLine(key);
            }
            else
            {
                Span<byte> text = stackalloc byte[MaxMetaLineBytes / 2];
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
        WriteNumber(ref line, info.DeadlineUnixMs == long.MaxValue ? -1 : info.DeadlineUnixMs / 1000);
        line.WriteRaw(" la="u8);
        WriteNumber(ref line, _sessions.StartedAt.ToUnixTimeSeconds());
        line.WriteRaw(" cas="u8);
        WriteNumber(ref line, (long)info.Version);
        line.WriteRaw(" fetch=no cls=1 size="u8);
        WriteNumber(ref line, ItemBytesOf(key.Length, info));
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
