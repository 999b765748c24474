using Cairn.Redis;
using Cairn.Redis.Entries;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds health checks of Redis servers.</summary>
public static class CairnRedisHealthChecksBuilderExtensions
{
    /// <summary>Adds a check that asks the server of <see cref="CairnRedisCache"/>, or each master of its Cluster, for a sign of life.</summary>
    /// <param name="builder">The checks.</param>
    /// <param name="name">The check's name. Default <c>cairn_redis</c>.</param>
    /// <param name="failureStatus">What it means when the server does not reply. Default degraded: a hybrid cache goes on without it.</param>
    /// <param name="tags">The check's tags; null for none.</param>
    /// <returns>The checks.</returns>
    public static IHealthChecksBuilder AddCairnRedis(
        this IHealthChecksBuilder builder,
        string name = "cairn_redis",
        HealthStatus failureStatus = HealthStatus.Degraded,
        IEnumerable<string>? tags = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.Add(new HealthCheckRegistration(
            name, services => new RedisHealthCheck(services.GetRequiredService<CairnRedisCache>().Client), failureStatus, tags));
    }
}
