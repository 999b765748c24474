using Cairn.Caching.Flights;
using Cairn.Caching.Local;
using Cairn.Caching.Policies;
using Cairn.Caching.Telemetry;
using Cairn.Caching.Timing;

namespace Cairn.Caching.Operations;

// Serves an expired value if a factory fails or takes too long, and ends flights that failed.
internal sealed class FailSafe(CacheParts parts, TagReader tags, EntryConverter converter, EntryKeeper keeper)
{
    /// <summary>Takes the expired value that a flight has found, if it may be served.</summary>
    public bool TryTakeStale<T>(ValueFlight<T> flight, EntryPolicy policy, [MaybeNullWhen(false)] out T value)
    {
        if (policy.FailSafeMs > 0 && flight.Stale is { } stale && IsStillUsable(flight, stale) && converter.TryTake(stale, out value))
        {
            parts.Counters.Add(CacheCount.StaleServed);
            return true;
        }

        value = default;
        return false;
    }

    /// <summary>Ends a flight whose factory has failed.</summary>
    public void Fail<T>(ValueFlight<T> flight, EntryPolicy policy, Exception fault, bool isRefresh)
    {
        if (isRefresh)
        {
            // Only callers that have joined meanwhile wait for a refresh.
            parts.Log.RefreshFailed(flight.Key, fault);
            if (flight.Stale is { } present && parts.Clock.NowMs() >= present.FreshUntil && IsStillUsable(flight, present))
            {
                KeepThrottled(flight, present, policy);
            }

            parts.Counters.Add(CacheCount.FactoryFault);
            flight.Fail(fault);
            return;
        }

        bool isCancelled = fault is OperationCanceledException && flight.Token.IsCancellationRequested;
        if (!isCancelled)
        {
            parts.Counters.Add(CacheCount.FactoryFault);
            if (policy.FailSafeMs > 0 && flight.Stale is { } stale && IsStillUsable(flight, stale) && converter.TryTake(stale, out T? value))
            {
                // The source is not called again for the throttle time, because it may be down.
                KeepThrottled(flight, stale, policy);
                parts.Counters.Add(CacheCount.StaleServed);
                parts.Log.FactoryFailed(flight.Key, fault);
                flight.Tags = stale.Tags;
                flight.Succeed(value!, converter.CopyOf<T>(stale));
                return;
            }
        }

        flight.Fail(fault);
    }

    /// <summary>After a failed refresh: the entry continues to be served, and the next attempt comes after the throttle time.</summary>
    public void Postpone(LocalEntry entry, EntryPolicy policy)
    {
        long next = parts.Clock.NowMs() + Math.Max(1, policy.ThrottleMs);
        Volatile.Write(ref entry.QuietUntil, Math.Max(entry.QuietUntil, Math.Min(entry.FreshUntil, next)));
        entry.EndRefresh();
    }

    // Returns whether an expired value may be served: its usable time has not passed, and nothing has changed since before it was found,
    // because a caller that waits for the flight may have come after the change. Without a second level only the first level knows of
    // changes: it no longer holds a removed entry.
    private bool IsStillUsable<T>(ValueFlight<T> flight, LocalEntry stale) =>
        parts.Clock.NowMs() < stale.UsableUntil
        && !flight.IsDetached
        && (parts.HasLevel
            ? parts.Coherence.IsUnchanged(flight.Before, flight.Hash)
            : parts.FirstLevel.FindSurely(flight.Hash, flight.Key) is { UsableUntil: var until } && until == stale.UsableUntil)
        && (stale.Tags is null || tags.AreCurrent(stale.Tags));

    // After a failure of the factory: the expired value counts as fresh for the throttle time.
    private void KeepThrottled<T>(ValueFlight<T> flight, LocalEntry stale, EntryPolicy policy)
    {
        if (!policy.WritesLocal || policy.ThrottleMs == 0)
        {
            return;
        }

        // Kept only if the first level still holds this entry. The entry may also come from the second level alone: then the mark, which is
        // older than the entry, shows whether it was removed.
        long until = Math.Min(stale.UsableUntil, CacheClock.Later(parts.Clock.NowMs(), policy.ThrottleMs));
        LocalEntry? present = parts.FirstLevel.FindSurely(flight.Hash, flight.Key);
        if (ReferenceEquals(present, stale) || (present is null && parts.HasLevel))
        {
            keeper.KeepLocal(flight, flight.Before, 0, EntryConverter.Copy(stale, until, stale.UsableUntil));
        }
    }
}
