namespace Cairn.Caching.Flights;

/// <summary>A factory that also decides how its value is cached.</summary>
internal readonly struct AdaptiveFactory<TState, T>(Func<TState, CacheFactoryContext<T>, CancellationToken, ValueTask<T>> factory)
    : ICacheFactory<TState, T>
{
    public static bool IsAdaptive => true;

    public ValueTask<T> InvokeAsync(TState state, CacheFactoryContext<T>? context, CancellationToken cancellationToken) =>
        factory(state, context!, cancellationToken);
}
