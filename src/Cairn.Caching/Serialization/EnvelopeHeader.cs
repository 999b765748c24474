using Cairn.Caching.Tagging;

namespace Cairn.Caching.Serialization;

/// <summary>What an envelope says of its value. Times are Unix milliseconds.</summary>
internal struct EnvelopeHeader
{
    /// <summary>Which serializer wrote the value.</summary>
    public byte Format;

    /// <summary>Set when read; when written, they follow from the rest, but for <see cref="EnvelopeFlags.Null"/>.</summary>
    public EnvelopeFlags Flags;

    public ulong TypeId;

    public long CreatedAt;

    /// <summary><see cref="long.MaxValue"/> for ever.</summary>
    public long FreshUntil;

    /// <summary><see cref="long.MaxValue"/> for ever.</summary>
    public long UsableUntil;

    /// <summary>How long the entry lives without being read, in milliseconds; 0 if that does not matter.</summary>
    public long SlidingMs;

    /// <summary>Length of the payload before compression. Set when read.</summary>
    public int PayloadBytes;

    public string? ETag;

    /// <summary>Comes back in UTC.</summary>
    public DateTimeOffset? LastModified;

    /// <summary>The tags to be written.</summary>
    public TagStamps? Tags;

    /// <summary>The tags that were read. They are in the envelope's own memory, and valid as long as that is.</summary>
    public EnvelopeTags StoredTags;

    public readonly bool IsNull => (Flags & EnvelopeFlags.Null) != 0;

    public readonly bool IsCompressed => (Flags & EnvelopeFlags.Compressed) != 0;
}
