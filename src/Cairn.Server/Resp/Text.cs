using System.Text;
using Cairn.Protocol;

namespace Cairn.Server.Resp;

/// <summary>Words and numbers in requests and replies.</summary>
internal static class Text
{
    /// <summary>Whether these are the same letters; <paramref name="lower"/> is in lower case.</summary>
    public static bool EqualsIgnoreCase(ReadOnlySpan<byte> text, ReadOnlySpan<byte> lower) =>
        text.Length == lower.Length && Ascii.EqualsIgnoreCase(text, lower);

    /// <summary>A number as Redis writes it to people.</summary>
    public static byte[] Format(ExtendedDouble number)
    {
        Span<byte> text = stackalloc byte[ExtendedDouble.MaxTextBytes];
        return text[..number.Format(text)].ToArray();
    }

    /// <summary>Bytes as text in an error or a list, each as one character.</summary>
    public static string Latin(ReadOnlySpan<byte> bytes) => Encoding.Latin1.GetString(bytes);

    /// <summary>Text as it was read by <see cref="Latin"/>.</summary>
    public static byte[] Bytes(string text) => Encoding.Latin1.GetBytes(text);

    /// <summary>Writes text that was made by <see cref="Latin"/>, or is ASCII, as a bulk string.</summary>
    public static void WriteText(this ref RespWriter writer, string text)
    {
        writer.WriteBulkHeader(text.Length);
        Span<byte> room = writer.Reserve(text.Length);
        writer.Advance(Encoding.Latin1.GetBytes(text, room));
        writer.WriteLineEnd();
    }

    /// <summary>Reads a whole number.</summary>
    public static bool TryParse(ReadOnlySpan<byte> text, out long value) => DecimalText.TryParseInt64(text, out value);

    /// <summary>Reads a scan's cursor as Redis does, which is as C does: with a sign or zeros before it, and nothing is 0.</summary>
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
