using System.Runtime.InteropServices;
using System.Xml;

namespace Cairn.Caching.Serialization;

// What XML may make a reader do. Its readers refuse DTDs altogether, and with them entities, external and internal. Depth is
// bounded because deserializers call themselves for each level, and an overflow of the stack ends the process. It is twice
// that of JSON, because a list takes two levels. Attributes are bounded because readers compare each with all others (XmlScope).
internal static class XmlLimits
{
    public const int MaxDepth = 128;

    /// <summary>Attributes and namespace declarations of all elements that are open at once.</summary>
    public const int MaxAttributes = 256;

    // Names are kept while a document is read.
    private const int MaxNameChars = 64 * 1024;

    /// <summary>Nothing in a document can be longer than the document.</summary>
    public static XmlDictionaryReaderQuotas QuotasOf(int documentBytes) => new()
    {
        MaxDepth = MaxDepth,
        MaxArrayLength = Math.Max(1, documentBytes),
        MaxStringContentLength = Math.Max(1, documentBytes),
        MaxBytesPerRead = Math.Max(1, documentBytes),
        MaxNameTableCharCount = MaxNameChars,
    };

    /// <summary>The array under the memory, or a copy.</summary>
    public static ArraySegment<byte> ArrayOf(ReadOnlyMemory<byte> memory) =>
        MemoryMarshal.TryGetArray(memory, out ArraySegment<byte> segment) ? segment : memory.ToArray();
}
