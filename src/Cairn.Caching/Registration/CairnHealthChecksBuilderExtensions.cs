using Cairn.Caching;
using Cairn.Caching.Telemetry;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds health checks of Cairn's caches.</summary>
public static class CairnHealthChecksBuilderExtensions
{
    /// <summary>Adds a check of a hybrid cache: degraded while its second level is in trouble, never unhealthy, because callers are served all the same.</summary>
    /// <param name="builder">The checks.</param>
    /// <param name="name">The check's name. Default <c>cairn_hybrid_cache</c>.</param>
    /// <param name="serviceKey">The key of the cache; null for the one without a key.</param>
    /// <param name="tags">The check's tags; null for none.</param>
    /// <returns>The checks.</returns>
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
