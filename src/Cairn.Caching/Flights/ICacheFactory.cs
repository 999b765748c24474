namespace Cairn.Caching.Flights;

/// <summary>A factory of either form. Implemented by structures, so that a call costs what the delegate costs.</summary>
internal interface ICacheFactory<in TState, T>
{
    /// <summary>True if it wants a context, and decides about the entry.</summary>
    static abstract bool IsAdaptive { get; }

    ValueTask<T> InvokeAsync(TState state, CacheFactoryContext<T>? context, CancellationToken cancellationToken);
}
