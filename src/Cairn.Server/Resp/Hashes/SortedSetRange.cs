namespace Cairn.Server.Resp.Hashes;

// A sorted set is stored as a hash whose fields are in the order of their scores, and fields of the same score in the order of their bytes. A
// field's value is the score: a double in little endian. So a range of ranks or scores is a range of fields.
internal struct SortedSetRange
{
    /// <summary>The length of a score in bytes.</summary>
    public const int ScoreBytes = sizeof(double);

    /// <summary>The length of the longest text of a score in bytes.</summary>
    public const int TextBytes = DoubleText.MaxBytes;

    private long _start;
    private long _stop;
    private double _min;
    private double _max;
    private bool _isMinExcluded;
    private bool _isMaxExcluded;

    public bool IsByScore { get; set; }

    public bool IsReversed { get; set; }

    /// <summary>Gets or sets the number of fields to skip. If it is negative, the range is empty.</summary>
    public long Offset { get; set; }

    /// <summary>Gets or sets the maximum number of fields; a negative number for no maximum.</summary>
    public long Limit { get; set; }

    /// <summary>Returns the score that a field's value is. Damaged bytes are 0.</summary>
    public static double ScoreOf(ReadOnlySpan<byte> value) => value.Length == ScoreBytes ? BinaryPrimitives.ReadDoubleLittleEndian(value) : 0;

    /// <summary>Returns the text of the score that a field's value is.</summary>
    public static ReadOnlySpan<byte> Format(ReadOnlySpan<byte> value, Span<byte> text) => text[..DoubleText.Format(ScoreOf(value), text)];

    /// <summary>Reads a score as Redis does. Returns false for NaN, and for a number that is too large, or too small to differ from 0.</summary>
    public static bool TryParseScore(ReadOnlySpan<byte> text, out double score) =>
        TryParse(text, out score) && !double.IsNaN(score) && (double.IsFinite(score) || text.ContainsAny("iI"u8)) && (score != 0 || !HasDigit(text));

    // Returns whether a digit that is not 0 comes before the exponent.
    private static bool HasDigit(ReadOnlySpan<byte> text)
    {
        bool isHexadecimal = text.ContainsAny("xX"u8);
        int exponent = isHexadecimal ? text.IndexOfAny("pP"u8) : text.IndexOfAny("eE"u8);
        return (exponent < 0 ? text : text[..exponent]).ContainsAny(isHexadecimal ? "123456789abcdefABCDEF"u8 : "123456789"u8);
    }

    /// <summary>Reads the limits of a range of ranks; negative ranks count from the end.</summary>
    public bool TryParseRanks(ReadOnlySpan<byte> start, ReadOnlySpan<byte> stop) =>
        DecimalText.TryParseInt64(start, out _start) && DecimalText.TryParseInt64(stop, out _stop);

    /// <summary>Reads the limits of a range of scores. An opening parenthesis excludes a limit.</summary>
    public bool TryParseScores(ReadOnlySpan<byte> min, ReadOnlySpan<byte> max) =>
        TryParseLimit(min, out _min, out _isMinExcluded) && TryParseLimit(max, out _max, out _isMaxExcluded);

    /// <summary>Returns the fields of the range.</summary>
    /// <returns>The first field, and their number. The next one is at the next index, or at the one before if the range is reversed.</returns>
    public readonly (int First, int Count) In(HashView set)
    {
        long start = _start;
        long stop = _stop;
        if (IsByScore)
        {
            start = CountBelow(set, _min, _isMinExcluded);
            stop = CountBelow(set, _max, !_isMaxExcluded) - 1L;
            (start, stop) = IsReversed ? (set.Count - 1 - stop, set.Count - 1 - start) : (start, stop);
        }
        else
        {
            start = Math.Max(0, start < 0 ? start + set.Count : start);
            stop = stop < 0 ? stop + set.Count : stop;
        }

        stop = Math.Min(stop, set.Count - 1L);
        long count = start > stop ? 0 : stop - start + 1;
        long skipped = Offset < 0 ? count : Math.Min(Offset, count);
        count = Limit < 0 ? count - skipped : Math.Min(Limit, count - skipped);
        start += skipped;
        return ((int)(IsReversed ? set.Count - 1 - start : start), (int)count);
    }

    // Returns the number of fields with lower scores, and also with this score if it is included.
    private static int CountBelow(HashView set, double score, bool isIncluded)
    {
        int low = 0;
        int high = set.Count;
        while (low < high)
        {
            int middle = (low + high) / 2;
            set.TryGet(middle, out _, out ReadOnlySpan<byte> value);
            double other = ScoreOf(value);
            bool isBelow = isIncluded ? other <= score : other < score;
            (low, high) = isBelow ? (middle + 1, high) : (low, middle);
        }

        return low;
    }

    // White space may precede a limit, and an empty one is 0, as for strtod of C.
    private static bool TryParseLimit(ReadOnlySpan<byte> text, out double limit, out bool isExcluded)
    {
        isExcluded = text.StartsWith("("u8);
        text = isExcluded ? text[1..] : text;
        limit = 0;
        return text.IsEmpty || (TryParse(text.TrimStart(" \t\n\v\f\r"u8), out limit) && !double.IsNaN(limit));
    }

    private static bool TryParse(ReadOnlySpan<byte> text, out double number)
    {
        if (DoubleText.TryParse(text, out number))
        {
            return true;
        }

        // A hexadecimal number, which strtod of C reads too.
        Span<byte> digits = stackalloc byte[ExtendedDouble.MaxTextBytes];
        return ExtendedDouble.TryParse(text, out ExtendedDouble exact) && exact.IsFinite && DoubleText.TryParse(digits[..exact.Format(digits)], out number);
    }
}
