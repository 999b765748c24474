using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching.Levels;

// The calls of an ICacheLeases. Each kind has its own circuit breaker.
internal sealed class LeaseCalls
{
    private static readonly TimeSpan s_giveBackInterval = TimeSpan.FromSeconds(1);

    private readonly ICacheLeases _leases;
    private readonly BoundedCalls _acquire;
    private readonly BoundedCalls _renew;
    private readonly BoundedCalls _release;
    private readonly BoundedCalls _end;
    private readonly BoundedCalls _set;

    /// <summary>Creates the calls of leases.</summary>
    /// <param name="leases">The leases.</param>
    /// <param name="make">The function that creates the calls of one kind.</param>
    public LeaseCalls(ICacheLeases leases, Func<string, PromptCode, BoundedCalls> make)
    {
        _leases = leases;
        _acquire = make("acquiring a lease", new(isKnown: false));
        _renew = make("renewing a lease", new(isKnown: false));
        _release = make("giving back a lease", new(isKnown: false));
        _end = make("ending a lease", new(isKnown: false));
        _set = make("writing with a lease", new(isKnown: false));
    }

    public bool ChecksValue => _leases.ChecksValue;

    public bool ChangesEndLeases => _leases.ChangesEndLeases;

    public ValueTask<CallResult<CacheLeaseStatus>> TryAcquireAsync(
        string key, string owner, TimeSpan duration, bool onlyIfMissing, TimeSpan limit, in LevelWait wait) => _acquire.CallAsync(
            (_leases, key, owner, duration, onlyIfMissing),
            static (state, token) => state._leases.TryAcquireAsync(state.key, state.owner, state.duration, state.onlyIfMissing, token).AsTask(),
            limit,
            wait);

    public ValueTask<CallResult<bool>> TryRenewAsync(string key, string owner, TimeSpan duration, TimeSpan limit) => _renew.CallAsync(
        (_leases, key, owner, duration),
        static (state, token) => state._leases.TryRenewAsync(state.key, state.owner, state.duration, token).AsTask(),
        limit,
        CancellationToken.None);

    public ValueTask<CallResult<bool>> ReleaseAsync(string key, string owner, TimeSpan limit) => _release.CallAsync(
        (_leases, key, owner),
        static (state, token) => CacheCalls.CompletedAsync(state._leases.ReleaseAsync(state.key, state.owner, token)),
        limit,
        CancellationToken.None);

    /// <summary>
    /// Releases a lease until the server confirms that, for as long as the lease can last: all machines would wait for its end. The server may have
    /// granted the lease although its reply did not arrive. Does not throw.
    /// </summary>
    /// <param name="key">The key of the lease.</param>
    /// <param name="owner">The owner that asked for the lease.</param>
    /// <param name="options">The times.</param>
    /// <param name="late">The call that may still be granted the lease; null if it has ended.</param>
    public async Task GiveBackAsync(string key, string owner, DistributedLevelOptions options, Task? late)
    {
        long startedAt = options.Clock.GetTimestamp();
        if (late is not null)
        {
#pragma warning disable VSTHRD003 // External code started the task, and it is not known to need this thread.
            await late.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
#pragma warning restore VSTHRD003
        }

        while (!(await ReleaseAsync(key, owner, options.WriteTimeout).ConfigureAwait(false)).IsDone
            && options.Clock.GetElapsedTime(startedAt) < options.LeaseDuration)
        {
            await Task.Delay(s_giveBackInterval, options.Clock).ConfigureAwait(false);
        }
    }

    public ValueTask<CallResult<bool>> EndAsync(string key, TimeSpan limit) => _end.CallAsync(
        (_leases, key), static (state, token) => CacheCalls.CompletedAsync(state._leases.EndAsync(state.key, token)), limit, CancellationToken.None);

    public ValueTask<CallResult<CacheLeaseStatus>> TrySetAsync(
        string key, string owner, byte[] record, DistributedCacheEntryOptions expiry, TimeSpan limit, in LevelWait wait) => _set.CallAsync(
            (_leases, key, owner, record, expiry),
            static (state, token) => state._leases.TrySetAsync(state.key, state.owner, state.record, state.expiry, token).AsTask(),
            limit,
            wait);

    /// <summary>Waits until the lease may have ended. Has no time-out; the caller sets one.</summary>
    public ValueTask<bool> WaitForReleaseAsync(string key, CancellationToken cancellationToken) => _leases.WaitForReleaseAsync(key, cancellationToken);
}
