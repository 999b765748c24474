namespace Cairn.Protocol;

/// <summary>Enumerates the words of a command line, such as the keys of a <c>get</c>. Spaces separate the words.</summary>
internal ref struct MemcachedTokens
{
    private readonly ReadOnlySpan<byte> _text;
    private int _start;
    private int _end;

    /// <summary>Creates an enumerator before the first word.</summary>
    /// <param name="text">The words, with any number of spaces before, between and after them.</param>
    public MemcachedTokens(ReadOnlySpan<byte> text) => _text = text;

    /// <summary>Gets the current word.</summary>
    public readonly ReadOnlySpan<byte> Current => _text[_start.._end];

    /// <summary>Gets the text after the current word.</summary>
    public readonly ReadOnlySpan<byte> Rest => _text[_end..];

    /// <summary>Returns this enumerator, for <see langword="foreach"/>.</summary>
    public readonly MemcachedTokens GetEnumerator() => this;

    /// <summary>Moves to the next word.</summary>
    /// <returns><see langword="false"/> if there are no more words.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MoveNext()
    {
        int start = _end;
        while ((uint)start < (uint)_text.Length && _text[start] == ' ')
        {
            start++;
        }

        int length = _text[start..].IndexOf((byte)' ');
        _start = start;
        _end = length < 0 ? _text.Length : start + length;
        return _end > start;
    }
}
