using Cairn.Caching.Flights;
using Cairn.Caching.Policies;
using Cairn.Caching.Telemetry;

namespace Cairn.Caching.Operations;

// Calls the application's factories.
internal sealed class FactoryCaller(CacheParts parts, EntryConverter converter)
{
    /// <summary>Returns the information for an adaptive factory.</summary>
    public CacheFactoryContext<T> ContextOf<T>(ValueFlight<T> flight, EntryPolicy policy)
    {
        return flight.Stale is { } stale && parts.Clock.NowMs() < stale.UsableUntil && converter.TryTake(stale, out T? old)
            ? new CacheFactoryContext<T>(
                flight.Key, policy.Options, new CacheResult<T>(IsFound: true, old, IsStale: true), stale.Extras?.ETag, stale.Extras?.LastModified)
            : new CacheFactoryContext<T>(flight.Key, policy.Options, default, etag: null, lastModified: null);
    }

    /// <summary>Calls the factory of a flight. The flight is then that of the execution context.</summary>
    public ValueTask<T> CallAsync<TFactory, TState, T>(ValueFlight<T> flight, in CreateRequest<TFactory, TState, T> request, CacheFactoryContext<T>? context)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        parts.Counters.Add(CacheCount.FactoryRun);
        FlightScope.Enter(flight);
        return parts.Metrics.TimesFactories || CacheMetrics.Activities.HasListeners()
            ? WatchAsync(flight, request.Factory, request.State, context)
            : request.Factory.InvokeAsync(request.State, context, flight.Token);
    }

    /// <summary>Calls the factory of a key that cannot be cached.</summary>
    public async ValueTask<T> CallUncachedAsync<TFactory, TState, T>(string key, CreateRequest<TFactory, TState, T> request, CancellationToken cancellationToken)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        parts.Counters.Add(CacheCount.Uncached);
        if (!request.Policy.RunsFactory)
        {
            return default!;
        }

        CacheFactoryContext<T>? context = TFactory.IsAdaptive ? new(key, request.Policy.Options, default, null, null) : null;
        return await request.Factory.InvokeAsync(request.State, context, cancellationToken).ConfigureAwait(false);
    }

    // Calls the factory with a measurement and a trace.
    private async ValueTask<T> WatchAsync<TFactory, TState, T>(ValueFlight<T> flight, TFactory factory, TState state, CacheFactoryContext<T>? context)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        using Activity? activity = CacheMetrics.Activities.StartActivity("cairn.cache.factory");
        activity?.SetTag("cairn.cache.name", parts.Options.Name);
        long start = Stopwatch.GetTimestamp();
        bool isOk = false;
        try
        {
            T value = await factory.InvokeAsync(state, context, flight.Token).ConfigureAwait(false);
            isOk = true;
            return value;
        }
        catch (Exception fault)
        {
            activity?.SetStatus(ActivityStatusCode.Error, fault.Message);
            activity?.SetTag("error.type", fault.GetType().FullName);
            throw;
        }
        finally
        {
            parts.Metrics.RecordFactory(Stopwatch.GetElapsedTime(start), isOk);
        }
    }
}
