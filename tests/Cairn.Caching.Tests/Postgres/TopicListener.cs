using Npgsql;

namespace Cairn.Caching.Tests.Postgres;

// The code of docs/how-to/dependencies.md.

/// <summary>Raises a topic for each notification on the channel "changes" of a database.</summary>
internal sealed class TopicListener(CairnHybridCache cache, string connectionString)
{
    private readonly TaskCompletionSource _isListening = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _connections;

    public int Connections => Volatile.Read(ref _connections);

    /// <summary>Returns a task that completes when the first connection listens.</summary>
    public Task ListeningAsync() => _isListening.Task.WaitAsync(TimeSpan.FromSeconds(30));

    public async Task RunAsync(CancellationToken stoppingToken)
    {
        while (!stoppingToken.IsCancellationRequested)
        {
            try
            {
                await ListenAsync(stoppingToken);
            }
            catch (NpgsqlException)
            {
                // The server is restarting, or the network has failed.
                await Task.Delay(TimeSpan.FromMilliseconds(100), stoppingToken); // Between attempts, as an application does.
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

        // Changes that were made while no connection listened were missed.
        await cache.RaiseTopicAsync("database", stoppingToken);
        Interlocked.Increment(ref _connections);
        _isListening.TrySetResult();
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
