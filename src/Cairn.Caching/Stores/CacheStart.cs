using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Caching.Stores;

// A cache whose store cannot be opened should fail when the host starts, not with the first request. A host validates options before it
// starts anything; this has it resolve the cache then. Hosted services would need a package of their own for the same.
internal static class CacheStart
{
    /// <summary>Has a host make the cache when it starts; <paramref name="name"/> tells caches of a type apart.</summary>
    public static void Resolve<TCache>(IServiceCollection services, string name, Func<IServiceProvider, TCache> resolve)
        where TCache : class =>
        services.AddOptions<Marker<TCache>>(name)
            .Validate<IServiceProvider>((_, provider) => resolve(provider) is not null)
            .ValidateOnStart();

    /// <summary>What is validated: nothing but that the cache is there.</summary>
    private sealed class Marker<TCache>
        where TCache : class;
}
