using System.Buffers;

namespace Cairn;

/// <summary>Turns keys or values of a map into bytes and back, where the built-in forms do not suit.</summary>
/// <typeparam name="T">What is serialized.</typeparam>
/// <remarks>
/// Called by any thread, also by several at once. For keys it must write equal keys as equal bytes, 1 to 65,536 of them, and different keys as different
/// ones: a map compares keys by their bytes.
/// </remarks>
public interface IMapSerializer<T>
{
    /// <summary>
    /// Names the format and its version, 1 to 200 characters: <c>"book/2"</c>. Recorded with the map, which refuses to be opened with a serializer of another name.
    /// </summary>
    string FormatId { get; }

    /// <summary>Writes a value.</summary>
    /// <param name="value">The value; never null.</param>
    /// <param name="target">Where to. What was written when this throws is not stored.</param>
    void Write(T value, IBufferWriter<byte> target);

    /// <summary>Reads what <see cref="Write"/> wrote.</summary>
    /// <param name="source">All of it, and nothing else. Valid only during the call.</param>
    /// <returns>The value.</returns>
    T Read(ReadOnlySpan<byte> source);
}
