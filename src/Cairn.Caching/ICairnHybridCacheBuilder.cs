using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Caching;

/// <summary>A hybrid cache that is being registered.</summary>
public interface ICairnHybridCacheBuilder
{
    /// <summary>The name of its options; empty for the cache without a key.</summary>
    string Name { get; }

    /// <summary>Where it is registered.</summary>
    IServiceCollection Services { get; }
}
