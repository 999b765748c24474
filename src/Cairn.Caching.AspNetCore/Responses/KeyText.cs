namespace Cairn.Caching.AspNetCore.Responses;

/// <summary>
/// Checks whether a text can be a key of a store. Keys of responses come from requests, so an unusual one is not a mistake of the caller.
/// </summary>
internal static class KeyText
{
    private const int MaxKeyBytes = 65_536;

    /// <summary>Returns whether the text has 1 to <paramref name="maxBytes"/> bytes in UTF-8 and no lone surrogate.</summary>
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
