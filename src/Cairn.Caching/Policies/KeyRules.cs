namespace Cairn.Caching.Policies;

/// <summary>Decides which keys are cached: the same as in Microsoft's implementation.</summary>
internal static class KeyRules
{
    // C0 and C1 controls and DEL, which protocols and files on the way to the second level may not accept.
    private static readonly SearchValues<char> Controls = SearchValues.Create(
        [.. Enumerable.Range(0, 0x20).Concat(Enumerable.Range(0x7F, 0x21)).Select(value => (char)value)]);

    public static bool IsCacheable(ReadOnlySpan<char> key, int maxLength) =>
        key.Length <= maxLength && !key.IsWhiteSpace() && (IsPlain(key) || (!key.ContainsAny(Controls) && IsUnicode(key)));

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
