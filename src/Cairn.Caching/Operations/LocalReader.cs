using Cairn.Caching.Flights;
using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Policies;
using Cairn.Caching.Telemetry;

namespace Cairn.Caching.Operations;

// Reads of the first level beyond a simple hit, and the changes of entries over time.
internal sealed class LocalReader(CacheParts parts, TagReader tags, EntryConverter converter)
{
    /// <summary>Takes an entry that a read without a factory finds in the first level. If a refresh is due, the next hit with a factory starts it.</summary>
    public bool TryTakeFresh<T>(LocalEntry? entry, EntryPolicy policy, [MaybeNullWhen(false)] out T value)
    {
        value = default;
        long now = parts.Clock.NowMs();
        if (entry is null || now >= entry.FreshUntil || !converter.TryTake(entry, out value))
        {
            return false;
        }

        if (now >= entry.QuietUntil)
        {
            Slide(entry, now, policy);
        }

        parts.Counters.Add(CacheCount.LocalHit);
        return true;
    }

    /// <summary>Returns an entry that may have expired, if it may still be used and its tags are known to be unchanged.</summary>
    public LocalEntry? FindUsable(ulong hash, ReadOnlySpan<char> key)
    {
        bool isCaughtUp = parts.Changes.TryCatchUp(hash); // CacheParts, I1
        return (isCaughtUp || parts.Coherence.AllowedAgeMs > 0)
            && parts.FirstLevel.Find(hash, key) is { } entry
            && parts.Clock.NowMs() < entry.UsableUntil
            && (isCaughtUp ? entry.Tags is null || tags.AreCurrent(entry.Tags) : IsYoung(entry))
                ? entry
                : null;
    }

    // Applies while invalidations of other processes do not arrive. Nothing is served that is older than the allowed delay of invalidations.
    // Changes of this process count at once, as always.
    private bool IsYoung(LocalEntry entry) =>
        parts.Clock.NowMs() - (entry.AsOf * 1000L) < parts.Coherence.AllowedAgeMs && (entry.Tags is null || TagReader.AreAsLastKnown(entry.Tags));

    /// <summary>Does the same as <see cref="FindUsable"/>, but reads the second level for tags whose stamps are not known.</summary>
    public async ValueTask<LocalEntry?> FindCurrentAsync(string key, ulong hash, LevelWait wait)
    {
        bool isCaughtUp = parts.Changes.TryCatchUp(hash); // CacheParts, I1
        if (!(isCaughtUp || parts.Coherence.AllowedAgeMs > 0) || parts.FirstLevel.FindSurely(hash, key) is not { } entry || parts.Clock.NowMs() >= entry.UsableUntil)
        {
            return null;
        }

        bool isCurrent = isCaughtUp
            ? entry.Tags is null || await tags.AreCurrentAsync(entry.Tags, mayBeKnown: true, wait).ConfigureAwait(false)
            : IsYoung(entry);
        return isCurrent ? entry : null;
    }

    /// <summary>Returns a fresh entry of the flight's key. The flight remembers an expired one.</summary>
    public ValueTask<LocalEntry?> FindFreshAsync<T>(ValueFlight<T> flight)
    {
        ValueTask<LocalEntry?> finding = FindCurrentAsync(flight.Key, flight.Hash, flight.Wait);
        return finding.IsCompletedSuccessfully
            ? new ValueTask<LocalEntry?>(FreshOf(flight, finding.Result))
            : FreshOfAsync(flight, finding);
    }

    private async ValueTask<LocalEntry?> FreshOfAsync<T>(ValueFlight<T> flight, ValueTask<LocalEntry?> finding) =>
        FreshOf(flight, await finding.ConfigureAwait(false));

    private LocalEntry? FreshOf<T>(ValueFlight<T> flight, LocalEntry? entry)
    {
        if (entry is null || parts.Clock.NowMs() < entry.FreshUntil)
        {
            return entry;
        }

        flight.Stale ??= entry;
        return null;
    }

    /// <summary>Extends the sliding expiration after a hit that comes after the quiet time, in the second level too.</summary>
    public void Slide(LocalEntry entry, long now, EntryPolicy policy)
    {
        if (entry.Extras is not { SlidingMs: > 0 } extras)
        {
            return;
        }

        Volatile.Write(ref extras.FreshUntil, Math.Max(extras.FreshUntil, Math.Min(extras.FreshAtMost, now + extras.SlidingMs)));
        Volatile.Write(ref entry.QuietUntil, EntryConverter.QuietUntil(entry, now));
        if (parts.HasLevel && policy.WritesShared)
        {
            // Not awaited: a slow second level must not slow down hits.
            LevelExpiration expiration = EntryConverter.ExpirationOf(entry, parts.Clock.Read());
            _ = parts.SecondLevel.TouchAsync(entry.Key, entry.Hash, expiration, CancellationToken.None).AsTask();
        }
    }
}
