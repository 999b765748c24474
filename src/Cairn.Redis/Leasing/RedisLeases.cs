// Leases are separate keys, set with SET NX PX to the owner's text. Only a caller that knows the text can renew, release or use the lease.
// If the server runs scripts, each operation is one atomic step and one round trip. Otherwise TryTransactAsync needs two round trips.
using Cairn.Caching;
using Cairn.Clients.Caches;
using Cairn.Redis.Access;
using Cairn.Redis.Entries;
using Cairn.Redis.Refusals;

namespace Cairn.Redis.Leasing;

internal sealed class RedisLeases(IRedisAccess access, EntryLayout layout, RefusalLog log)
{
    // KEYS: the entry, its lease. Returns 1 if the lease is acquired, 0 if another owner holds it, 2 if the entry has a value.
    private static readonly ServerScript s_acquire = new(
        "if ARGV[3] == '1' and redis.call('EXISTS', KEYS[1]) == 1 then return 2 end "
        + "if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end return 0");

    // KEYS: the lease, and the other keys of the commands. ARGV: the owner, then each command as the number of its words and the words.
    // Executes the commands and returns 1 if the owner holds the lease; otherwise 0.
    private static readonly ServerScript s_ifHeld = new(
        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end local at = 2 "
        + "while at < #ARGV do local last = at + ARGV[at] redis.call(unpack(ARGV, at + 1, last)) at = last + 1 end return 1");

    private volatile bool _hasNoScripts;

    public async ValueTask<CacheLeaseStatus> TryAcquireAsync(
        string key, string leaseKey, string owner, TimeSpan duration, bool onlyIfMissing, CancellationToken cancellationToken)
    {
        long durationMs = Math.Max(1, (long)duration.TotalMilliseconds);
        if (!_hasNoScripts)
        {
            try
            {
                return await s_acquire.RunAsync(access, [key, leaseKey], [owner, durationMs, onlyIfMissing ? 1 : 0], cancellationToken).ConfigureAwait(false) switch
                {
                    1 => CacheLeaseStatus.Acquired,
                    2 => CacheLeaseStatus.HasValue,
                    _ => CacheLeaseStatus.Held,
                };
            }
            catch (RedisServerException error) when (ServerScript.IsRefusal(error))
            {
                _hasNoScripts = true;
                log.NoScripts(error);
            }
        }

        RedisReply[]? replies = await access.TransactAsync(
            [["EXISTS", key], ["SET", leaseKey, owner, "NX", "PX", durationMs]], leaseKey, cancellationToken).ConfigureAwait(false);
        bool isGiven = replies is [_, { IsNull: false }];
        if (onlyIfMissing && replies is [{ Integer: > 0 }, _])
        {
            if (isGiven)
            {
                await ReleaseAsync(leaseKey, owner, cancellationToken).ConfigureAwait(false);
            }

            return CacheLeaseStatus.HasValue;
        }

        return isGiven ? CacheLeaseStatus.Acquired : CacheLeaseStatus.Held;
    }

    public ValueTask<bool> TryRenewAsync(string leaseKey, string owner, TimeSpan duration, CancellationToken cancellationToken)
    {
        long durationMs = Math.Max(1, (long)duration.TotalMilliseconds);
        return ChangeIfHeldAsync([leaseKey], leaseKey, owner, [["PEXPIRE", leaseKey, durationMs]], cancellationToken);
    }

    public ValueTask<bool> ReleaseAsync(string leaseKey, string owner, CancellationToken cancellationToken) =>
        ChangeIfHeldAsync([leaseKey], leaseKey, owner, [["DEL", leaseKey]], cancellationToken);

    /// <summary>Writes an entry, ends the lease and sends the publication, if the owner holds the lease.</summary>
    public ValueTask<bool> TrySetAsync(
        string key, string leaseKey, string owner, EntryTimes times, ReadOnlyMemory<byte> data, RedisArgument[]? publication, CancellationToken cancellationToken)
    {
        RedisArgument[][] changes = [.. layout.Store(key, data, times), .. publication is null ? Array.Empty<RedisArgument[]>() : [publication]];
        return ChangeIfHeldAsync([leaseKey, key, .. layout.IsPlain ? [EntryLayout.HeadKey(key)] : Array.Empty<RedisArgument>()], leaseKey, owner, changes, cancellationToken);
    }

    private async ValueTask<bool> ChangeIfHeldAsync(
        RedisArgument[] keys, string leaseKey, string owner, RedisArgument[][] changes, CancellationToken cancellationToken)
    {
        if (!_hasNoScripts)
        {
            RedisArgument[] arguments = [owner, .. changes.SelectMany(command => (RedisArgument[])[command.Length, .. command])];
            try
            {
                return await s_ifHeld.RunAsync(access, keys, arguments, cancellationToken).ConfigureAwait(false) == 1;
            }
            catch (RedisServerException error) when (ServerScript.IsRefusal(error))
            {
                _hasNoScripts = true;
                log.NoScripts(error);
            }
        }

        return await access.TryTransactAsync(leaseKey, owner, changes, cancellationToken).ConfigureAwait(false);
    }
}
