namespace Cairn.Caching.Composition;

/// <summary>A hybrid cache that was registered, for who wants all there are.</summary>
/// <param name="Name">The text of its key; empty for the one without.</param>
/// <param name="Resolve">Gets it, and makes it if need be.</param>
internal sealed record RegisteredCache(string Name, Func<IServiceProvider, CairnHybridCache> Resolve);
