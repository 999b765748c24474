using Cairn.Caching.Telemetry;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Cairn.Caching.Registration;

/// <summary>
/// Checks the second level of a cache. Its failures never make a cache unhealthy, because callers are served nevertheless.
/// </summary>
internal sealed class CacheHealthCheck(CairnHybridCache cache) : IHealthCheck
{
    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        LevelHealth health = cache.LevelHealth;
        var data = new Dictionary<string, object>(StringComparer.Ordinal)
        {
            ["failures"] = health.Failures,
            ["timeouts"] = health.Timeouts,
            ["refused"] = health.Refused,
            ["pending"] = health.PendingChanges,
        };
        string? trouble = health switch
        {
            { IsBroken: true } => "The second level has failed repeatedly, and the cache makes no calls to it for a while. This process creates values itself.",
            { IsCutOff: true } => "Invalidations from other machines do not arrive: nothing older than two seconds is served from memory.",
            { PendingChanges: > 0 } => $"{health.PendingChanges} changes of the second level are pending.",
            _ => null,
        };
        return Task.FromResult(trouble is null
            ? HealthCheckResult.Healthy("Both levels work.", data)
            : new HealthCheckResult(HealthStatus.Degraded, trouble, exception: null, data));
    }
}
