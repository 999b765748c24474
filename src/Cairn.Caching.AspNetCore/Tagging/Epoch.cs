namespace Cairn.Caching.AspNetCore.Tagging;

/// <summary>The number of evictions by tag in all processes, since the count began under a random name.</summary>
/// <param name="Lineage">The random name. A count that was lost begins again under another name. 0 if the count is not known.</param>
/// <param name="Count">The number of evictions.</param>
internal readonly record struct Epoch(ulong Lineage, ulong Count)
{
    public const int Bytes = 16;

    public static Epoch Unknown => default;

    public bool IsKnown => Lineage != 0;

    public static Epoch Begin() => new(Stamps.Next(), 1);

    public static Epoch Read(ReadOnlySpan<byte> source) =>
        new(BinaryPrimitives.ReadUInt64LittleEndian(source), BinaryPrimitives.ReadUInt64LittleEndian(source[8..]));

    public void Write(Span<byte> target)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(target, Lineage);
        BinaryPrimitives.WriteUInt64LittleEndian(target[8..], Count);
    }
}
