namespace Cairn.Caching.Tagging;

/// <summary>The tags of an entry with the stamps they had before its value was made. Never changes.</summary>
internal sealed class TagStamps(Tag[] tags, ulong[] stamps)
{
    public Tag[] Tags { get; } = tags;

    public ulong[] Stamps { get; } = stamps;
}
