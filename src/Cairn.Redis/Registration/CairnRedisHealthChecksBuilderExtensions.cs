using Cairn.Redis;
using Cairn.Redis.Registration;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Extension methods that add health checks of Redis servers.</summary>
public static class CairnRedisHealthChecksBuilderExtensions
{
    /// <summary>Adds a check that sends a <c>PING</c> to the server of <see cref="CairnRedisCache"/>, or to each master of its Cluster.</summary>
    /// <param name="builder">The health checks builder.</param>
    /// <param name="name">The check's name. Default <c>cairn_redis</c>.</param>
    /// <param name="failureStatus">
    /// The status if the server does not reply. Default degraded, because a hybrid cache continues without its second level.
    /// </param>
    /// <param name="tags">The check's tags; null for none.</param>
    /// <returns>The same builder.</returns>
    public static IHealthChecksBuilder AddCairnRedis(
        this IHealthChecksBuilder builder,
        string name = "cairn_redis",
        HealthStatus failureStatus = HealthStatus.Degraded,
        IEnumerable<string>? tags = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.Add(new HealthCheckRegistration(
            name, services => new RedisHealthCheck(services.GetRequiredService<CairnRedisCache>().Access), failureStatus, tags));
    }
}
