namespace Cairn.Caching.Flights;

/// <summary>A factory of either kind. Implemented by structures, so that a call costs as little as that of the delegate.</summary>
internal interface ICacheFactory<in TState, T>
{
    /// <summary>True if the factory takes a context and decides how the entry is cached.</summary>
    static abstract bool IsAdaptive { get; }

    ValueTask<T> InvokeAsync(TState state, CacheFactoryContext<T>? context, CancellationToken cancellationToken);
}
