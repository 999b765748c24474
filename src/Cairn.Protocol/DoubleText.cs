namespace Cairn.Protocol;

/// <summary>Reads and writes floating-point numbers as text, in the form of RESP3 doubles.</summary>
internal static class DoubleText
{
    /// <summary>The length of the longest text that <see cref="Format"/> writes, in bytes.</summary>
    public const int MaxBytes = 24;

    private const int Digits = 17;
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

        // D.DDDDDDDDDDDDDDDDE+XXX
        Span<byte> text = stackalloc byte[32];
        value.TryFormat(text, out int written, "E16", CultureInfo.InvariantCulture);
        text = text[..written];
        int sign = text[0] == '-' ? 1 : 0;
        int mark = text.IndexOf((byte)'E');
        int exponent = int.Parse(text[(mark + 1)..], NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture);

        Span<byte> digits = stackalloc byte[Digits];
        digits[0] = text[sign];
        text[(sign + 2)..mark].CopyTo(digits[1..]);
        var significant = digits.TrimEnd((byte)'0');

        "-"u8[..sign].CopyTo(destination);
        return sign + (exponent is < -4 or >= Digits
            ? FormatScientific(significant, exponent, destination[sign..])
            : FormatPlain(significant, exponent, destination[sign..]));
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

    // D.DDDe+XX; the exponent has at least two digits.
    private static int FormatScientific(ReadOnlySpan<byte> digits, int exponent, Span<byte> destination)
    {
        int length = 0;
        destination[length++] = digits[0];
        if (digits.Length > 1)
        {
            destination[length++] = (byte)'.';
            digits[1..].CopyTo(destination[length..]);
            length += digits.Length - 1;
        }

        destination[length++] = (byte)'e';
        destination[length++] = (byte)(exponent < 0 ? '-' : '+');
        int size = Math.Abs(exponent);
        if (size < 10)
        {
            destination[length++] = (byte)'0';
        }

        return length + DecimalText.Format((uint)size, destination[length..]);
    }

    private static int FormatPlain(ReadOnlySpan<byte> digits, int exponent, Span<byte> destination)
    {
        int length = 0;
        if (exponent < 0)
        {
            "0.000"u8[..(1 - exponent)].CopyTo(destination);
            length = 1 - exponent;
            digits.CopyTo(destination[length..]);
            return length + digits.Length;
        }

        int whole = Math.Min(exponent + 1, digits.Length);
        digits[..whole].CopyTo(destination);
        length = whole;
        while (length <= exponent)
        {
            destination[length++] = (byte)'0';
        }

        if (digits.Length > whole)
        {
            destination[length++] = (byte)'.';
            digits[whole..].CopyTo(destination[length..]);
            length += digits.Length - whole;
        }

        return length;
    }
}
