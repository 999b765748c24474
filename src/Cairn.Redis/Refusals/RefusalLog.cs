using Cairn.Caching.Telemetry;
using Microsoft.Extensions.Logging;

namespace Cairn.Redis.Refusals;

/// <summary>
/// The log messages about what a server refuses to the user and a cache can do without, each at most once a minute. docs/reference/redis.md lists
/// them.
/// </summary>
internal sealed partial class RefusalLog(ILogger? logger)
{
    private const long IntervalMs = 60_000;

    private readonly LogGate _changes = new(IntervalMs);
    private readonly LogGate _publications = new(IntervalMs);
    private readonly LogGate _scripts = new(IntervalMs);

    public void NoChanges(RedisServerException refusal) => Tell(_changes, LogNoChanges, refusal);

    public void NoPublications(RedisServerException refusal) => Tell(_publications, LogNoPublications, refusal);

    public void NoScripts(RedisServerException refusal) => Tell(_scripts, LogNoScripts, refusal);

    private void Tell(LogGate gate, Action<ILogger, string, long> log, RedisServerException refusal)
    {
        if (logger is not null && gate.TryPass(Environment.TickCount64, out long others))
        {
            log(logger, refusal.Message, others);
        }
    }

    [LoggerMessage(604, LogLevel.Warning,
        "The server does not report the changes of other processes to this one ({Refusal}). Values in memory are used for 2 seconds. To change that, give the user of Redis these rights: +@connection +@pubsub &cairn:* &__redis__:invalidate. {Others} more since the last such line.")]
    private static partial void LogNoChanges(ILogger logger, string refusal, long others);

    [LoggerMessage(605, LogLevel.Warning,
        "The server does not let this process publish changes ({Refusal}). Other processes use the values in their memory until these expire. To change that, give the user of Redis these rights: +publish &cairn:*. {Others} more since the last such line.")]
    private static partial void LogNoPublications(ILogger logger, string refusal, long others);

    [LoggerMessage(606, LogLevel.Information,
        "The server runs no scripts for this process ({Refusal}), so a lease costs one more round trip. To change that, give the user of Redis these rights: +eval +evalsha, and those for all commands and keys that docs/how-to/redis.md lists. {Others} more since the last such line.")]
    private static partial void LogNoScripts(ILogger logger, string refusal, long others);
}
