using System.Runtime.CompilerServices;
using Cairn.Caching.Flights;
using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Policies;
using Cairn.Caching.Tagging;
using Cairn.Caching.Telemetry;

namespace Cairn.Caching;

// Looks into the first level that take more than a hit does, and what happens to entries there as time goes on.
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

    // An entry that may have expired, if it is of use still and its tags are known to be as they were.
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

    // While others are not heard of: nothing that is served is older than if they were heard of as late as is allowed. Changes of
    // this process count at once, as always.
    private bool IsYoung(LocalEntry entry) =>
        _clock.NowMs() - (entry.AsOf * 1000L) < _coherence.AllowedAgeMs && (entry.Tags is null || AreAsLastKnown(entry.Tags));

    // The same, asking the second level about tags.
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

    // The second in which a flight must have begun, or later, to be joined.
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

    // A hit that comes after the quiet time: the entry lives on from now, in the second level, too.
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
            // Nobody waits for it: that a second level is slow is no reason for hits to be.
            _ = _level.TouchAsync(entry.Key, entry.Hash, ExpirationOf(entry, _clock.Read()), CancellationToken.None).AsTask();
        }
    }

    // The refresh of an entry failed: it is served on, and tried again after a while.
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
            // Nothing is served any more.
        }
#pragma warning disable CA1031 // Called by a token: there is nobody to throw at.
        catch (Exception fault) when (fault is not OutOfMemoryException)
#pragma warning restore CA1031
        {
            _log.DependencyNotApplied(key, fault);
        }
    }
}
