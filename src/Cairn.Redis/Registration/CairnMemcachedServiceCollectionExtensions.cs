using Cairn.Redis;
using Cairn.Redis.Registration;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Registers <see cref="CairnMemcachedCache"/>.</summary>
public static class CairnMemcachedServiceCollectionExtensions
{
    /// <summary>Adds a distributed cache on memcached or Cairn servers; under a hybrid cache, also its leases.</summary>
    /// <param name="services">Where to.</param>
    /// <param name="servers">The servers, as <see cref="CairnMemcachedOptions.Servers"/> takes them.</param>
    /// <returns>The same services.</returns>
    /// <remarks>It is the <see cref="IDistributedCache"/> that is resolved even if another was registered before.</remarks>
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
    /// <param name="services">Where to.</param>
    /// <param name="configure">Sets the options, at least <see cref="CairnMemcachedOptions.Servers"/>.</param>
    public static IServiceCollection AddCairnMemcached(this IServiceCollection services, Action<CairnMemcachedOptions> configure) =>
        CacheRegistration.AddCache(services, configure, static (CairnMemcachedOptions options, ILogger<CairnMemcachedCache>? logger) => new CairnMemcachedCache(options, logger));
}
