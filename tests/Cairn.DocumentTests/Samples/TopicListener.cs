using Cairn.Caching;
using Microsoft.Extensions.Hosting;
using Npgsql;

namespace Cairn.DocumentTests.Samples;

public sealed class TopicListener(CairnHybridCache cache, string connectionString) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        while (!stoppingToken.IsCancellationRequested)
        {
            try
            {
                await ListenAsync(stoppingToken);
            }
            catch (NpgsqlException)
            {
                // The server restarts, or the network is gone.
                await Task.Delay(TimeSpan.FromSeconds(1), stoppingToken);
            }
        }
    }

    private async Task ListenAsync(CancellationToken stoppingToken)
    {
        await using var connection = new NpgsqlConnection(connectionString);
        var raised = new Queue<string>();
        connection.Notification += (_, notification) => raised.Enqueue(notification.Payload);
        await connection.OpenAsync(stoppingToken);
        await using (var listen = new NpgsqlCommand("LISTEN changes", connection))
        {
            await listen.ExecuteNonQueryAsync(stoppingToken);
        }

        // Changes that were made before this subscription were missed.
        await cache.RaiseTopicAsync("database", stoppingToken);
        while (true)
        {
            await connection.WaitAsync(stoppingToken);
            while (raised.TryDequeue(out string? topic))
            {
                await cache.RaiseTopicAsync(topic, stoppingToken);
            }
        }
    }
}
