using Cairn.Caching;
using Cairn.Caching.Registration;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds health checks of Cairn's caches.</summary>
public static class CairnHealthChecksBuilderExtensions
{
    /// <summary>
    /// Adds a health check of a hybrid cache. It is degraded while the second level fails, and never unhealthy, because callers are served
    /// nevertheless.
    /// </summary>
    /// <param name="builder">The builder of the health checks.</param>
    /// <param name="name">The name of the check. Default <c>cairn_hybrid_cache</c>.</param>
    /// <param name="serviceKey">The key of the cache; null for the cache without a key.</param>
    /// <param name="tags">The tags of the check; null for none.</param>
    /// <returns>The same builder.</returns>
    public static IHealthChecksBuilder AddCairnHybridCache(
        this IHealthChecksBuilder builder, string name = "cairn_hybrid_cache", object? serviceKey = null, IEnumerable<string>? tags = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.Add(new HealthCheckRegistration(
            name,
            services => new CacheHealthCheck(
                serviceKey is null ? services.GetRequiredService<CairnHybridCache>() : services.GetRequiredKeyedService<CairnHybridCache>(serviceKey)),
            failureStatus: null,
            tags));
    }
}
