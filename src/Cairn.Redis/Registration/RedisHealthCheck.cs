using Cairn.Redis.Access;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Cairn.Redis.Registration;

/// <summary>A health check that sends a PING to each server.</summary>
internal sealed class RedisHealthCheck(IRedisAccess access) : IHealthCheck
{
    public async Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        try
        {
            TimeSpan time = await access.PingAsync(cancellationToken).ConfigureAwait(false);
            return HealthCheckResult.Healthy(data: new Dictionary<string, object>(StringComparer.Ordinal) { ["pingMs"] = time.TotalMilliseconds });
        }
        catch (RedisException failure)
        {
            return new HealthCheckResult(context.Registration.FailureStatus, failure.Message, failure);
        }
    }
}
