using System.Buffers;
using System.Text;

namespace Cairn.Caching.AspNetCore.Responses;

/// <summary>Which texts a store takes as keys. Those of responses come from requests, so that an unusual one is no mistake of the caller.</summary>
internal static class KeyText
{
    private const int MaxKeyBytes = 65_536;

    /// <summary>Whether the text has 1 to <paramref name="maxBytes"/> bytes in UTF-8 and no lone surrogate.</summary>
    public static bool IsKey(string text, int maxBytes = MaxKeyBytes)
    {
        if (text.Length == 0 || text.Length > maxBytes)
        {
            return false;
        }

        return Ascii.IsValid(text) || IsUnicodeKey(text, maxBytes);
    }

    private static bool IsUnicodeKey(ReadOnlySpan<char> text, int maxBytes)
    {
        int bytes = 0;
        while (text.Length > 0)
        {
            if (Rune.DecodeFromUtf16(text, out Rune rune, out int consumed) != OperationStatus.Done)
            {
                return false;
            }

            bytes += rune.Utf8SequenceLength;
            text = text[consumed..];
        }

        return bytes <= maxBytes;
    }
}
