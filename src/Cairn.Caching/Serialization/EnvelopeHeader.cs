using Cairn.Caching.Tagging;

namespace Cairn.Caching.Serialization;

/// <summary>The header of an envelope. Times are Unix milliseconds.</summary>
internal struct EnvelopeHeader
{
    /// <summary>The format of the serialized value.</summary>
    public byte Format;

    /// <summary>The flags. Set by a read. A write derives them from the other fields, except <see cref="EnvelopeFlags.Null"/>.</summary>
    public EnvelopeFlags Flags;

    public ulong TypeId;

    public long CreatedAt;

    /// <summary>The end of freshness; <see cref="long.MaxValue"/> for no limit.</summary>
    public long FreshUntil;

    /// <summary>The end of usability; <see cref="long.MaxValue"/> for no limit.</summary>
    public long UsableUntil;

    /// <summary>The sliding expiration in milliseconds; 0 for none.</summary>
    public long SlidingMs;

    /// <summary>The length of the payload before compression. Set by a read.</summary>
    public int PayloadBytes;

    public string? ETag;

    /// <summary>The last modification of the value at its source. A read returns it in UTC.</summary>
    public DateTimeOffset? LastModified;

    /// <summary>The tags to write.</summary>
    public TagStamps? Tags;

    /// <summary>The tags that were read. They refer to the envelope's memory, and are valid as long as that is.</summary>
    public EnvelopeTags StoredTags;

    public readonly bool IsNull => (Flags & EnvelopeFlags.Null) != 0;

    public readonly bool IsCompressed => (Flags & EnvelopeFlags.Compressed) != 0;
}
