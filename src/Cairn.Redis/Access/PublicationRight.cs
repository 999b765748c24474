using Cairn.Redis.Refusals;

namespace Cairn.Redis.Access;

// Whether the server lets this process publish changes. A server that refuses PUBLISH refuses the whole transaction that contains it, so
// no change could be made. Therefore an empty message, which other processes ignore, is published first.
//
//   Unknown --published--> Granted --a change was refused--> Unknown
//   Unknown --NOPERM--> Refused --a minute has passed--> Unknown
internal sealed class PublicationRight(IRedisAccess access, string channelName, RefusalLog log)
{
    private const long RetryMs = 60_000;
    private const long Granted = -1;

    // The time from which on it is unknown; 0 at the beginning. A race asks the server twice.
    private long _unknownAtMs;

    /// <summary>Returns whether changes are published. The first call finds it out from the server.</summary>
    public ValueTask<bool> IsGrantedAsync(CancellationToken cancellationToken) => Volatile.Read(ref _unknownAtMs) switch
    {
        Granted => new(true),
        long unknownAtMs when Environment.TickCount64 < unknownAtMs => new(false),
        _ => AskAsync(cancellationToken),
    };

    /// <summary>Publishes a change by itself, unless the server refuses that.</summary>
    public async ValueTask PublishAsync(RedisArgument[] publication, CancellationToken cancellationToken)
    {
        if (await IsGrantedAsync(cancellationToken).ConfigureAwait(false))
        {
            await WatchAsync(access.NumberAsync(publication, -1, cancellationToken)).ConfigureAwait(false);
        }
    }

    /// <summary>Awaits a change with a publication, and handles its refusal.</summary>
    public async ValueTask<T> WatchAsync<T>(ValueTask<T> change)
    {
        try
        {
            return await change.ConfigureAwait(false);
        }
        catch (RedisServerException)
        {
            OnRefused();
            throw;
        }
    }

    /// <summary>Handles the refusal of a change with a publication: the right may have been taken away.</summary>
    public void OnRefused() => Volatile.Write(ref _unknownAtMs, 0);

    private async ValueTask<bool> AskAsync(CancellationToken cancellationToken)
    {
        try
        {
            await access.NumberAsync(["PUBLISH", RedisArgument.ForChannel(channelName), ""], -1, cancellationToken).ConfigureAwait(false);
            Volatile.Write(ref _unknownAtMs, Granted);
            return true;
        }
        catch (RedisServerException refusal) when (refusal.Code == "NOPERM")
        {
            Volatile.Write(ref _unknownAtMs, Environment.TickCount64 + RetryMs);
            log.NoPublications(refusal);
            return false;
        }
    }
}
