namespace Cairn.Protocol.Memcached;

// Reads numbers in command lines as leniently as memcached does through the C library: white space, a sign, digits, and then white space
// and any text. A number out of range is an error here; memcached may drop its high bits.
internal static class MemcachedNumber
{
    public static bool TryParseInt64(ReadOnlySpan<byte> text, out long value)
    {
        value = 0;
        if (!TryParse(text, out ulong magnitude, out bool isNegative))
        {
            return false;
        }

        if (isNegative)
        {
            value = (long)(0 - magnitude);
            return magnitude <= 1UL << 63;
        }

        value = (long)magnitude;
        return magnitude <= long.MaxValue;
    }

    /// <summary>The first number that counts as negative: 30 days before 2^32.</summary>
    /// <remarks>libmemcached, and so pylibmc, PHP and Django, send -1 as 4294967295. memcached cuts times to 32 bits with a sign.</remarks>
    public const long FirstNegativeTime = (1L << 32) - (30 * 24 * 3600);

    /// <summary>Reads an expiration time.</summary>
    public static bool TryParseTime(ReadOnlySpan<byte> text, out long seconds)
    {
        bool isParsed = TryParseInt64(text, out seconds);
        seconds -= seconds is >= FirstNegativeTime and <= uint.MaxValue ? 1L << 32 : 0;
        return isParsed;
    }

    public static bool TryParseUInt64(ReadOnlySpan<byte> text, out ulong value) =>
        TryParse(text, out value, out bool isNegative) && (!isNegative || value == 0);

    public static bool TryParseUInt32(ReadOnlySpan<byte> text, out uint value)
    {
        bool isParsed = TryParseUInt64(text, out ulong wide) && wide <= uint.MaxValue;
        value = (uint)wide;
        return isParsed;
    }

    private static bool TryParse(ReadOnlySpan<byte> text, out ulong magnitude, out bool isNegative)
    {
        int position = 0;
        while (position < text.Length && IsSpace(text[position]))
        {
            position++;
        }

        isNegative = position < text.Length && text[position] == '-';
        if (isNegative || (position < text.Length && text[position] == '+'))
        {
            position++;
        }

        int firstDigit = position;
        magnitude = 0;
        while (position < text.Length && (uint)(text[position] - '0') <= 9)
        {
            uint digit = (uint)(text[position] - '0');
            if (magnitude > (ulong.MaxValue - digit) / 10)
            {
                return false;
            }

            magnitude = (magnitude * 10) + digit;
            position++;
        }

        return position > firstDigit && (position == text.Length || IsSpace(text[position]));
    }

    // Returns whether the byte is white space for isspace of C. A command line contains no other white space.
    private static bool IsSpace(byte value) => value is (byte)' ' or (>= (byte)'\t' and <= (byte)'\r');
}
