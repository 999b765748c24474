using Microsoft.Extensions.Diagnostics.HealthChecks;
using Npgsql;

namespace Bookshop.Operation;

/// <summary>Checks whether the database answers.</summary>
internal sealed class DatabaseHealthCheck(NpgsqlDataSource database) : IHealthCheck
{
    public async Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        try
        {
            await using var command = database.CreateCommand("SELECT 1");
            await command.ExecuteScalarAsync(cancellationToken);
            return HealthCheckResult.Healthy();
        }
        catch (NpgsqlException failure)
        {
            return new HealthCheckResult(context.Registration.FailureStatus, "The database does not answer.", failure);
        }
    }
}
