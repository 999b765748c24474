using Cairn.Caching;
using Cairn.Caching.Stores;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Registers <see cref="CairnDistributedCache"/>.</summary>
public static class CairnDistributedCacheServiceCollectionExtensions
{
    /// <summary>Adds a distributed cache in a store file, if no <see cref="IDistributedCache"/> is registered yet.</summary>
    /// <param name="services">The services to add the cache to.</param>
    /// <param name="configure">A function that sets the options; null for the defaults.</param>
    /// <returns>The same services.</returns>
    /// <remarks>
    /// Registers one <see cref="CairnDistributedCache"/>, also as <see cref="IDistributedCache"/> and <see cref="IBufferDistributedCache"/>.
    /// A host opens the store when it starts, and does not start if that fails. Without a host the store is opened when the cache is first
    /// resolved.
    /// </remarks>
    public static IServiceCollection AddCairnDistributedCache(
        this IServiceCollection services, Action<CairnDistributedCacheOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        Configure(services, Options.Options.DefaultName, configure);
        services.TryAddSingleton(provider => Create(provider, Options.Options.DefaultName));
        services.TryAddSingleton<IDistributedCache>(provider => provider.GetRequiredService<CairnDistributedCache>());
        services.TryAddSingleton<IBufferDistributedCache>(provider => provider.GetRequiredService<CairnDistributedCache>());
        CacheStart.Resolve<CairnDistributedCache>(services, Options.Options.DefaultName, provider => provider.GetRequiredService<CairnDistributedCache>());
        return services;
    }

    /// <summary>Adds a distributed cache in a store file for a key, if no <see cref="IDistributedCache"/> is registered for it yet.</summary>
    /// <param name="services">The services to add the cache to.</param>
    /// <param name="serviceKey">The key; its text is the name of the options.</param>
    /// <param name="configure">
    /// A function that sets the options; null for the defaults. Two caches with the same file and
    /// <see cref="CairnDistributedCacheOptions.CollectionName"/> have the same entries.
    /// </param>
    /// <returns>The same services.</returns>
    /// <remarks>Otherwise the same as <see cref="AddCairnDistributedCache"/>.</remarks>
    public static IServiceCollection AddKeyedCairnDistributedCache(
        this IServiceCollection services, object? serviceKey, Action<CairnDistributedCacheOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        string name = serviceKey?.ToString() ?? Options.Options.DefaultName;
        Configure(services, name, configure);
        services.TryAddKeyedSingleton(serviceKey, (provider, _) => Create(provider, name));
        services.TryAddKeyedSingleton<IDistributedCache>(
            serviceKey, (provider, key) => provider.GetRequiredKeyedService<CairnDistributedCache>(key));
        services.TryAddKeyedSingleton<IBufferDistributedCache>(
            serviceKey, (provider, key) => provider.GetRequiredKeyedService<CairnDistributedCache>(key));
        CacheStart.Resolve<CairnDistributedCache>(services, name, provider => provider.GetRequiredKeyedService<CairnDistributedCache>(serviceKey));
        return services;
    }

    private static void Configure(IServiceCollection services, string name, Action<CairnDistributedCacheOptions>? configure)
    {
        OptionsBuilder<CairnDistributedCacheOptions> options = services.AddOptions<CairnDistributedCacheOptions>(name);
        if (configure is not null)
        {
            options.Configure(configure);
        }
    }

    private static CairnDistributedCache Create(IServiceProvider provider, string name) => new(
        provider.GetRequiredService<IOptionsMonitor<CairnDistributedCacheOptions>>().Get(name),
        provider.GetService<ILogger<CairnDistributedCache>>());
}
