namespace Cairn.Caching.Local;

// The first level's entry of a key. Once readers can find it, its content never changes, except the fields whose comments allow it: a new
// value is a new entry. LocalEntry.Links.cs has the links of the entry in the table and the queues.
//
//   created                 QuietUntil               FreshUntil              UsableUntil
//   |  a hit checks nothing | eager refresh, sliding | stale: fail-safe      | counts as missing
//
//   I1  QuietUntil <= FreshUntil <= UsableUntil, all in milliseconds of the cache's own clock, which never goes back.
internal sealed partial class LocalEntry(string key, ulong hash) : LocalEntryFront(key, hash)
{
    public long UsableUntil;

    /// <summary>The entry's bytes: its value, its key and the overhead.</summary>
    public long Bytes;

    /// <summary>
    /// The state that only some entries need: sliding, eager refresh, conditional refresh, dependencies. Null if the entry is quiet as long as
    /// it is fresh.
    /// </summary>
    public LocalExtras? Extras;

    private bool _isRefreshing;

    /// <summary>The end of freshness. A sliding expiration moves it later.</summary>
    public long FreshUntil => Extras is { } extras ? Volatile.Read(ref extras.FreshUntil) : QuietUntil;

    /// <summary>Returns true to the one caller that may refresh the entry.</summary>
    public bool TryBeginRefresh() => !Interlocked.CompareExchange(ref _isRefreshing, true, false);

    /// <summary>Allows another refresh after one has failed.</summary>
    public void EndRefresh() => Volatile.Write(ref _isRefreshing, false);
}
