namespace Cairn.Protocol;

/// <summary>Reads and writes floating-point numbers as text, in the form of RESP3 doubles.</summary>
internal static class DoubleText
{
    /// <summary>The length of the longest text that <see cref="Format"/> writes, in bytes.</summary>
    public const int MaxBytes = 24;

    private const int LongestText = 1 << 10; // No client writes longer numbers, and parsing them would take long.

    /// <summary>Writes a number with up to 17 significant digits, like <c>%.17g</c> of C, or <c>inf</c>, <c>-inf</c> or <c>nan</c>.</summary>
    /// <param name="value">The number.</param>
    /// <param name="destination">The buffer, at least <see cref="MaxBytes"/> bytes.</param>
    /// <returns>The number of bytes written.</returns>
    /// <remarks>
    /// This is the form of Redis 7.0 (addReplyDouble). Later versions write the shortest text that reads back as the same number.
    /// </remarks>
    public static int Format(double value, Span<byte> destination)
    {
        if (!double.IsFinite(value))
        {
            var name = double.IsNaN(value) ? "nan"u8 : value > 0 ? "inf"u8 : "-inf"u8;
            name.CopyTo(destination);
            return name.Length;
        }

        if (value == 0)
        {
            var zero = double.IsNegative(value) ? "-0"u8 : "0"u8;
            zero.CopyTo(destination);
            return zero.Length;
        }

        if (value == Math.Truncate(value) && Math.Abs(value) < 1e17)
        {
            return DecimalText.Format((long)value, destination);
        }

        if (Math.Abs(value) is >= 1e-4 and < 1e17)
        {
            value.TryFormat(destination, out int plain, "G17", CultureInfo.InvariantCulture);
            return plain;
        }

        // D.DDDDDDDDDDDDDDDDE+XXX becomes D.DDDe+XX: no zeros at the end, and at least two digits of exponent.
        Span<byte> text = stackalloc byte[32];
        value.TryFormat(text, out int written, "E16", CultureInfo.InvariantCulture);
        int mark = text.IndexOf((byte)'E');
        ReadOnlySpan<byte> significant = text[..mark].TrimEnd((byte)'0').TrimEnd((byte)'.');
        ReadOnlySpan<byte> exponent = text[(mark + 2)..written];
        exponent = exponent[0] == '0' ? exponent[1..] : exponent;
        significant.CopyTo(destination);
        destination[significant.Length] = (byte)'e';
        destination[significant.Length + 1] = text[mark + 1];
        exponent.CopyTo(destination[(significant.Length + 2)..]);
        return significant.Length + 2 + exponent.Length;
    }

    /// <summary>Reads a decimal number with or without an exponent, or <c>inf</c>, <c>infinity</c> or <c>nan</c>, not case-sensitive.</summary>
    /// <param name="text">The text, which must contain only the number and no white space.</param>
    /// <param name="value">The nearest number; infinite if the number is too large.</param>
    public static bool TryParse(ReadOnlySpan<byte> text, out double value)
    {
        value = 0;
        if (text.IsEmpty || text.Length > LongestText)
        {
            return false;
        }

        bool isNegative = text[0] == '-';
        var magnitude = isNegative || text[0] == '+' ? text[1..] : text;
        if (magnitude.IsEmpty)
        {
            return false;
        }

        // The framework ignores zero bytes at the end, so they are rejected here.
        if (((uint)(magnitude[0] - '0') > 9 && magnitude[0] != '.') ||
            magnitude[^1] == 0 ||
            !double.TryParse(
                magnitude,
                NumberStyles.AllowDecimalPoint | NumberStyles.AllowExponent,
                CultureInfo.InvariantCulture,
                out double parsed))
        {
            return TryParseName(magnitude, isNegative, out value);
        }

        value = isNegative ? -parsed : parsed;
        return true;
    }

    private static bool TryParseName(ReadOnlySpan<byte> name, bool isNegative, out double value)
    {
        value = 0;
        if (Ascii.EqualsIgnoreCase(name, "inf"u8) || Ascii.EqualsIgnoreCase(name, "infinity"u8))
        {
            value = isNegative ? double.NegativeInfinity : double.PositiveInfinity;
            return true;
        }

        if (Ascii.EqualsIgnoreCase(name, "nan"u8))
        {
            value = double.NaN;
            return true;
        }

        return false;
    }
}
