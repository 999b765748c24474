using Cairn.Caching.Flights;
using Cairn.Caching.Policies;

namespace Cairn.Caching.Operations;

/// <summary>A caller's request for the value of a key: how the value is created, and how it is cached.</summary>
internal readonly struct CreateRequest<TFactory, TState, T>(TFactory factory, TState state, EntryPolicy policy, IEnumerable<string>? tags)
    where TFactory : struct, ICacheFactory<TState, T>
{
    public TFactory Factory { get; } = factory;

    public TState State { get; } = state;

    public EntryPolicy Policy { get; init; } = policy;

    /// <summary>The tags that the caller names; null for none.</summary>
    public IEnumerable<string>? Tags { get; } = tags;
}
