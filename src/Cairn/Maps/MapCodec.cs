namespace Cairn.Maps;

/// <summary>The format of the keys or values of one type in a map.</summary>
internal abstract class MapCodec<T>
{
    /// <summary>The length in bytes of the memory that a caller provides for short values.</summary>
    public const int ScratchBytes = 256;

    /// <summary>Gets the name of the format. It is recorded with the map.</summary>
    public abstract string FormatId { get; }

    /// <summary>Writes a value and returns its bytes.</summary>
    /// <param name="value">The value. Not null.</param>
    /// <param name="scratch">Memory for the bytes, if they fit.</param>
    /// <param name="writer">
    /// Null before the call. The codec takes a writer if it needs one for the bytes. The caller returns the writer when the bytes are no longer needed,
    /// also after an exception.
    /// </param>
    public abstract ReadOnlySpan<byte> Write(T value, Span<byte> scratch, scoped ref PooledWriter? writer);

    public abstract T Read(ReadOnlySpan<byte> source);
}
