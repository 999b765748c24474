using Cairn.Keys;

namespace Cairn.Server.Resp;

/// <summary>Words and numbers in requests and replies.</summary>
internal static class Text
{
    // A longer pattern would be tried at every position of a name. The time, the product of the two lengths, would delay other clients.
    internal const int LongestAfterStar = GlobAutomaton.LongestPattern;

    /// <summary>Compares letters without case; <paramref name="lower"/> is in lower case.</summary>
    public static bool EqualsIgnoreCase(ReadOnlySpan<byte> text, ReadOnlySpan<byte> lower) =>
        text.Length == lower.Length && Ascii.EqualsIgnoreCase(text, lower);

    /// <summary>Formats a number as Redis shows it to people.</summary>
    public static byte[] Format(ExtendedDouble number)
    {
        Span<byte> text = stackalloc byte[ExtendedDouble.MaxTextBytes];
        return text[..number.Format(text)].ToArray();
    }

    /// <summary>Converts bytes to text for an error or a list, one character per byte.</summary>
    public static string Latin(ReadOnlySpan<byte> bytes) => Encoding.Latin1.GetString(bytes);

    /// <summary>Converts text that <see cref="Latin"/> created back to bytes.</summary>
    public static byte[] Bytes(string text) => Encoding.Latin1.GetBytes(text);

    /// <summary>Returns whether text that <see cref="Latin"/> created matches. A long list is compared without an allocation for each.</summary>
    public static bool Matches(this KeyFilter filter, string text)
    {
        const int LongestOnStack = 256;
        Span<byte> bytes = text.Length <= LongestOnStack ? stackalloc byte[LongestOnStack] : new byte[text.Length];
        return filter.Matches(bytes[..Encoding.Latin1.GetBytes(text, bytes)]);
    }

    /// <summary>Writes text that <see cref="Latin"/> created, or ASCII text, as a bulk string.</summary>
    public static void WriteText(this ref RespWriter writer, string text)
    {
        writer.WriteBulkHeader(text.Length);
        Span<byte> room = writer.Reserve(text.Length);
        writer.Advance(Encoding.Latin1.GetBytes(text, room));
        writer.WriteLineEnd();
    }

    /// <summary>Reads a pattern, or writes the error.</summary>
    public static bool TryReadPattern(ReadOnlySpan<byte> text, [NotNullWhen(true)] out KeyFilter? filter, ref RespWriter writer)
    {
        filter = KeyFilter.Glob(text);
        if (filter.BytesAfterStar <= LongestAfterStar)
        {
            return true;
        }

        writer.WriteError(RespErrors.PatternTooLong);
        return false;
    }

    /// <summary>Reads an integer.</summary>
    public static bool TryParse(ReadOnlySpan<byte> text, out long value) => DecimalText.TryParseInt64(text, out value);

    /// <summary>Reads a scan's cursor as Redis and C do: a sign and leading zeros are allowed, and an empty text is 0.</summary>
    public static bool TryParseCursor(ReadOnlySpan<byte> text, out ulong cursor)
    {
        cursor = 0;
        bool isNegative = text.StartsWith("-"u8);
        ReadOnlySpan<byte> digits = isNegative || text.StartsWith("+"u8) ? text[1..] : text;
        if (digits.IsEmpty)
        {
            return text.IsEmpty;
        }

        foreach (byte digit in digits)
        {
            if (digit is < (byte)'0' or > (byte)'9' || cursor > (ulong.MaxValue - (digit - (uint)'0')) / 10)
            {
                return false;
            }

            cursor = (cursor * 10) + (digit - (uint)'0');
        }

        cursor = isNegative ? 0 - cursor : cursor;
        return true;
    }
}
