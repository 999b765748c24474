namespace Cairn.Caching.Serialization;

/// <summary>The optional parts of an envelope. The numbers are part of what is stored.</summary>
[Flags]
internal enum EnvelopeFlags : ushort
{
    None = 0,

    /// <summary>The value is null; there is no payload.</summary>
    Null = 1,

    /// <summary>The payload is compressed by Brotli.</summary>
    Compressed = 2,

    Sliding = 4,

    LastModified = 8,

    ETag = 16,

    Tags = 32,

    All = Null | Compressed | Sliding | LastModified | ETag | Tags,
}
