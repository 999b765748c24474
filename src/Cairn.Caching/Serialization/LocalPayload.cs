namespace Cairn.Caching.Serialization;

/// <summary>A value in the first level that each reader gets a copy of, in the form in which its serializer wrote it.</summary>
/// <param name="Bytes">What the serializer wrote, not compressed.</param>
/// <param name="Format">Which serializer it was.</param>
/// <param name="TypeId">The type it is the value of: a reader who asks for another must not get it, though its serializer may understand it.</param>
internal sealed record LocalPayload(byte[] Bytes, byte Format, ulong TypeId)
{
    /// <summary>What it takes on the heap.</summary>
    public long HeapBytes => ObjectSize.OfArray(Bytes.Length) + ObjectSize.Boxed(IntPtr.Size + sizeof(ulong) + sizeof(byte));
}
