using Cairn.Redis;
using Cairn.Redis.StackExchange.Multiplexing;
using StackExchange.Redis;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>
/// Extension methods that register <see cref="CairnRedisCache"/> and <see cref="RedisChangeChannel"/> over a multiplexer of StackExchange.Redis.
/// </summary>
/// <remarks>
/// The application continues to own the multiplexer. The caches do not dispose of it. Caches and application share its connections, its database
/// number and its time-outs. Changes are published, because the multiplexer has no client tracking: changes by other programs are not reported, and
/// all processes that share an instance name must publish (<see cref="RedisInvalidationMode.PublishSubscribe"/>).
/// </remarks>
public static class CairnRedisMultiplexerServiceCollectionExtensions
{
    /// <summary>Adds a distributed cache on a Redis server or Cluster. A hybrid cache also uses its invalidation and leases.</summary>
    /// <param name="services">The service collection.</param>
    /// <param name="multiplexer">The connections to the server.</param>
    /// <param name="configure">Sets the options, such as <see cref="CairnRedisOptions.InstanceName"/>; null for the defaults.</param>
    /// <returns>The same service collection.</returns>
    /// <remarks>The cache takes precedence over a distributed cache that was registered before.</remarks>
    public static IServiceCollection AddCairnRedis(
        this IServiceCollection services, IConnectionMultiplexer multiplexer, Action<CairnRedisOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(multiplexer);
        return services.AddCairnRedis(_ => Task.FromResult(multiplexer), configure);
    }

    /// <inheritdoc cref="AddCairnRedis(IServiceCollection, IConnectionMultiplexer, Action{CairnRedisOptions})"/>
    /// <param name="services">The service collection.</param>
    /// <param name="multiplexer">Returns the connections to the server. Called at the first use of the cache.</param>
    /// <param name="configure">Sets the options, such as <see cref="CairnRedisOptions.InstanceName"/>; null for the defaults.</param>
    public static IServiceCollection AddCairnRedis(
        this IServiceCollection services, Func<IServiceProvider, IConnectionMultiplexer> multiplexer, Action<CairnRedisOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(multiplexer);
        return services.AddCairnRedis(provider => Task.FromResult(multiplexer(provider)), configure);
    }

    /// <inheritdoc cref="AddCairnRedis(IServiceCollection, IConnectionMultiplexer, Action{CairnRedisOptions})"/>
    /// <param name="services">The service collection.</param>
    /// <param name="multiplexer">
    /// Connects to the server. Called at the first use of the cache, and again at the next use if it fails.
    /// </param>
    /// <param name="configure">Sets the options, such as <see cref="CairnRedisOptions.InstanceName"/>; null for the defaults.</param>
    public static IServiceCollection AddCairnRedis(
        this IServiceCollection services, Func<IServiceProvider, Task<IConnectionMultiplexer>> multiplexer, Action<CairnRedisOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(multiplexer);
        UseMultiplexer(services, Options.Options.DefaultName, multiplexer);
        return services.AddCairnRedis(options => configure?.Invoke(options));
    }

    /// <summary>
    /// Adds a channel through which hybrid caches notify each other of changes. It is for a second level without notifications, such as Microsoft's
    /// RedisCache over the same multiplexer.
    /// </summary>
    /// <param name="services">The service collection.</param>
    /// <param name="multiplexer">Returns the connections to the server. Called at the first use of the channel.</param>
    /// <param name="configure">Sets the options, such as <see cref="CairnRedisOptions.InstanceName"/>; null for the defaults.</param>
    /// <returns>The same service collection.</returns>
    public static IServiceCollection AddCairnRedisInvalidation(
        this IServiceCollection services, Func<IServiceProvider, IConnectionMultiplexer> multiplexer, Action<CairnRedisOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(multiplexer);
        UseMultiplexer(services, nameof(RedisChangeChannel), provider => Task.FromResult(multiplexer(provider)));
        return services.AddCairnRedisInvalidation(options => configure?.Invoke(options));
    }

    private static void UseMultiplexer(IServiceCollection services, string optionsName, Func<IServiceProvider, Task<IConnectionMultiplexer>> multiplexer) =>
        services.AddOptions<CairnRedisOptions>(optionsName).Configure<IServiceProvider>(
            (options, provider) => options.OtherAccess = () => new MultiplexerAccess(() => multiplexer(provider)));
}
