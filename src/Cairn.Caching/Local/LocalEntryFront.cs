using Cairn.Caching.Tagging;

namespace Cairn.Caching.Local;

// What a hit looks at of an entry. The runtime lays the fields of a base class before those of the derived one, so these lie together
// and a hit touches one cache line or two of an entry, not three.
internal abstract class LocalEntryFront(string key, ulong hash)
{
    public readonly string Key = key;

    public readonly ulong Hash = hash;

    /// <summary>The value itself if it may be shared, else its <see cref="Serialization.LocalPayload"/>, from which each reader gets a copy.</summary>
    public object? Value;

    /// <summary>The tags it was made with, and their stamps at that time; null for none.</summary>
    public TagStamps? Tags;

    /// <summary>The count of <see cref="TagChanges"/> at which its stamps were those of its tags; 0 if nobody has compared them. Written before it: the partitions.</summary>
    public ulong TagsCheckedAt;

    /// <summary>The partitions of the second level that its tags belong to, a bit for each, where they are asked for changes.</summary>
    public ulong TagPartitions;

    /// <summary>
    /// The next entry of the same bucket. It stays as it is when the entry leaves, so that a reader who stands on the entry
    /// still gets to the ones behind it.
    /// </summary>
    public LocalEntry? Next;

    /// <summary>Until then a hit needs no further look at times. Changed later, within I1 of <see cref="LocalEntry"/>.</summary>
    public long QuietUntil;

    /// <summary>
    /// A second of the cache's own clock: every change that others had made by then counts in the value. 0 if that is of no use. Set before
    /// readers can find it; so short because it fits in beside the frequency.
    /// </summary>
    public uint AsOf;

    /// <summary>Uses since it came to its queue, up to <see cref="LocalEntry.MaxFrequency"/>; one less each time the main queue gives it another round.</summary>
    public byte Frequency;
}
