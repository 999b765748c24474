using System.Runtime.CompilerServices;
using Cairn.Caching.Flights;
using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Policies;
using Cairn.Caching.Tagging;
using Cairn.Caching.Telemetry;

namespace Cairn.Caching;

// Searches of the first level beyond a simple hit, and the changes of its entries over time.
public sealed partial class CairnHybridCache
{
    private bool IsCacheable(ReadOnlySpan<char> key) => KeyRules.IsCacheable(key, _options.MaximumKeyLength);

    private bool IsForShared(string key) => KeyRules.Fits(key, _level.MaxKeyBytes);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void CountLocalHit(LocalEntry entry)
    {
        _counters.Add(CacheCount.LocalHit);
        if (_options.ReportTagMetrics && entry.Tags is { } tags)
        {
            CountTags(tags, "local_hit");
        }
    }

    private void CountTags(TagStamps tags, string result)
    {
        foreach (Tag tag in tags.Tags)
        {
            _metrics.CountTag(tag.Name, result);
        }
    }

    // Returns an entry that may have expired, if it may still be used and its tags are known to be unchanged.
    private LocalEntry? FindUsable(ulong hash, ReadOnlySpan<char> key)
    {
        bool isCaughtUp = !_hasLevel || _coherence.TryCatchUp(hash); // I1
        return (isCaughtUp || _coherence.AllowedAgeMs > 0)
            && _local.Find(hash, key) is { } entry
            && _clock.NowMs() < entry.UsableUntil
            && (isCaughtUp ? entry.Tags is null || AreCurrent(entry.Tags) : IsYoung(entry))
                ? entry
                : null;
    }

    // Applies while invalidations of other processes do not arrive. Nothing is served that is older than the allowed delay of invalidations.
    // Changes of this process count at once, as always.
    private bool IsYoung(LocalEntry entry) =>
        _clock.NowMs() - (entry.AsOf * 1000L) < _coherence.AllowedAgeMs && (entry.Tags is null || AreAsLastKnown(entry.Tags));

    // FindUsable, but it reads the second level for tags whose stamps are not known.
    private async ValueTask<LocalEntry?> FindCurrentAsync(string key, ulong hash, LevelWait wait)
    {
        bool isCaughtUp = !_hasLevel || _coherence.TryCatchUp(hash); // I1
        if (!(isCaughtUp || _coherence.AllowedAgeMs > 0) || _local.FindSurely(hash, key) is not { } entry || _clock.NowMs() >= entry.UsableUntil)
        {
            return null;
        }

        bool isCurrent = isCaughtUp
            ? entry.Tags is null || await AreCurrentAsync(entry.Tags, mayBeKnown: true, wait).ConfigureAwait(false)
            : IsYoung(entry);
        return isCurrent ? entry : null;
    }

    // Returns the earliest second in which a flight may have begun if it is to be joined.
    private uint OldestOfUse(ulong hash) =>
        !_hasLevel || _coherence.AllowedAgeMs is not (> 0 and var allowed) || _coherence.TryCatchUp(hash) ? 0 : (uint)((_clock.NowMs() - allowed) / 1000) + 1;

    private uint BeganNow() => _hasLevel ? (uint)(_clock.NowMs() / 1000) : 0;

    private ValueTask<LocalEntry?> TryTakeFreshAsync<T>(ValueFlight<T> flight)
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
        if (entry is null || _clock.NowMs() < entry.FreshUntil)
        {
            return entry;
        }

        flight.Stale ??= entry;
        return null;
    }

    private CacheFactoryContext<T> ContextOf<T>(ValueFlight<T> flight, EntryPolicy policy)
    {
        return flight.Stale is { } stale && _clock.NowMs() < stale.UsableUntil && TryTake(stale, out T? old)
            ? new CacheFactoryContext<T>(
                flight.Key, policy.Options, new CacheResult<T>(IsFound: true, old, IsStale: true), stale.Extras?.ETag, stale.Extras?.LastModified)
            : new CacheFactoryContext<T>(flight.Key, policy.Options, default, etag: null, lastModified: null);
    }

    private void SlideIfDue(LocalEntry entry, long now, EntryPolicy policy)
    {
        if (now >= entry.QuietUntil)
        {
            Slide(entry, now, policy);
        }
    }

    // Extends the sliding expiration after a hit that comes after the quiet time, in the second level too.
    private void Slide(LocalEntry entry, long now, EntryPolicy policy)
    {
        if (entry.Extras is not { SlidingMs: > 0 } extras)
        {
            return;
        }

        Volatile.Write(ref extras.FreshUntil, Math.Max(extras.FreshUntil, Math.Min(extras.FreshAtMost, now + extras.SlidingMs)));
        Volatile.Write(ref entry.QuietUntil, QuietUntil(entry, now));
        if (_hasLevel && policy.WritesShared)
        {
            // Not awaited: a slow second level must not slow down hits.
            _ = _level.TouchAsync(entry.Key, entry.Hash, ExpirationOf(entry, _clock.Read()), CancellationToken.None).AsTask();
        }
    }

    // After a failed refresh: the entry continues to be served, and the next attempt comes after the throttle time.
    private void Postpone(LocalEntry entry, EntryPolicy policy)
    {
        long next = _clock.NowMs() + Math.Max(1, policy.ThrottleMs);
        Volatile.Write(ref entry.QuietUntil, Math.Max(entry.QuietUntil, Math.Min(entry.FreshUntil, next)));
        entry.EndRefresh();
    }

    private void OnDependencyChanged(string key) => _ = RemoveDependentAsync(key);

    private async Task RemoveDependentAsync(string key)
    {
        try
        {
            await RemoveAsync(key).ConfigureAwait(false);
        }
        catch (ObjectDisposedException)
        {
            // A closed cache serves no values.
        }
#pragma warning disable CA1031 // A change token calls this; an exception would reach no caller.
        catch (Exception fault) when (fault is not OutOfMemoryException)
#pragma warning restore CA1031
        {
            _log.DependencyNotApplied(key, fault);
        }
    }
}
