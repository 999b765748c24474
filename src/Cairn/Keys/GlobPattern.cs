namespace Cairn.Keys;

// Matches text with wildcards, in time proportional to the length of the pattern times that of the text in the worst case. If a part after a star
// does not match, only the last star is tried again, one byte further. Earlier stars need not be tried again, because the last one can match
// the same bytes. If this takes long, GlobAutomaton matches the rest in one pass. It first prepares tables, which cost more than an
// ordinary match.
internal static class GlobPattern
{
    // With this number of retried elements, a match takes about as long as the preparation of the tables.
    private const int MostRetried = 256 << 10;

    public static bool IsMatch(ReadOnlySpan<byte> pattern, ReadOnlySpan<byte> text)
    {
        int p = 0;
        int t = 0;
        int starPattern = -1;
        int starText = 0;
        long retried = 0; // The number of elements that were matched and then tried again.
        while (t < text.Length)
        {
            if (p < pattern.Length && pattern[p] == '*')
            {
                starPattern = ++p;
                starText = t;
            }
            else if (p < pattern.Length && MatchOne(pattern, ref p, text[t]))
            {
                t++;
            }
            else if (starPattern >= 0)
            {
                retried += p - starPattern;
                if (retried > MostRetried && pattern.Length - starPattern <= GlobAutomaton.LongestPattern)
                {
                    return GlobAutomaton.IsMatch(pattern[starPattern..], text[starText..]);
                }

                p = starPattern;
                t = ++starText;
            }
            else
            {
                return false;
            }
        }

        while (p < pattern.Length && pattern[p] == '*')
        {
            p++;
        }

        return p == pattern.Length;
    }

    // Matches one byte against one element of the pattern. If they match, moves the position behind the element.
    internal static bool MatchOne(ReadOnlySpan<byte> pattern, ref int position, byte value)
    {
        switch (pattern[position])
        {
            case (byte)'?':
                position++;
                return true;

            case (byte)'[':
                return MatchSet(pattern, ref position, value);

            case (byte)'\\' when position + 1 < pattern.Length:
                if (pattern[position + 1] != value)
                {
                    return false;
                }

                position += 2;
                return true;

            default:
                if (pattern[position] != value)
                {
                    return false;
                }

                position++;
                return true;
        }
    }

    // As Redis: a backslash makes the next byte an element of its own, which begins no range. The end of a range can be any byte, even a bracket.
    private static bool MatchSet(ReadOnlySpan<byte> pattern, ref int position, byte value)
    {
        int p = position + 1;
        bool isNegated = p < pattern.Length && pattern[p] == '^';
        p += isNegated ? 1 : 0;
        bool isInSet = false;
        while (p < pattern.Length && pattern[p] != ']')
        {
            bool isEscaped = pattern[p] == '\\' && p + 1 < pattern.Length;
            p += isEscaped ? 1 : 0;
            byte low = pattern[p];
            byte high = low;
            if (!isEscaped && p + 2 < pattern.Length && pattern[p + 1] == '-')
            {
                p += 2;
                high = pattern[p];
            }

            p++;
            isInSet |= value >= Math.Min(low, high) && value <= Math.Max(low, high);
        }

        if (isInSet == isNegated)
        {
            return false;
        }

        // A set without a closing bracket extends to the pattern's end.
        position = Math.Min(p + 1, pattern.Length);
        return true;
    }
}
