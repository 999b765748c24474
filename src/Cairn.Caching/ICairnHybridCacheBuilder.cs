using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Caching;

/// <summary>The registration of a hybrid cache.</summary>
public interface ICairnHybridCacheBuilder
{
    /// <summary>The name of the cache's options; empty for the cache without a key.</summary>
    string Name { get; }

    /// <summary>The service collection of the registration.</summary>
    IServiceCollection Services { get; }
}
