using System.Runtime.CompilerServices;

namespace Cairn.Protocol;

/// <summary>The words of a command line, such as the keys of a <c>get</c>, one after the other; spaces part them.</summary>
public ref struct MemcachedTokens
{
    private readonly ReadOnlySpan<byte> _text;
    private int _start;
    private int _end;

    /// <summary>Begins before the first word.</summary>
    /// <param name="text">The words and the spaces between, before and after them.</param>
    public MemcachedTokens(ReadOnlySpan<byte> text) => _text = text;

    /// <summary>The word last moved to.</summary>
    public readonly ReadOnlySpan<byte> Current => _text[_start.._end];

    /// <summary>What follows the word last moved to.</summary>
    public readonly ReadOnlySpan<byte> Rest => _text[_end..];

    /// <summary>Itself, for <see langword="foreach"/>.</summary>
    public readonly MemcachedTokens GetEnumerator() => this;

    /// <summary>Moves to the next word.</summary>
    /// <returns><see langword="false"/> if there is none.</returns>
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
