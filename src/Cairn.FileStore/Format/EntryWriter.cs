using System.Buffers.Text;
using Cairn.FileStore.Entries;

namespace Cairn.FileStore.Format;

/// <summary>Writes entries as lines of the file format.</summary>
internal static class EntryWriter
{
    private const int LongestEscape = 6; // A code unit as \u1234. In UTF-8 a code unit takes at most 3 bytes.

    // Characters that JSON requires to be escaped, and surrogates, which may be unpaired.
    private static readonly SearchValues<char> NotPlain = SearchValues.Create(
        [.. Enumerable.Range(0, 32).Select(unit => (char)unit), '"', '\\', .. Enumerable.Range(0xD800, 0x800).Select(unit => (char)unit)]);

    /// <summary>Appends the line of an entry or of a removal, without the separator to other lines.</summary>
    /// <returns>The length of the line in bytes.</returns>
    public static int Write(ArrayBufferWriter<byte> target, Entry entry)
    {
        int start = target.WrittenCount;
        bool isShort = entry is { Value: string or JsonText, Sliding: null };
        target.Write(isShort ? "["u8 : "{\"key\":"u8);
        WriteString(target, entry.Key);
        switch (entry.Value)
        {
            case null:
                target.Write(",\"removed\":true"u8);
                break;
            case byte[] bytes:
                target.Write(",\"bytes\":\""u8);
                WriteBase64(target, bytes);
                target.Write("\""u8);
                break;
            case var value:
                target.Write(isShort ? ","u8 : ",\"value\":"u8);
                WriteValue(target, value);
                break;
        }

        WriteTime(target, isShort ? ",\""u8 : ",\"expires\":\""u8, entry.ExpiresTicks);
        if (entry.Sliding is { } sliding)
        {
            target.Write(",\"sliding\":\""u8);
            WriteSpan(target, sliding.Ticks);
            target.Write("\""u8);
            WriteTime(target, ",\"latest\":\""u8, sliding.LatestTicks);
        }

        target.Write(isShort ? "]"u8 : "}"u8);
        return target.WrittenCount - start;
    }

    /// <summary>Appends the line that changes only the expiration of an entry.</summary>
    public static int WriteTouch(ArrayBufferWriter<byte> target, string key, long expiresTicks)
    {
        int start = target.WrittenCount;
        target.Write("{\"key\":"u8);
        WriteString(target, key);
        WriteTime(target, ",\"touched\":\""u8, expiresTicks);
        target.Write("}"u8);
        return target.WrittenCount - start;
    }

    private static void WriteValue(ArrayBufferWriter<byte> target, object value)
    {
        if (value is JsonText json)
        {
            target.Write(json.Utf8);
        }
        else
        {
            WriteString(target, (string)value);
        }
    }

    private static void WriteString(ArrayBufferWriter<byte> target, string text)
    {
        target.Write("\""u8);
        ReadOnlySpan<char> rest = text;
        while (!rest.IsEmpty)
        {
            int plain = rest.IndexOfAny(NotPlain);
            if (plain < 0)
            {
                plain = rest.Length;
            }

            if (plain > 0)
            {
                Encoding.UTF8.GetBytes(rest[..plain], target);
                rest = rest[plain..];
                continue;
            }

            rest = rest[WriteSpecial(target, rest)..];
        }

        target.Write("\""u8);
    }

    private static int WriteSpecial(ArrayBufferWriter<byte> target, ReadOnlySpan<char> rest)
    {
        char unit = rest[0];
        if (char.IsHighSurrogate(unit) && rest.Length > 1 && char.IsLowSurrogate(rest[1]))
        {
            // Encodes a run of surrogate pairs at once, because text outside the basic plane often consists of pairs only.
            int length = 2;
            while (length + 1 < rest.Length && char.IsHighSurrogate(rest[length]) && char.IsLowSurrogate(rest[length + 1]))
            {
                length += 2;
            }

            Encoding.UTF8.GetBytes(rest[..length], target);
            return length;
        }

        switch (unit)
        {
            case '"':
                target.Write("\\\""u8);
                break;
            case '\\':
                target.Write("\\\\"u8);
                break;
            case '\n':
                target.Write("\\n"u8);
                break;
            case '\r':
                target.Write("\\r"u8);
                break;
            case '\t':
                target.Write("\\t"u8);
                break;
            default:
                Span<byte> escape = target.GetSpan(LongestEscape);
                "\\u"u8.CopyTo(escape);
                ((int)unit).TryFormat(escape[2..], out _, "x4", CultureInfo.InvariantCulture);
                target.Advance(LongestEscape);
                break;
        }

        return 1;
    }

    private static void WriteBase64(ArrayBufferWriter<byte> target, byte[] bytes)
    {
        Base64.EncodeToUtf8(bytes, target.GetSpan(Base64.GetMaxEncodedToUtf8Length(bytes.Length)), out _, out int written);
        target.Advance(written);
    }

    private static void WriteTime(ArrayBufferWriter<byte> target, ReadOnlySpan<byte> property, long ticks)
    {
        if (ticks == Entry.Never)
        {
            return;
        }

        target.Write(property);
        new DateTime(ticks, DateTimeKind.Utc).TryFormat(target.GetSpan(40), out int written, "yyyy-MM-dd'T'HH:mm:ss.FFFFFFFK", CultureInfo.InvariantCulture);
        target.Advance(written);
        target.Write("\""u8);
    }

    private static void WriteSpan(ArrayBufferWriter<byte> target, long ticks)
    {
        new TimeSpan(ticks).TryFormat(target.GetSpan(40), out int written, "c", CultureInfo.InvariantCulture);
        target.Advance(written);
    }
}
