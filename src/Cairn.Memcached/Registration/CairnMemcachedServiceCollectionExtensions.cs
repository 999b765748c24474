using Cairn.Clients.Caches;
using Cairn.Memcached;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Extension methods that register <see cref="CairnMemcachedCache"/>.</summary>
public static class CairnMemcachedServiceCollectionExtensions
{
    /// <summary>Adds a distributed cache on memcached or Cairn servers. A hybrid cache also uses its leases.</summary>
    /// <param name="services">The service collection.</param>
    /// <param name="servers">The servers, in the format of <see cref="CairnMemcachedOptions.Servers"/>.</param>
    /// <returns>The same service collection.</returns>
    /// <remarks>The cache takes precedence over an <see cref="IDistributedCache"/> that was registered before.</remarks>
    public static IServiceCollection AddCairnMemcached(this IServiceCollection services, params string[] servers)
    {
        ArgumentNullException.ThrowIfNull(servers);
        return services.AddCairnMemcached(options =>
        {
            foreach (string server in servers)
            {
                options.Servers.Add(server);
            }
        });
    }

    /// <inheritdoc cref="AddCairnMemcached(IServiceCollection, string[])"/>
    /// <param name="services">The service collection.</param>
    /// <param name="configure">Sets the options, at least <see cref="CairnMemcachedOptions.Servers"/>.</param>
    public static IServiceCollection AddCairnMemcached(this IServiceCollection services, Action<CairnMemcachedOptions> configure) =>
        CacheRegistration.AddCache(services, configure, static (CairnMemcachedOptions options, ILogger<CairnMemcachedCache>? logger) => new CairnMemcachedCache(options, logger));
}
