namespace Cairn.Caching.Flights;

/// <summary>A factory that only creates a value.</summary>
internal readonly struct PlainFactory<TState, T>(Func<TState, CancellationToken, ValueTask<T>> factory) : ICacheFactory<TState, T>
{
    public static bool IsAdaptive => false;

    public ValueTask<T> InvokeAsync(TState state, CacheFactoryContext<T>? context, CancellationToken cancellationToken) =>
        factory(state, cancellationToken);
}
