using Cairn.Caching.Flights;
using Cairn.Caching.Policies;
using Cairn.Caching.Telemetry;

namespace Cairn.Caching.Operations;

// Waits for flights. A flight continues when its callers' time-outs pass. It is cancelled when all its callers have cancelled.
internal sealed class FlightWaiter(CacheParts parts, FailSafe failSafe)
{
    /// <summary>Waits for a flight as long as the policy allows, then serves an expired value if there is one.</summary>
    public async ValueTask<T> WaitAsync<T>(ValueFlight<T> flight, EntryPolicy policy, bool isOwner, CancellationToken cancellationToken)
    {
        Task ended = flight.Ended;
        try
        {
            if (policy.SoftTimeout != Timeout.InfiniteTimeSpan && policy.FailSafeMs > 0 && policy.SoftTimeout < policy.LongestWait)
            {
                if (await EndsWithinAsync(ended, policy.SoftTimeout, cancellationToken).ConfigureAwait(false))
                {
                    return flight.GetResult(isOwner);
                }

                if (failSafe.TryTakeStale(flight, policy, out T? soft))
                {
                    return soft;
                }

                TimeSpan left = policy.HardTimeout == Timeout.InfiniteTimeSpan ? policy.HardTimeout : policy.HardTimeout - policy.SoftTimeout;
                if (await EndsWithinAsync(ended, left, cancellationToken).ConfigureAwait(false))
                {
                    return flight.GetResult(isOwner);
                }
            }
            else if (await EndsWithinAsync(ended, policy.HardTimeout, cancellationToken).ConfigureAwait(false))
            {
                return flight.GetResult(isOwner);
            }
        }
        catch (OperationCanceledException cancelled) when (cancellationToken.IsCancellationRequested)
        {
            if (!flight.HasEnded)
            {
                flight.Leave();
            }

            throw OfCaller(cancelled, cancellationToken);
        }

        if (failSafe.TryTakeStale(flight, policy, out T? stale))
        {
            return stale;
        }

        parts.Counters.Add(CacheCount.FactoryTimeout);
        throw new TimeoutException(
            $"The factory of '{flight.Key}' took longer than {policy.HardTimeout} and there is no expired value to serve. The factory continues, and its "
            + $"result is kept. The limit is {nameof(CairnEntryOptions.FactoryHardTimeout)}.");
    }

    /// <summary>Waits for another caller's flight on behalf of a factory. That flight must not wait for the factory.</summary>
    public async ValueTask<T> WaitWithinAsync<T>(ValueFlight<T> joined, Flight scope, EntryPolicy policy, CancellationToken cancellationToken)
    {
        if (!FlightScope.TryBeginWaiting(scope, joined))
        {
            joined.Leave();
            throw FlightScope.RefusalOfEachOther(scope.Key, joined.Key);
        }

        try
        {
            return await WaitAsync(joined, policy, isOwner: false, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            FlightScope.EndWaiting(scope, joined);
        }
    }

    /// <summary>Creates exactly this type, as Microsoft's implementation does: some callers compare the type. Timers and tasks throw a derived type.</summary>
    public static OperationCanceledException OfCaller(OperationCanceledException cancelled, CancellationToken cancellationToken) =>
        new(cancelled.Message, cancelled, cancellationToken);

    private async ValueTask<bool> EndsWithinAsync(Task ended, TimeSpan time, CancellationToken cancellationToken)
    {
        try
        {
            await ended.WaitAsync(time, parts.Clock.Provider, cancellationToken).ConfigureAwait(false);
            return true;
        }
        catch (TimeoutException)
        {
            return false;
        }
    }
}
