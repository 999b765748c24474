namespace Cairn.Cli.Output;

// Formats keys for people. Keys are arbitrary bytes, and a terminal would execute control characters in them.
internal static class KeyText
{
    /// <summary>
    /// Returns the key with printable text unchanged. A backslash is doubled; line feed, carriage return and tab are \n, \r and \t; other
    /// characters that do not print are \u{HEX}; bytes that are not UTF-8 are \xHH. Different keys give different texts.
    /// </summary>
    public static string Escape(ReadOnlySpan<byte> key)
    {
        var text = new StringBuilder(key.Length);
        while (!key.IsEmpty)
        {
            if (Rune.DecodeFromUtf8(key, out Rune rune, out int length) == System.Buffers.OperationStatus.Done)
            {
                Append(text, rune);
            }
            else
            {
                foreach (byte invalid in key[..length])
                {
                    text.Append(CultureInfo.InvariantCulture, $"\\x{invalid:X2}");
                }
            }

            key = key[length..];
        }

        return text.ToString();
    }

    /// <summary>Returns a key in quotes, shortened if necessary, for a message.</summary>
    public static string Quote(ReadOnlySpan<byte> key)
    {
        const int LongestShown = 100;
        string text = Escape(key[..Math.Min(key.Length, LongestShown * 4)]);
        return text.Length <= LongestShown && key.Length <= LongestShown * 4 ? $"'{text}'" : $"'{text.AsSpan(0, Math.Min(text.Length, LongestShown))}…'";
    }

    private static void Append(StringBuilder text, Rune rune)
    {
        switch (rune.Value)
        {
            case '\\': text.Append("\\\\"); break;
            case '\n': text.Append("\\n"); break;
            case '\r': text.Append("\\r"); break;
            case '\t': text.Append("\\t"); break;
            default:
                if (IsPrintable(rune))
                {
                    Span<char> characters = stackalloc char[2];
                    text.Append(characters[..rune.EncodeToUtf16(characters)]);
                }
                else
                {
                    text.Append(CultureInfo.InvariantCulture, $"\\u{{{rune.Value:X}}}");
                }

                break;
        }
    }

    // Format characters can change the direction of the following text.
    private static bool IsPrintable(Rune rune) => Rune.GetUnicodeCategory(rune) is not
        (UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator
        or UnicodeCategory.PrivateUse or UnicodeCategory.OtherNotAssigned or UnicodeCategory.Surrogate);
}
