namespace Cairn.Caching.Policies;

/// <summary>Decides which keys are cached: the same as in Microsoft's implementation, without those that are no Unicode text.</summary>
internal static class KeyRules
{
    public static bool IsCacheable(ReadOnlySpan<char> key, int maxLength) =>
        key.Length <= maxLength && !key.IsWhiteSpace() && (IsPlain(key) || (!key.ContainsAnyInRange('\0', '\x1f') && IsUnicode(key)));

    /// <summary>Returns whether the key has at most the given number of bytes in UTF-8.</summary>
    public static bool Fits(ReadOnlySpan<char> key, int maxBytes) => key.Length <= maxBytes / 3 || Encoding.UTF8.GetByteCount(key) <= maxBytes;

    // Nearly all keys are printable ASCII, which is checked many characters at a time.
    private static bool IsPlain(ReadOnlySpan<char> key) => !key.ContainsAnyExceptInRange(' ', '~');

    private static bool IsUnicode(ReadOnlySpan<char> key)
    {
        int at = key.IndexOfAnyInRange('\uD800', '\uDFFF');
        if (at < 0)
        {
            return true;
        }

        for (ReadOnlySpan<char> rest = key[at..]; !rest.IsEmpty;)
        {
            if (Rune.DecodeFromUtf16(rest, out _, out int consumed) != OperationStatus.Done)
            {
                return false;
            }

            rest = rest[consumed..];
        }

        return true;
    }
}
