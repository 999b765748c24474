using System.Runtime.CompilerServices;

namespace Cairn.Protocol;

/// <summary>Where a part of a message lies in the input it was read from.</summary>
/// <param name="Offset">From the start of the input, in bytes.</param>
/// <param name="Length">In bytes.</param>
public readonly record struct ByteRange(int Offset, int Length)
{
    /// <summary>The first offset behind it.</summary>
    public int End => Offset + Length;

    /// <summary>True if it holds no byte.</summary>
    public bool IsEmpty => Length == 0;

    /// <summary>The bytes themselves.</summary>
    /// <param name="input">The input it was read from, or one that begins with the same bytes.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ReadOnlySpan<byte> Of(ReadOnlySpan<byte> input) => input.Slice(Offset, Length);
}
