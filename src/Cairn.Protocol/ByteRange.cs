namespace Cairn.Protocol;

/// <summary>The position of a part of a message in the input that it was read from.</summary>
/// <param name="Offset">The offset from the start of the input, in bytes.</param>
/// <param name="Length">The length in bytes.</param>
internal readonly record struct ByteRange(int Offset, int Length)
{
    /// <summary>Gets the offset of the first byte after the range.</summary>
    public int End => Offset + Length;

    /// <summary>Gets a value that says whether the range is empty.</summary>
    public bool IsEmpty => Length == 0;

    /// <summary>Returns the bytes of the range.</summary>
    /// <param name="input">The input that the range was read from, or one that begins with the same bytes.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ReadOnlySpan<byte> Of(ReadOnlySpan<byte> input) => input.Slice(Offset, Length);
}
