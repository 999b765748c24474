using Microsoft.Extensions.Logging;

namespace Cairn.FileStore.Engine;

/// <summary>
/// Fires change tokens on the thread pool, because a callback may use the cache. A callback is code of the application: an exception of it is logged, at most
/// once a minute, and does not end the process.
/// </summary>
internal sealed partial class TokenSignal(ILogger? log)
{
    private const long QuietMs = 60_000;

    private readonly Lock _gate = new();
    private long? _loggedAtMs;
    private long _unlogged;

    public void Fire(CancellationTokenSource source) =>
        ThreadPool.UnsafeQueueUserWorkItem(static work => work.Signal.Run(work.Source), (Signal: this, Source: source), preferLocal: false);

    private void Run(CancellationTokenSource source)
    {
        try
        {
            source.Cancel();
        }
#pragma warning disable CA1031 // Code of an application, on the pool, must not end the process.
        catch (Exception failure)
#pragma warning restore CA1031
        {
            Report(failure);
        }
    }

    private void Report(Exception failure)
    {
        long others;
        lock (_gate)
        {
            long now = Environment.TickCount64;
            if (log is null || now - _loggedAtMs < QuietMs)
            {
                _unlogged++;
                return;
            }

            _loggedAtMs = now;
            others = _unlogged;
            _unlogged = 0;
        }

        Write(log, failure, others);
    }

    [LoggerMessage(1, LogLevel.Error, "A callback of a change token of a cache file failed. {Others} more such events were not logged.")]
    private static partial void Write(ILogger log, Exception failure, long others);
}
