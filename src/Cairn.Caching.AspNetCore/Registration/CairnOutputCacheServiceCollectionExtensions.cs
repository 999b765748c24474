using Cairn.Caching.AspNetCore;
using Cairn.Caching.AspNetCore.Policies;
using Cairn.Caching.Stores;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.OutputCaching;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Registers <see cref="CairnOutputCacheStore"/>.</summary>
public static class CairnOutputCacheServiceCollectionExtensions
{
    /// <summary>Adds output caching that keeps responses in a store file.</summary>
    /// <param name="services">The service collection.</param>
    /// <param name="configure">Sets the options; null for the defaults.</param>
    /// <returns>The same service collection.</returns>
    /// <remarks>
    /// <para>
    /// Calls AddOutputCache; its policies and limits can be set as usual, before or after this call. Replaces any registered
    /// <see cref="IOutputCacheStore"/>. The application still calls UseOutputCache and decides which responses are cached.
    /// </para>
    /// <para>The host opens the store when it starts, and does not start if that fails.</para>
    /// </remarks>
    public static IServiceCollection AddCairnOutputCache(this IServiceCollection services, Action<CairnOutputCacheOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        OptionsBuilder<CairnOutputCacheOptions> options = services.AddOptions<CairnOutputCacheOptions>();
        if (configure is not null)
        {
            options.Configure(configure);
        }

        if (services.Any(service => service.ServiceType == typeof(CairnOutputCacheStore)))
        {
            return services;
        }

        services.AddOutputCache();
        services.AddHttpContextAccessor();
        services.AddSingleton(provider => new CairnOutputCacheStore(
            provider.GetRequiredService<IOptions<CairnOutputCacheOptions>>().Value,
            provider.GetRequiredService<IHttpContextAccessor>(),
            provider.GetService<ILogger<CairnOutputCacheStore>>()));
        services.RemoveAll<IOutputCacheStore>();
        services.AddSingleton<IOutputCacheStore>(provider => provider.GetRequiredService<CairnOutputCacheStore>());
        services.AddSingleton<IOutputCacheBufferStore>(provider => provider.GetRequiredService<CairnOutputCacheStore>());
        services.AddOptions<OutputCacheOptions>()
            .Configure<CairnOutputCacheStore>((caching, store) => caching.AddBasePolicy(new EpochPolicy(store)));
        CacheStart.Resolve(services, Options.Options.DefaultName, provider => provider.GetRequiredService<CairnOutputCacheStore>());
        return services;
    }
}
