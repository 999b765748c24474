namespace Cairn.Caching.Tagging;

// Counts the changes of all tags' stamps. If the count has not changed since an entry's stamps were compared with those of its tags, they need
// not be compared again. This saves memory accesses: stamps and tags are apart from the entry, and often not in a processor cache.
internal sealed class TagChanges
{
    private ulong _count = 1;

    /// <summary>The count, never 0. Read before stamps are compared.</summary>
    // Acquire; pairs with Count: a thread that reads an older count may still see the tag's older stamp.
    public ulong Now => Volatile.Read(ref _count);

    /// <summary>Counts a change of a stamp. Called after the change, and before it is acknowledged.</summary>
    public void Count() => Interlocked.Increment(ref _count);
}
