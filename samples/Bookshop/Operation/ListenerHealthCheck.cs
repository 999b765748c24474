using Bookshop.Invalidation;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Bookshop.Operation;

/// <summary>
/// Reports "degraded" while notifications of direct changes in the database do not arrive. Books can then be stale for up to
/// BookshopOptions.CacheFor.
/// </summary>
internal sealed class ListenerHealthCheck(DatabaseListener listener) : IHealthCheck
{
    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default) => Task.FromResult(
        listener.IsListening ? HealthCheckResult.Healthy() : HealthCheckResult.Degraded("The connection that reports changes is lost."));
}
