namespace Cairn.Protocol;

// A finite number is Mantissa x 2^Exponent. The mantissa's highest bit is set unless the number is below the normal range; 0 has the
// mantissa 0. Every operation computes an exact result, or one that is exact except for a "sticky" bit, which says that there is a
// remainder. It then rounds once, to nearest and ties to even, like the processor. Numbers of usual size and length fit in 128 bits; others
// use big integers, which allocate.

/// <summary>
/// A floating-point number with a 64-bit mantissa, the <c>long double</c> of C on x86. Redis computes INCRBYFLOAT and HINCRBYFLOAT with it,
/// so equal digits require equal rounding.
/// </summary>
internal readonly record struct ExtendedDouble
{
    /// <summary>The length of the longest text that <see cref="Format"/> writes, in bytes.</summary>
    public const int MaxTextBytes = 4960;

    private const int MantissaBits = 64;
    private const int MaxExponent = 16383 - 63; // The exponent of the lowest bit of the mantissa.
    private const int MinExponent = -16445;
    private const int MaxParsedBytes = 5119; // The size of Redis' buffer.
    private const int Decimals = 17;
    private const ulong DecimalScale = 100_000_000_000_000_000;

    private readonly ulong _mantissa;
    private readonly int _exponent;
    private readonly bool _isNegative;
    private readonly bool _isInfinite;

    private ExtendedDouble(bool isNegative, ulong mantissa, int exponent, bool isInfinite = false)
    {
        _isNegative = isNegative;
        _mantissa = mantissa;
        _exponent = exponent;
        _isInfinite = isInfinite;
    }

    /// <summary>Gets false for results that INCRBYFLOAT rejects: the sum is too large, or a summand is infinite.</summary>
    public bool IsFinite => !_isInfinite;

    /// <summary>
    /// Reads a number like <c>strtold</c> of C: decimal or hexadecimal (<c>0x1.8p1</c>), with or without an exponent, or <c>inf</c>. White
    /// space, NaN and numbers out of range are rejected.
    /// </summary>
    /// <param name="text">The text, which must contain only the number.</param>
    /// <param name="value">The nearest number.</param>
    public static bool TryParse(ReadOnlySpan<byte> text, out ExtendedDouble value)
    {
        value = default;
        if (text.Length is 0 or > MaxParsedBytes)
        {
            return false;
        }

        bool isNegative = text[0] == '-';
        if (isNegative || text[0] == '+')
        {
            text = text[1..];
        }

        if (Ascii.EqualsIgnoreCase(text, "inf"u8) || Ascii.EqualsIgnoreCase(text, "infinity"u8))
        {
            value = new ExtendedDouble(isNegative, 0, 0, isInfinite: true);
            return true;
        }

        return text.Length > 2 && text[0] == '0' && (text[1] | 0x20) == 'x'
            ? TryParseHexadecimal(text[2..], isNegative, out value)
            : TryParseDecimal(text, isNegative, out value);
    }

    /// <summary>Returns the sum, rounded once.</summary>
    /// <param name="left">The first summand.</param>
    /// <param name="right">The second summand.</param>
    public static ExtendedDouble Add(ExtendedDouble left, ExtendedDouble right)
    {
        if (left._isInfinite || right._isInfinite)
        {
            return new ExtendedDouble(left._isInfinite ? left._isNegative : right._isNegative, 0, 0, isInfinite: true);
        }

        if (left._mantissa == 0 || right._mantissa == 0)
        {
            return left._mantissa == 0 ? right : left;
        }

        var (large, small) = left._exponent >= right._exponent ? (left, right) : (right, left);

        // 62 bits below the mantissa preserve all bits that can affect the result: bits are shifted out only if the exponents differ so
        // much that the sum loses at most one place.
        const int guardBits = 62;
        int distance = large._exponent - small._exponent;
        var a = (UInt128)large._mantissa << guardBits;
        var b = (UInt128)small._mantissa << guardBits;
        bool isSticky = distance >= 128 || (distance > 0 && b << (128 - distance) != 0);
        b = distance >= 128 ? 0 : b >> distance;

        int exponent = large._exponent - guardBits;
        if (large._isNegative == small._isNegative)
        {
            return Round(large._isNegative, a + b, exponent, isSticky);
        }

        // A remainder makes the subtrahend larger. So subtract one more; the difference then has a positive remainder.
        b += isSticky ? 1u : 0u;
        return a >= b
            ? Round(large._isNegative, a - b, exponent, isSticky)
            : Round(small._isNegative, b - a, exponent, isSticky);
    }

    /// <summary>
    /// Writes the number in Redis' form for people: all whole digits, and at most 17 decimals without trailing zeros.
    /// </summary>
    /// <param name="destination">The buffer: <see cref="MaxTextBytes"/> bytes, or at least the length of the text.</param>
    /// <returns>The number of bytes written.</returns>
    /// <exception cref="InvalidOperationException">The number is not finite.</exception>
    /// <exception cref="ArgumentException">The destination is too short.</exception>
    /// <remarks>Follows ld2string with LD_STR_HUMAN of Redis: <c>%.17Lf</c>, trimmed. A zero has no sign.</remarks>
    public int Format(Span<byte> destination)
    {
        if (_isInfinite)
        {
            throw new InvalidOperationException("An infinite number has no decimal text.");
        }

        if (_exponent > 0)
        {
            return FormatLarge(destination);
        }

        var (whole, decimals) = Split();
        int length = 0;
        if (_isNegative && (whole | decimals) != 0)
        {
            ThrowIfShort(destination, 1);
            destination[length++] = (byte)'-';
        }

        length += DecimalText.Format(whole, destination[length..]);
        return decimals == 0 ? length : length + FormatDecimals(decimals, destination[length..]);
    }

    // Numbers from 2^64 on have no decimals.
    private int FormatLarge(Span<byte> destination)
    {
        string digits = ((BigInteger)_mantissa << _exponent).ToString(CultureInfo.InvariantCulture);
        int sign = _isNegative ? 1 : 0;
        ThrowIfShort(destination, digits.Length + sign);
        "-"u8[..sign].CopyTo(destination);
        return sign + Encoding.ASCII.GetBytes(digits, destination[sign..]);
    }

    // Returns the part before the decimal point, and the part after it in units of the last decimal.
    private (ulong Whole, ulong Decimals) Split()
    {
        int shift = -_exponent;
        if (shift is 0 or >= 128)
        {
            return (shift == 0 ? _mantissa : 0, 0); // The number is far below half of the last decimal.
        }

        ulong whole = shift < MantissaBits ? _mantissa >> shift : 0;
        ulong fraction = shift < MantissaBits ? _mantissa & ((1UL << shift) - 1) : _mantissa;
        var scaled = (UInt128)fraction * DecimalScale;
        ulong decimals = (ulong)(scaled >> shift);
        var rest = scaled - ((UInt128)decimals << shift);
        var half = UInt128.One << (shift - 1);
        if (rest > half || (rest == half && (decimals & 1) != 0))
        {
            decimals++;
        }

        return decimals == DecimalScale ? (whole + 1, 0) : (whole, decimals);
    }

    private static int FormatDecimals(ulong decimals, Span<byte> destination)
    {
        int count = Decimals;
        while (decimals % 10 == 0)
        {
            decimals /= 10;
            count--;
        }

        ThrowIfShort(destination, count + 1);
        destination[0] = (byte)'.';
        for (int i = count; i > 0; i--)
        {
            destination[i] = (byte)('0' + (decimals % 10));
            decimals /= 10;
        }

        return count + 1;
    }

    private static void ThrowIfShort(Span<byte> destination, int bytes)
    {
        if (destination.Length < bytes)
        {
            throw new ArgumentException("Too short for the number.", nameof(destination));
        }
    }

    // DIGITS[.DIGITS][eEXPONENT]
    private static bool TryParseDecimal(ReadOnlySpan<byte> text, bool isNegative, out ExtendedDouble value)
    {
        value = default;
        int digitsEnd = ReadDigits(text, out int point, out int digitCount, static c => char.IsAsciiDigit(c));
        if (digitCount == 0 || !TryParseExponent(text[digitsEnd..], 'e', out int exponent))
        {
            return false;
        }

        ulong significant = 0;
        bool isLong = false;
        for (int i = 0; i < digitsEnd && !isLong; i++)
        {
            if (i != point)
            {
                isLong = significant > (ulong.MaxValue - 9) / 10;
                significant = (significant * 10) + (uint)(text[i] - '0');
            }
        }

        exponent -= point < 0 ? 0 : digitsEnd - point - 1;
        if (!isLong && significant == 0)
        {
            value = new ExtendedDouble(isNegative, 0, 0);
            return true;
        }

        value = !isLong && Math.Abs(exponent) <= 19
            ? FromDecimal(isNegative, significant, exponent)
            : FromLongDecimal(isNegative, text[..digitsEnd], exponent);
        return !value._isInfinite && value._mantissa != 0;
    }

    private static ExtendedDouble FromDecimal(bool isNegative, ulong significant, int exponent)
    {
        ulong power = 1;
        for (int i = Math.Abs(exponent); i > 0; i--)
        {
            power *= 10;
        }

        if (exponent >= 0)
        {
            return Round(isNegative, (UInt128)significant * power, 0, isSticky: false);
        }

        int shift = MantissaBits + BitOperations.LeadingZeroCount(significant);
        var (quotient, rest) = UInt128.DivRem((UInt128)significant << shift, power);
        return Round(isNegative, quotient, -shift, rest != 0);
    }

    private static ExtendedDouble FromLongDecimal(bool isNegative, ReadOnlySpan<byte> digits, int exponent)
    {
        // Beyond these exponents the result is 0 or infinite for any digits.
        if (exponent > 5000)
        {
            bool isZero = digits.IndexOfAnyExcept((byte)'0', (byte)'.') < 0;
            return new ExtendedDouble(isNegative, 0, 0, isInfinite: !isZero);
        }

        if (exponent < -MaxParsedBytes - 5000)
        {
            return default;
        }

        Span<char> characters = stackalloc char[digits.Length];
        int count = 0;
        foreach (byte digit in digits)
        {
            if (digit != '.')
            {
                characters[count++] = (char)digit;
            }
        }

        var significant = BigInteger.Parse(characters[..count], NumberStyles.None, CultureInfo.InvariantCulture);
        if (significant.IsZero)
        {
            return new ExtendedDouble(isNegative, 0, 0);
        }

        if (exponent >= 0)
        {
            return Round(isNegative, significant * BigInteger.Pow(10, exponent), 0, isSticky: false);
        }

        var power = BigInteger.Pow(10, -exponent);
        int shift = Math.Max(0, (int)(power.GetBitLength() - significant.GetBitLength()) + MantissaBits + 2);
        var quotient = BigInteger.DivRem(significant << shift, power, out var rest);
        return Round(isNegative, quotient, -shift, !rest.IsZero);
    }

    // DIGITS[.DIGITS][pEXPONENT], where the exponent is a decimal text and a power of two.
    private static bool TryParseHexadecimal(ReadOnlySpan<byte> text, bool isNegative, out ExtendedDouble value)
    {
        value = default;
        int digitsEnd = ReadDigits(text, out int point, out int digitCount, static c => char.IsAsciiHexDigit(c));
        if (digitCount == 0 || !TryParseExponent(text[digitsEnd..], 'p', out int exponent))
        {
            return false;
        }

        var mantissa = BigInteger.Zero;
        for (int i = 0; i < digitsEnd; i++)
        {
            if (i != point)
            {
                int digit = text[i] <= '9' ? text[i] - '0' : (text[i] | 0x20) - 'a' + 10;
                mantissa = (mantissa << 4) + digit;
            }
        }

        exponent -= point < 0 ? 0 : 4 * (digitsEnd - point - 1);
        value = mantissa.IsZero
            ? new ExtendedDouble(isNegative, 0, 0)
            : Round(isNegative, mantissa, exponent, isSticky: false);
        return mantissa.IsZero || (!value._isInfinite && value._mantissa != 0);
    }

    // Reads up to the first byte that is neither a digit nor the first decimal point.
    private static int ReadDigits(ReadOnlySpan<byte> text, out int point, out int digitCount, Func<char, bool> isDigit)
    {
        point = -1;
        digitCount = 0;
        int position = 0;
        for (; position < text.Length; position++)
        {
            if (text[position] == '.' && point < 0)
            {
                point = position;
            }
            else if (isDigit((char)text[position]))
            {
                digitCount++;
            }
            else
            {
                break;
            }
        }

        return position;
    }

    // Reads an empty text, or a letter, an optional sign and digits up to the end. Limits the exponent to a value beyond all numbers.
    private static bool TryParseExponent(ReadOnlySpan<byte> text, char letter, out int exponent)
    {
        exponent = 0;
        if (text.IsEmpty)
        {
            return true;
        }

        if ((text[0] | 0x20) != letter)
        {
            return false;
        }

        bool isNegative = text.Length > 1 && text[1] == '-';
        int start = isNegative || (text.Length > 1 && text[1] == '+') ? 2 : 1;
        foreach (byte digit in text[start..])
        {
            if (!char.IsAsciiDigit((char)digit))
            {
                return false;
            }

            exponent = Math.Min((exponent * 10) + (digit - '0'), 1_000_000);
        }

        exponent = isNegative ? -exponent : exponent;
        return text.Length > start;
    }

    private static ExtendedDouble Round(bool isNegative, BigInteger mantissa, int exponent, bool isSticky)
    {
        Debug.Assert(mantissa.Sign >= 0, "The sign is apart.");
        int excess = (int)Math.Max(mantissa.GetBitLength() - 127, 0);
        var kept = mantissa >> excess;
        return Round(isNegative, (UInt128)kept, exponent + excess, isSticky || kept << excess != mantissa);
    }

    private static ExtendedDouble Round(bool isNegative, UInt128 mantissa, int exponent, bool isSticky)
    {
        if (mantissa == 0)
        {
            return new ExtendedDouble(isNegative && isSticky, 0, 0);
        }

        // The number of bits to remove: those beyond 64, and those below the least exponent.
        int excess = 128 - MantissaBits - (int)UInt128.LeadingZeroCount(mantissa);
        excess = Math.Max(excess, MinExponent - exponent);
        if (excess <= 0)
        {
            Debug.Assert(!isSticky, "With something left over there are more than 64 bits before it.");
            int shift = Math.Min(-excess, exponent - MinExponent);
            return Pack(isNegative, (ulong)mantissa << shift, exponent - shift);
        }

        if (excess > 128)
        {
            return new ExtendedDouble(isNegative, 0, 0);
        }

        var kept = excess == 128 ? 0 : mantissa >> excess;
        var gone = mantissa - (excess == 128 ? 0 : kept << excess);
        var half = UInt128.One << (excess - 1);
        if (gone > half || (gone == half && (isSticky || (kept & 1) != 0)))
        {
            kept++;
        }

        exponent += excess;
        if (kept >> MantissaBits != 0)
        {
            kept >>= 1;
            exponent++;
        }

        return Pack(isNegative, (ulong)kept, exponent);
    }

    private static ExtendedDouble Pack(bool isNegative, ulong mantissa, int exponent) =>
        exponent > MaxExponent
            ? new ExtendedDouble(isNegative, 0, 0, isInfinite: true)
            : new ExtendedDouble(isNegative, mantissa, mantissa == 0 ? 0 : exponent);
}
