using System.Collections.Concurrent;
using System.Globalization;
using Npgsql;

namespace Bookshop.Invalidation;

// The database sends a notification of every committed change (Schema.sql). The change can come from this process, another process of the API, or
// psql. Two gaps remain:
//
//   - PostgreSQL keeps no notifications for a client that does not listen. So the cache is emptied whenever a connection begins to listen.
//   - A connection can break without an error. Keepalive asks for a sign of life every 5 seconds. If it is missing, the connection ends.
//
// Until the connection is restored, notifications of direct changes are lost. A cached book then lives for at most BookshopOptions.CacheFor.

/// <summary>Receives notifications of changes in the database, and removes the stale entries from this process's cache.</summary>
internal sealed partial class DatabaseListener(
    BookshopOptions options, ICatalogueInvalidation cache, ILogger<DatabaseListener> logger) : IHostedService, IDisposable
{
    private const string Channel = "bookshop";
    private static readonly TimeSpan PauseAfterFailure = TimeSpan.FromMilliseconds(500);

    private readonly CancellationTokenSource _stopping = new();
    private Task _listening = Task.CompletedTask;
    private volatile bool _isListening;

    /// <summary>Gets whether notifications of changes arrive now.</summary>
    public bool IsListening => _isListening;

    /// <summary>Completes when the first connection listens. Nothing is cached before that.</summary>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        var first = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _listening = Task.Run(() => RunAsync(first), CancellationToken.None);
        await first.Task.WaitAsync(cancellationToken);
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _listening.WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    public void Dispose() => _stopping.Dispose();

    private async Task RunAsync(TaskCompletionSource first)
    {
        while (!_stopping.IsCancellationRequested)
        {
            try
            {
                await ListenAsync(first);
            }
            catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
            {
                return;
            }
            catch (Exception failure) when (failure is NpgsqlException or IOException or TimeoutException)
            {
                _isListening = false;
                LogLost(logger, failure, PauseAfterFailure.TotalSeconds);
                await Task.Delay(PauseAfterFailure, _stopping.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }

    private async Task ListenAsync(TaskCompletionSource first)
    {
        var settings = new NpgsqlConnectionStringBuilder(options.ConnectionString) { Pooling = false, KeepAlive = 5, ApplicationName = "bookshop listener" };
        var heard = new ConcurrentQueue<string>();
        await using var connection = new NpgsqlConnection(settings.ConnectionString);
        connection.Notification += (_, notification) => heard.Enqueue(notification.Payload);
        await connection.OpenAsync(_stopping.Token);
        await using (var listen = new NpgsqlCommand($"LISTEN {Channel}", connection))
        {
            await listen.ExecuteNonQueryAsync(_stopping.Token);
        }

        await cache.AnythingChangedAsync();
        _isListening = true;
        LogListening(logger, Channel);
        first.TrySetResult();
        while (true)
        {
            await connection.WaitAsync(_stopping.Token);
            while (heard.TryDequeue(out var change))
            {
                await RemoveAsync(change);
            }
        }
    }

    // A change is "book:17", "author:3", or "anything".
    private async ValueTask RemoveAsync(string change)
    {
        LogHeard(logger, change);
        var parts = change.Split(':');
        if (parts.Length == 2 && int.TryParse(parts[1], NumberStyles.None, CultureInfo.InvariantCulture, out var id) && parts[0] is "book" or "author")
        {
            await (parts[0] is "book" ? cache.BookChangedAsync(id) : cache.AuthorChangedAsync(id));
        }
        else
        {
            await cache.AnythingChangedAsync();
        }
    }

    [LoggerMessage(1, LogLevel.Information, "Listening for changes on the database's channel {Channel}")]
    private static partial void LogListening(ILogger logger, string channel);

    [LoggerMessage(2, LogLevel.Warning, "The connection that reports changes was lost; trying again in {Seconds} s")]
    private static partial void LogLost(ILogger logger, Exception failure, double seconds);

    [LoggerMessage(3, LogLevel.Debug, "The database reports a change of {What}")]
    private static partial void LogHeard(ILogger logger, string what);
}
