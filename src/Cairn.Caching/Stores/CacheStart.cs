using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Caching.Stores;

// A cache whose store cannot be opened should fail when the host starts, not with the first request. A host validates options before it
// starts any service; CacheStart makes this validation resolve the cache. Hosted services would need an additional package for this.
internal static class CacheStart
{
    /// <summary>Makes a host create the cache when it starts; <paramref name="name"/> distinguishes caches of one type.</summary>
    public static void Resolve<TCache>(IServiceCollection services, string name, Func<IServiceProvider, TCache> resolve)
        where TCache : class =>
        services.AddOptions<Marker<TCache>>(name)
            .Validate<IServiceProvider>((_, provider) => resolve(provider) is not null)
            .ValidateOnStart();

    /// <summary>The options that are validated. The validation only checks that the cache can be resolved.</summary>
    private sealed class Marker<TCache>
        where TCache : class;
}
