using System.Collections.Concurrent;
using Cairn.Caching.Telemetry;
using Cairn.Caching.Timing;
using Microsoft.Extensions.Logging;

namespace Cairn.Caching.Levels;

// The log of an IDistributedCache as second level; docs/reference/second-level.md has the table of its messages. Each kind is logged at most
// once per interval; the line includes the number of suppressed ones since the last line. Failures of each kind of call are a kind of their own:
// a level that refuses writes would otherwise hide that it refuses leases, too.
internal sealed partial class LevelLog(ILogger logger, DistributedLevelOptions options)
{
    private const int Kinds = 5;
    private readonly MonotonicClock _clock = new(options.Clock);
    private readonly LogGate[] _gates = [.. Enumerable.Range(0, Kinds).Select(_ => NewGate(options))];
    private readonly ConcurrentDictionary<string, LogGate> _failures = new(StringComparer.Ordinal);

    public void Failed(string what, Exception exception)
    {
        if (_failures.GetOrAdd(what, static (_, options) => NewGate(options), options).TryPass(_clock.NowMs, out long others))
        {
            LogFailed(logger, what, (exception as IAdvisedFailure)?.Advice ?? "", others, exception);
        }
    }

    // Logs the configured limit, not the remainder after earlier steps.
    public void TimedOut(string what, TimeSpan limit)
    {
        if (MayTell(0, out long others))
        {
            LogTimedOut(logger, what, limit.TotalMilliseconds, others);
        }
    }

    public void Opened(string what, long milliseconds)
    {
        if (MayTell(1, out long others))
        {
            LogOpened(logger, what, milliseconds, others);
        }
    }

    public void Damaged(string key)
    {
        if (MayTell(2, out long others))
        {
            LogDamaged(logger, key, others);
        }
    }

    public void Degraded(int writes, long bytes)
    {
        if (MayTell(3, out long others))
        {
            LogDegraded(logger, writes, bytes, others);
        }
    }

    public void Overflowed(int keys)
    {
        if (MayTell(4, out long others))
        {
            LogOverflowed(logger, keys, others);
        }
    }

    /// <summary>Logs that there is no channel, once in the lifetime of a cache.</summary>
    public void NoChannel(string type) => LogNoChannel(logger, type);

    /// <summary>Logs the changes that were left when the cache was closed, at most once in the lifetime of a cache.</summary>
    public void LeftUndone(int keys) => LogLeftUndone(logger, keys);

    private static LogGate NewGate(DistributedLevelOptions options) => new((long)options.LogInterval.TotalMilliseconds);

    private bool MayTell(int kind, out long others) => _gates[kind].TryPass(_clock.NowMs, out others);

    [LoggerMessage(517, LogLevel.Information,
        "{Type} reports no changes, and no ICacheInvalidation is registered beside it: changes of keys by other machines are seen when entries of the first level expire, and removals by tag within DistributedTagLifetime.")]
    private static partial void LogNoChannel(ILogger logger, string type);

    [LoggerMessage(510, LogLevel.Warning, "The second level failed ({What}). The cache continues without it.{Advice} {Others} more since the last such line.")]
    private static partial void LogFailed(ILogger logger, string what, string advice, long others, Exception exception);

    [LoggerMessage(511, LogLevel.Warning,
        "The second level did not answer within {TimeoutMs} ms ({What}). The cache continues without it. {Others} more since the last such line.")]
    private static partial void LogTimedOut(ILogger logger, string what, double timeoutMs, long others);

    [LoggerMessage(512, LogLevel.Error,
        "The second level keeps failing ({What}). Calls that fail like this are not made for {BreakMs} ms. {Others} more since the last such line.")]
    private static partial void LogOpened(ILogger logger, string what, long breakMs, long others);

    [LoggerMessage(513, LogLevel.Warning,
        "The record of the second level under {Key} is damaged or foreign, and is ignored. {Others} more since the last such line.")]
    private static partial void LogDamaged(ILogger logger, string key, long others);

    [LoggerMessage(514, LogLevel.Warning,
        "{Writes} writes ({Bytes} bytes) wait for the second level; the oldest became a removal. {Others} more since the last such line.")]
    private static partial void LogDegraded(ILogger logger, int writes, long bytes, long others);

    [LoggerMessage(515, LogLevel.Error,
        "Changes of {Keys} keys wait for the second level, and that is too many. All its entries will be invalidated instead. {Others} more since the last such line.")]
    private static partial void LogOverflowed(ILogger logger, int keys, long others);

    [LoggerMessage(516, LogLevel.Error,
        "The cache was closed while changes of {Keys} keys waited for the second level, which may hold older values of them until they expire.")]
    private static partial void LogLeftUndone(ILogger logger, int keys);
}
