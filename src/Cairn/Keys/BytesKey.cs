using System.Runtime.CompilerServices;

namespace Cairn.Keys;

/// <summary>A key of pinned bytes.</summary>
internal readonly unsafe struct BytesKey(byte* bytes, int length) : IPlainKey
{
    private readonly byte* _bytes = bytes;

    public int Length { get; } = length;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool EqualsStored(byte* stored) => KeyBytes.AreEqual(_bytes, stored, Length);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Store(byte* target) => KeyBytes.Copy(_bytes, target, Length);
}
