namespace Cairn.Caching.Local;

// What the first level holds of a key. Its content never changes once readers can find it, but for what is marked so: a new
// value is a new entry. How it is linked into the table and its queues is in LocalEntry.Links.cs.
//
//   made              QuietUntil             FreshUntil              UsableUntil
//   |  a hit asks nothing | refreshed ahead, slid | stale: fail-safe      | as if it were not there
//
//   I1  QuietUntil <= FreshUntil <= UsableUntil, all in milliseconds of the cache's own clock, which never goes back.
internal sealed partial class LocalEntry(string key, ulong hash) : LocalEntryFront(key, hash)
{
    public long UsableUntil;

    /// <summary>Its share of the level's bytes: value, key and what holds them together.</summary>
    public long Bytes;

    /// <summary>What only some entries have: sliding, eager refresh, conditional refresh, dependencies. Null: quiet as long as it is fresh.</summary>
    public LocalExtras? Extras;

    private bool _isRefreshing;

    /// <summary>Raised later if it slides.</summary>
    public long FreshUntil => Extras is { } extras ? Volatile.Read(ref extras.FreshUntil) : QuietUntil;

    /// <summary>True for the one caller who may refresh it.</summary>
    public bool TryBeginRefresh() => !Interlocked.CompareExchange(ref _isRefreshing, true, false);

    /// <summary>The refresh failed, and may be tried again.</summary>
    public void EndRefresh() => Volatile.Write(ref _isRefreshing, false);

    public bool IsRefreshing => Volatile.Read(ref _isRefreshing);
}
