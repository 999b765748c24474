using System.Buffers.Text;

namespace Cairn.Protocol;

/// <summary>Reads and writes whole numbers as decimal text.</summary>
/// <remarks>Parsing is as strict as in Redis: each number has exactly one text, so reading and writing a number preserves its text.</remarks>
internal static class DecimalText
{
    /// <summary>The length of the longest text of a signed number, in bytes.</summary>
    public const int MaxInt64Bytes = 20;

    /// <summary>The length of the longest text of an unsigned number, in bytes.</summary>
    public const int MaxUInt64Bytes = 20;

    /// <summary>Reads a signed number: an optional minus, then digits. The first digit is 0 only in the text <c>0</c>.</summary>
    /// <param name="text">The text, which must contain only the number.</param>
    /// <param name="value">The number.</param>
    /// <returns><see langword="false"/> if the text is not a number, or the number is out of range.</returns>
    public static bool TryParseInt64(ReadOnlySpan<byte> text, out long value)
    {
        if (text.Length == 1)
        {
            value = text[0] - '0';
            if ((ulong)value <= 9)
            {
                return true;
            }
        }
        else if (text.Length > 1 && text[0] == '-')
        {
            bool isParsed = TryParseUInt64(text[1..], out ulong magnitude) && magnitude - 1 < 1UL << 63; // Rejects -0 too.
            value = isParsed ? (long)(0 - magnitude) : 0;
            return isParsed;
        }
        else if (TryParseUInt64(text, out ulong magnitude) && magnitude <= long.MaxValue)
        {
            value = (long)magnitude;
            return true;
        }

        value = 0;
        return false;
    }

    /// <summary>Reads an unsigned number: digits, of which the first is 0 only in the text <c>0</c>.</summary>
    /// <param name="text">The text, which must contain only the number.</param>
    /// <param name="value">The number.</param>
    /// <returns><see langword="false"/> if the text is not a number, or the number is out of range.</returns>
    public static bool TryParseUInt64(ReadOnlySpan<byte> text, out ulong value)
    {
        value = 0;
        if ((uint)(text.Length - 1) >= MaxUInt64Bytes || (text[0] == '0' && text.Length > 1))
        {
            return false;
        }

        // Nineteen digits always fit.
        ulong result = 0;
        int safe = Math.Min(text.Length, MaxUInt64Bytes - 1);
        for (int i = 0; i < safe; i++)
        {
            uint digit = (uint)(text[i] - '0');
            if (digit > 9)
            {
                return false;
            }

            result = (result * 10) + digit;
        }

        if (text.Length == MaxUInt64Bytes)
        {
            uint digit = (uint)(text[MaxUInt64Bytes - 1] - '0');
            if (digit > 9 || result > (ulong.MaxValue - digit) / 10)
            {
                return false;
            }

            result = (result * 10) + digit;
        }

        value = result;
        return true;
    }

    /// <summary>Writes a signed number.</summary>
    /// <param name="value">The number.</param>
    /// <param name="destination">The buffer: <see cref="MaxInt64Bytes"/> bytes, or at least the length of the text.</param>
    /// <returns>The number of bytes written.</returns>
    /// <exception cref="ArgumentException">The destination is too short.</exception>
    public static int Format(long value, Span<byte> destination)
    {
        if (value >= 0)
        {
            return Format((ulong)value, destination);
        }

        if (destination.IsEmpty)
        {
            ThrowTooShort();
        }

        destination[0] = (byte)'-';
        return 1 + Format(0 - (ulong)value, destination[1..]);
    }

    /// <summary>Writes an unsigned number.</summary>
    /// <param name="value">The number.</param>
    /// <param name="destination">The buffer: <see cref="MaxUInt64Bytes"/> bytes, or at least the length of the text.</param>
    /// <returns>The number of bytes written.</returns>
    /// <exception cref="ArgumentException">The destination is too short.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Format(ulong value, Span<byte> destination)
    {
        if (value < 10 && !destination.IsEmpty)
        {
            destination[0] = (byte)('0' + value);
            return 1;
        }

        return FormatLong(value, destination);
    }

    private static int FormatLong(ulong value, Span<byte> destination)
    {
        if (!Utf8Formatter.TryFormat(value, destination, out int written))
        {
            ThrowTooShort();
        }

        return written;
    }

    private static void ThrowTooShort() => throw new ArgumentException("Too short for the number.", "destination");
}
