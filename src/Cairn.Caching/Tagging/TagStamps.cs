namespace Cairn.Caching.Tagging;

/// <summary>The tags of an entry with their stamps from before its value was created. Immutable.</summary>
internal sealed class TagStamps(Tag[] tags, ulong[] stamps)
{
    public Tag[] Tags { get; } = tags;

    public ulong[] Stamps { get; } = stamps;

    /// <summary>True if all stamps are those of the second level, which are valid in other processes too.</summary>
    public bool AreKnown => Array.TrueForAll(Stamps, Tag.IsKnown);

    /// <summary>True if the stamp of a tag was not known when the value was created: then the value is never valid.</summary>
    public bool HasUnknown => Array.IndexOf(Stamps, Tag.Unknown) >= 0;
}
