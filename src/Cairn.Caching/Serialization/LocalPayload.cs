namespace Cairn.Caching.Serialization;

/// <summary>A value in the first level that each reader gets a copy of, in the form in which its serializer wrote it.</summary>
/// <param name="Bytes">What the serializer wrote, not compressed.</param>
/// <param name="Format">Which serializer it was.</param>
internal sealed record LocalPayload(byte[] Bytes, byte Format)
{
    /// <summary>What it takes on the heap.</summary>
    public long HeapBytes => ObjectSize.OfArray(Bytes.Length) + ObjectSize.Boxed(IntPtr.Size + sizeof(byte));
}
