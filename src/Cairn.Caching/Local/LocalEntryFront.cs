using Cairn.Caching.Tagging;

namespace Cairn.Caching.Local;

// The fields of an entry that a hit reads. The runtime lays out the fields of a base class before those of the derived class, so these are
// adjacent, and a hit touches one or two cache lines of an entry instead of three.
internal abstract class LocalEntryFront(string key, ulong hash)
{
    public readonly string Key = key;

    public readonly ulong Hash = hash;

    /// <summary>
    /// The value itself if it may be shared; otherwise its <see cref="Serialization.LocalPayload"/>, from which each reader gets a copy.
    /// </summary>
    public object? Value;

    /// <summary>The tags of the entry with their stamps from before the value was created; null for none.</summary>
    public TagStamps? Tags;

    /// <summary>
    /// The count of <see cref="TagChanges"/> at which the stamps were last found current; 0 if they were not compared yet. Written after
    /// <see cref="TagPartitions"/>.
    /// </summary>
    public ulong TagsCheckedAt;

    /// <summary>The partitions of the second level that report changes of the entry's tags, as bits, if the second level is a store.</summary>
    public ulong TagPartitions;

    /// <summary>
    /// The next entry of the same bucket. Not changed when the entry leaves, so that a reader at this entry still reaches the entries behind
    /// it.
    /// </summary>
    public LocalEntry? Next;

    /// <summary>The time until which a hit needs no other check of times. May change later, within I1 of <see cref="LocalEntry"/>.</summary>
    public long QuietUntil;

    /// <summary>
    /// A second of the cache's own clock: the value includes every change that other machines had made by then. 0 if this does not matter. Set
    /// before readers can find the entry. 32 bits, so that it fits beside the frequency.
    /// </summary>
    public uint AsOf;

    /// <summary>
    /// The uses since the entry entered its queue, up to <see cref="Eviction.Dueling.QueuePolicy.MaxFrequency"/>; reduced by one each time the main queue keeps
    /// the entry for another round.
    /// </summary>
    public byte Frequency;
}
