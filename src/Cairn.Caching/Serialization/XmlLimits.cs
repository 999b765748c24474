using System.Xml;

namespace Cairn.Caching.Serialization;

// The limits of XML readers. The readers refuse DTDs, and so external and internal entities. Depth is limited because deserializers recurse
// at each level, and a stack overflow ends the process. The limit is twice that of JSON, because a list takes two levels. Attributes are
// limited because readers compare each with all others (XmlScope).
internal static class XmlLimits
{
    public const int MaxDepth = 128;

    /// <summary>The maximum number of attributes and namespace declarations of all open elements together.</summary>
    public const int MaxAttributes = 256;

    // Names are kept in memory while a document is read.
    private const int MaxNameChars = 64 * 1024;

    /// <summary>Returns the quotas for a document: no part of it can be longer than the document.</summary>
    public static XmlDictionaryReaderQuotas QuotasOf(int documentBytes) => new()
    {
        MaxDepth = MaxDepth,
        MaxArrayLength = Math.Max(1, documentBytes),
        MaxStringContentLength = Math.Max(1, documentBytes),
        MaxBytesPerRead = Math.Max(1, documentBytes),
        MaxNameTableCharCount = MaxNameChars,
    };

    /// <summary>Returns the array of the memory, or a copy.</summary>
    public static ArraySegment<byte> ArrayOf(ReadOnlyMemory<byte> memory) =>
        MemoryMarshal.TryGetArray(memory, out ArraySegment<byte> segment) ? segment : memory.ToArray();
}
