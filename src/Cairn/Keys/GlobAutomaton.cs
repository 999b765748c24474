namespace Cairn.Keys;

// Matches the part of a pattern after a star in one pass over the text. Each bit of a few words stands for the elements of the pattern that the
// text can have matched so far. Each byte of the text moves all bits at once (R. Baeza-Yates and G. H. Gonnet, "A New Approach to Text Searching",
// Communications of the ACM 35(10), 1992):
//
//   bit i of now            the first i elements, without stars, match the text up to here
//   bit i of matches[b]     element i matches the byte b
//   bit i of stays          a star is before element i, or behind the last one
//   next = ((now & matches[b]) << 1) | (now & stays)
internal static class GlobAutomaton
{
    /// <summary>The maximum length of a pattern in bytes. It is limited because the tables are on the stack.</summary>
    public const int LongestPattern = 256;

    private const int Bytes = 256;
    private const int Words = (LongestPattern / 64) + 1;

    /// <summary>Returns whether a text matches a star followed by this pattern.</summary>
    public static bool IsMatch(ReadOnlySpan<byte> pattern, ReadOnlySpan<byte> text)
    {
        Span<ulong> matches = stackalloc ulong[Bytes * Words];
        Span<ulong> stays = stackalloc ulong[Words];
        matches.Clear();
        stays.Clear();
        stays[0] = 1; // The star before the pattern.
        int elements = 0;
        for (int p = 0; p < pattern.Length;)
        {
            if (pattern[p] == '*')
            {
                Set(stays, elements);
                p++;
                continue;
            }

            int end = p;
            for (int value = 0; value < Bytes; value++)
            {
                int behind = p;
                if (GlobPattern.MatchOne(pattern, ref behind, (byte)value))
                {
                    Set(matches[(value * Words)..], elements);
                    end = behind;
                }
            }

            if (end == p)
            {
                return false; // No byte matches this element.
            }

            p = end;
            elements++;
        }

        return Run(matches, stays, elements, text);
    }

    private static bool Run(ReadOnlySpan<ulong> matches, ReadOnlySpan<ulong> stays, int elements, ReadOnlySpan<byte> text)
    {
        Span<ulong> now = stackalloc ulong[Words];
        now.Clear();
        now[0] = 1;
        int words = (elements / 64) + 1;
        foreach (byte value in text)
        {
            ReadOnlySpan<ulong> matching = matches.Slice(value * Words, words);
            ulong carry = 0;
            for (int word = 0; word < words; word++)
            {
                ulong moved = now[word] & matching[word];
                now[word] = (moved << 1) | carry | (now[word] & stays[word]);
                carry = moved >> 63;
            }
        }

        return (now[elements / 64] & (1UL << (elements % 64))) != 0;
    }

    private static void Set(Span<ulong> bits, int bit) => bits[bit / 64] |= 1UL << (bit % 64);
}
