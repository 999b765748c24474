namespace Cairn;

/// <summary>A key: 1 to 65,536 bytes, or text that is stored as UTF-8.</summary>
/// <remarks>
/// The type converts from strings, spans of characters, byte arrays and spans of bytes, so that every operation has one form. The text <c>"book:42"</c> and
/// the bytes <c>"book:42"u8</c> are the same key. A key refers to the caller's memory. No memory is allocated for a key of up to 256 bytes.
/// </remarks>
public readonly ref struct CacheKey
{
    private readonly ReadOnlySpan<byte> _raw;
    private readonly bool _isText;

    /// <summary>Creates a key from bytes.</summary>
    /// <param name="bytes">1 to 65,536 bytes. The operation that uses the key checks the length.</param>
    public CacheKey(ReadOnlySpan<byte> bytes)
    {
        _raw = bytes;
    }

    /// <summary>Creates a key from text.</summary>
    /// <param name="text">Text of 1 to 65,536 bytes in UTF-8, without lone surrogates. The operation that uses the key checks it.</param>
    public CacheKey(ReadOnlySpan<char> text)
    {
        _raw = MemoryMarshal.AsBytes(text);
        _isText = true;
    }

    internal bool IsText => _isText;

    internal ReadOnlySpan<byte> Bytes => _raw;

    internal ReadOnlySpan<char> Text => MemoryMarshal.Cast<byte, char>(_raw);

    /// <summary>Creates a key from bytes.</summary>
    /// <param name="bytes">The key's bytes.</param>
    public static implicit operator CacheKey(ReadOnlySpan<byte> bytes) => new(bytes);

    /// <summary>Creates a key from bytes.</summary>
    /// <param name="bytes">The key's bytes. Not null.</param>
    /// <exception cref="ArgumentNullException"><paramref name="bytes"/> is null.</exception>
    public static implicit operator CacheKey(byte[] bytes)
    {
        ArgumentNullException.ThrowIfNull(bytes);
        return new((ReadOnlySpan<byte>)bytes);
    }

    /// <summary>Creates a key from text.</summary>
    /// <param name="text">The key's text.</param>
    public static implicit operator CacheKey(ReadOnlySpan<char> text) => new(text);

    /// <summary>Creates a key from text.</summary>
    /// <param name="text">The key's text. Not null.</param>
    /// <exception cref="ArgumentNullException"><paramref name="text"/> is null.</exception>
    public static implicit operator CacheKey(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        return new(text.AsSpan());
    }
}
