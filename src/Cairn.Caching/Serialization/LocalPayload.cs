namespace Cairn.Caching.Serialization;

/// <summary>A value in the first level in its serialized form, from which each reader gets a copy.</summary>
/// <param name="Bytes">The serialized value, not compressed.</param>
/// <param name="Format">The format of the serializer.</param>
/// <param name="TypeId">
/// The number of the value's type. A reader that requests another type must not get the value, even if its serializer understands the bytes.
/// </param>
internal sealed record LocalPayload(byte[] Bytes, byte Format, ulong TypeId)
{
    /// <summary>The payload's size on the heap in bytes.</summary>
    public long HeapBytes => ObjectSize.OfArray(Bytes.Length) + ObjectSize.Boxed(IntPtr.Size + sizeof(ulong) + sizeof(byte));
}
