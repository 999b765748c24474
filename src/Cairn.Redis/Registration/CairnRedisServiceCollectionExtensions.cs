using Cairn.Caching;
using Cairn.Clients.Caches;
using Cairn.Redis;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Extension methods that register <see cref="CairnRedisCache"/> and <see cref="RedisChangeChannel"/>.</summary>
public static class CairnRedisServiceCollectionExtensions
{
    /// <summary>Adds a distributed cache on a Redis server or Cluster. A hybrid cache also uses its invalidation and leases.</summary>
    /// <param name="services">The service collection.</param>
    /// <param name="configure">Sets the options, at least <see cref="CairnRedisOptions.Configuration"/>.</param>
    /// <returns>The same service collection.</returns>
    /// <remarks>The cache takes precedence over an <see cref="IDistributedCache"/> that was registered before.</remarks>
    public static IServiceCollection AddCairnRedis(this IServiceCollection services, Action<CairnRedisOptions> configure) =>
        CacheRegistration.AddCache(services, configure, static (CairnRedisOptions options, ILogger<CairnRedisCache>? logger) => new CairnRedisCache(options, logger));

    /// <summary>
    /// Adds a channel through which hybrid caches notify each other of changes. It is for a second level without notifications: an application's
    /// own <see cref="IDistributedCache"/>, or Microsoft's RedisCache.
    /// </summary>
    /// <param name="services">The service collection.</param>
    /// <param name="configure">Sets the options, at least <see cref="CairnRedisOptions.Configuration"/>.</param>
    /// <returns>The same service collection.</returns>
    public static IServiceCollection AddCairnRedisInvalidation(this IServiceCollection services, Action<CairnRedisOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(configure);
        services.AddOptions<CairnRedisOptions>(nameof(RedisChangeChannel)).Configure(configure);
        services.AddSingleton(provider => new RedisChangeChannel(
            provider.GetRequiredService<IOptionsMonitor<CairnRedisOptions>>().Get(nameof(RedisChangeChannel)),
            provider.GetService<ILogger<RedisChangeChannel>>()));
        services.AddSingleton<ICacheInvalidation>(provider => provider.GetRequiredService<RedisChangeChannel>());
        return services;
    }
}
