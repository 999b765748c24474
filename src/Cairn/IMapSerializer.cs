namespace Cairn;

/// <summary>Converts keys or values of a map to bytes and back. Use it if the built-in formats are not suitable.</summary>
/// <typeparam name="T">The type that is serialized.</typeparam>
/// <remarks>
/// Any thread calls it, and several threads call it at the same time. A map compares keys by their bytes. Therefore a serializer of keys must write equal
/// keys as equal bytes and different keys as different bytes, 1 to 65,536 of them.
/// </remarks>
public interface IMapSerializer<T>
{
    /// <summary>
    /// Gets the name of the format and its version, 1 to 200 characters: <c>"book/2"</c>. It is recorded with the map. The map cannot be opened with a
    /// serializer of another name.
    /// </summary>
    string FormatId { get; }

    /// <summary>Writes a value.</summary>
    /// <param name="value">The value. Never null.</param>
    /// <param name="target">The buffer for the bytes. If this method throws, the bytes written so far are not stored.</param>
    void Write(T value, IBufferWriter<byte> target);

    /// <summary>Reads a value that <see cref="Write"/> wrote.</summary>
    /// <param name="source">Exactly the bytes of the value. They are valid only during the call.</param>
    /// <returns>The value.</returns>
    T Read(ReadOnlySpan<byte> source);
}
