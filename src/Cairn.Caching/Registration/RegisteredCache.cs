namespace Cairn.Caching.Registration;

/// <summary>The registration of a hybrid cache, used to enumerate all of them.</summary>
/// <param name="Name">The text of the cache's key; empty for the cache without a key.</param>
/// <param name="Resolve">The function that resolves the cache, and creates it if needed.</param>
internal sealed record RegisteredCache(string Name, Func<IServiceProvider, CairnHybridCache> Resolve);
