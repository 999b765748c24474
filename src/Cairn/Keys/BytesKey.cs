namespace Cairn.Keys;

/// <summary>A key of pinned bytes.</summary>
internal readonly unsafe struct BytesKey(byte* bytes, int length) : IPlainKey
{
    private readonly byte* _bytes = bytes;

    public int Length { get; } = length;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool EqualsStored(byte* stored) => ShortBytes.AreEqual(_bytes, stored, Length);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Store(byte* target) => ShortBytes.Copy(_bytes, target, Length);
}
