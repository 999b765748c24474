namespace Cairn;

/// <summary>Chooses keys by their beginning or by a pattern.</summary>
/// <remarks>The filter is immutable and safe to use from any thread. It compares bytes. Text is compared as UTF-8, and case matters.</remarks>
public sealed class KeyFilter
{
    private readonly byte[] _prefix;
    private readonly byte[]? _pattern;

    private KeyFilter(byte[] prefix, byte[]? pattern)
    {
        _prefix = prefix;
        _pattern = pattern;
    }

    /// <summary>
    /// Gets the number of bytes of the pattern from its first star on; 0 without a star. The time of a comparison grows with this number and the key's
    /// length.
    /// </summary>
    internal int BytesAfterStar => _pattern is not null && _pattern.AsSpan().IndexOf((byte)'*') is >= 0 and var star ? _pattern.Length - star : 0;

    /// <summary>Creates a filter for keys that begin with some bytes.</summary>
    /// <param name="prefix">The beginning; empty for all keys.</param>
    /// <returns>The filter.</returns>
    public static KeyFilter Prefix(ReadOnlySpan<byte> prefix) => new(prefix.ToArray(), null);

    /// <summary>Creates a filter for keys that begin with some text.</summary>
    /// <param name="prefix">The beginning; empty for all keys.</param>
    /// <returns>The filter.</returns>
    public static KeyFilter Prefix(string prefix)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        return new(Encoding.UTF8.GetBytes(prefix), null);
    }

    /// <summary>Creates a filter for keys that match a pattern.</summary>
    /// <param name="pattern">
    /// The syntax is that of Redis' KEYS command. <c>*</c> matches any bytes, <c>?</c> one byte, <c>[a-z]</c> one byte of a set, <c>[^a-z]</c> one byte
    /// outside the set. <c>\</c> takes the next character literally. Everything else matches itself.
    /// </param>
    /// <returns>The filter.</returns>
    public static KeyFilter Glob(string pattern)
    {
        ArgumentNullException.ThrowIfNull(pattern);
        return Glob(Encoding.UTF8.GetBytes(pattern));
    }

    /// <summary>Creates a filter for keys that match a pattern of bytes.</summary>
    /// <param name="pattern">The same syntax as for <see cref="Glob(string)"/>.</param>
    /// <returns>The filter.</returns>
    public static KeyFilter Glob(ReadOnlySpan<byte> pattern)
    {
        int literal = pattern.IndexOfAny("*?[\\"u8);
        return literal < 0
            ? new(pattern.ToArray(), pattern.ToArray())
            : new(pattern[..literal].ToArray(), pattern.ToArray());
    }

    /// <summary>Returns whether a key matches the filter.</summary>
    /// <param name="key">The key's bytes.</param>
    /// <returns>True if it matches.</returns>
    public bool Matches(ReadOnlySpan<byte> key) =>
        key.StartsWith(_prefix) && (_pattern is null || Keys.GlobPattern.IsMatch(_pattern, key));
}
