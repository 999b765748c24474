namespace Cairn.Caching.Tagging;

// How often the stamp of any tag has changed. Who has compared an entry's stamps with those of its tags, and finds the count as it was before that, need
// not compare them again: stamps and tags lie apart from the entry, each in memory that few others have looked at.
internal sealed class TagChanges
{
    private ulong _count = 1;

    /// <summary>The count, never 0. Taken before stamps are compared.</summary>
    // Acquire; pairs with Count: who finds the count of before a change may still find the tag as it was.
    public ulong Now => Volatile.Read(ref _count);

    /// <summary>A stamp has changed. Called after it has, and before anybody is told so.</summary>
    public void Count() => Interlocked.Increment(ref _count);
}
