namespace Cairn.Maps;

/// <summary>The form in which keys or values of one type lie in a map.</summary>
internal abstract class MapCodec<T>
{
    /// <summary>Bytes that a caller offers for what is short.</summary>
    public const int ScratchBytes = 256;

    /// <summary>Names the format, as it is recorded with the map.</summary>
    public abstract string FormatId { get; }

    /// <summary>A value's bytes.</summary>
    /// <param name="value">Not null.</param>
    /// <param name="scratch">Where they may be put, if there is room.</param>
    /// <param name="writer">
    /// Taken if they are put there; to be returned when they are not needed any more, also after an exception. Null before.
    /// </param>
    public abstract ReadOnlySpan<byte> Write(T value, Span<byte> scratch, scoped ref PooledWriter? writer);

    public abstract T Read(ReadOnlySpan<byte> source);
}
