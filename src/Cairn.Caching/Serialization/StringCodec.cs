using System.Text.Unicode;

namespace Cairn.Caching.Serialization;

// Text as UTF-8. A .NET string may also contain invalid Unicode, for example half of a surrogate pair, which UTF-8 cannot express. Such a
// string is written as the byte FF, with which no UTF-8 text begins, and its UTF-16 code units. So it is read back unchanged, without
// replacement characters.
internal sealed class StringCodec() : Codec<string>(options: null)
{
    private const byte Utf16Mark = 0xFF;
    private const int ShortChars = 1024;

    private static readonly UTF8Encoding StrictUtf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    public override byte Format => (byte)CairnFormat.Raw;

    public override void Serialize(string value, IBufferWriter<byte> target)
    {
        // Short text reserves the maximum that it may need. For long text that would be three times the usual need.
        if (value.Length <= ShortChars)
        {
            Span<byte> span = target.GetSpan(Math.Max(1, value.Length * 3));
            if (Utf8.FromUtf16(value, span, out _, out int written, replaceInvalidSequences: false) == OperationStatus.Done)
            {
                target.Advance(written);
                return;
            }
        }

        SerializeLong(value, target);
    }

    public override string Deserialize(ReadOnlyMemory<byte> source)
    {
        ReadOnlySpan<byte> bytes = source.Span;
        return bytes.Length > 0 && bytes[0] == Utf16Mark ? FromUtf16(bytes[1..]) : StrictUtf8.GetString(bytes);
    }

    private static void SerializeLong(string value, IBufferWriter<byte> target)
    {
        int bytes;
        try
        {
            bytes = StrictUtf8.GetByteCount(value);
        }
        catch (EncoderFallbackException)
        {
            SerializeUtf16(value, target);
            return;
        }

        target.Advance(StrictUtf8.GetBytes(value, target.GetSpan(Math.Max(1, bytes))));
    }

    private static void SerializeUtf16(string value, IBufferWriter<byte> target)
    {
        int bytes = checked(1 + (2 * value.Length));
        Span<byte> span = target.GetSpan(bytes);
        span[0] = Utf16Mark;
        MemoryMarshal.AsBytes<char>(value).CopyTo(span[1..]);
        target.Advance(bytes);
    }

    private static string FromUtf16(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length % 2 != 0)
        {
            throw new InvalidDataException("UTF-16 text has an odd number of bytes.");
        }

        return string.Create(bytes.Length / 2, bytes, static (chars, source) => source.CopyTo(MemoryMarshal.AsBytes(chars)));
    }
}
