using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Cairn.Clients.Caches;

/// <summary>The common part of the registrations of distributed caches.</summary>
internal static class CacheRegistration
{
    /// <summary>Adds one cache as a singleton, under its own type and as the distributed cache.</summary>
    public static IServiceCollection AddCache<TCache, [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicParameterlessConstructor)] TOptions>(
        IServiceCollection services, Action<TOptions> configure, Func<TOptions, ILogger<TCache>?, TCache> make)
        where TCache : class, IBufferDistributedCache
        where TOptions : class
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(configure);
        services.AddOptions<TOptions>().Configure(configure);
        services.TryAddSingleton(provider => make(
            provider.GetRequiredService<IOptions<TOptions>>().Value, provider.GetService<ILogger<TCache>>()));
        services.AddSingleton<IDistributedCache>(provider => provider.GetRequiredService<TCache>());
        services.AddSingleton<IBufferDistributedCache>(provider => provider.GetRequiredService<TCache>());
        return services;
    }
}
