using Cairn.Caching;
using Cairn.Redis;
using Cairn.Redis.Registration;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Registers <see cref="CairnRedisCache"/>.</summary>
public static class CairnRedisServiceCollectionExtensions
{
    /// <summary>Adds a distributed cache on a Redis server or Cluster; under a hybrid cache, also its invalidation and leases.</summary>
    /// <param name="services">Where to.</param>
    /// <param name="configure">Sets the options, at least <see cref="CairnRedisOptions.Configuration"/>.</param>
    /// <returns>The same services.</returns>
    /// <remarks>It is the <see cref="IDistributedCache"/> that is resolved even if another was registered before.</remarks>
    public static IServiceCollection AddCairnRedis(this IServiceCollection services, Action<CairnRedisOptions> configure) =>
        CacheRegistration.AddCache(services, configure, static (CairnRedisOptions options, ILogger<CairnRedisCache>? logger) => new CairnRedisCache(options, logger));

    /// <summary>
    /// Adds a channel by which hybrid caches tell each other of changes, for a second level that has none: an application's own
    /// <see cref="IDistributedCache"/>, or Microsoft's RedisCache.
    /// </summary>
    /// <param name="services">Where to.</param>
    /// <param name="configure">Sets the options, at least <see cref="CairnRedisOptions.Configuration"/>.</param>
    /// <returns>The same services.</returns>
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
