namespace Cairn.Caching.Tagging;

/// <summary>The tags of an entry with the stamps they had before its value was made. Never changes.</summary>
internal sealed class TagStamps(Tag[] tags, ulong[] stamps)
{
    public Tag[] Tags { get; } = tags;

    public ulong[] Stamps { get; } = stamps;

    /// <summary>True if all are stamps of the second level, which mean something to others.</summary>
    public bool AreKnown => Array.TrueForAll(Stamps, Tag.IsKnown);

    /// <summary>True if the stamp of a tag was not known when the value was made: then it never counts.</summary>
    public bool HasUnknown => Array.IndexOf(Stamps, Tag.Unknown) >= 0;
}
