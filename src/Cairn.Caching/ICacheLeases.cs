using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching;

/// <summary>
/// Leases on the keys of an <see cref="IDistributedCache"/>: while one process creates the value of a missing key, other processes on any
/// machine wait for it instead of creating it too. A cache implements this interface together with <see cref="IDistributedCache"/>, or an
/// implementation is registered next to the cache.
/// </summary>
/// <remarks>
/// <para>A lease belongs to the owner text that acquired it. It ends when it is released, when its duration has passed, or when the key is
/// changed. Leases are separate from values: a key without a value can have one. With a Redis server a lease is a second key, set with
/// <c>NX</c> and <c>PX</c>; with memcached's meta protocol it is the stale or vivified item.</para>
/// <para>Keys are exactly those that <see cref="IDistributedCache"/> receives. All members may be called from any thread at any time. Errors
/// are exceptions of any type: Cairn counts them and continues as if there were no leases. The implementation needs no time-out: Cairn stops
/// waiting after its own time-out and then cancels the token.</para>
/// </remarks>
public interface ICacheLeases
{
    /// <summary>
    /// Whether <see cref="TryAcquireAsync"/> can check for a value and return <see cref="CacheLeaseStatus.HasValue"/>. If false,
    /// Cairn reads the key once more after it has acquired the lease, which costs a round trip.
    /// </summary>
    bool ChecksValue { get; }

    /// <summary>
    /// Whether every set and removal of a key through the <see cref="IDistributedCache"/> ends the key's lease in the same step. If false,
    /// Cairn calls <see cref="EndAsync"/> before each, which costs a round trip.
    /// </summary>
    bool ChangesEndLeases { get; }

    /// <summary>Acquires the lease of a key if it has no owner. Does not wait for it.</summary>
    /// <param name="key">The key, as the <see cref="IDistributedCache"/> receives it.</param>
    /// <param name="owner">The owner: a text that is unique to this lease, at most 64 ASCII characters.</param>
    /// <param name="duration">How long the lease lasts unless it is renewed, measured from now by the server's clock; at least a millisecond.</param>
    /// <param name="onlyIfMissing">Whether the result for a key with a value is <see cref="CacheLeaseStatus.HasValue"/>. No effect
    /// if <see cref="ChecksValue"/> is false.</param>
    /// <param name="cancellationToken">Cancelled when the caller no longer waits for the answer. The lease may have been granted;
    /// it ends with its duration.</param>
    ValueTask<CacheLeaseStatus> TryAcquireAsync(
        string key, string owner, TimeSpan duration, bool onlyIfMissing, CancellationToken cancellationToken);

    /// <summary>Extends a lease to the duration from now.</summary>
    /// <returns>False if the owner no longer has the lease; it is not acquired again.</returns>
    ValueTask<bool> TryRenewAsync(string key, string owner, TimeSpan duration, CancellationToken cancellationToken);

    /// <summary>Releases a lease. Does nothing if the owner no longer has it.</summary>
    ValueTask ReleaseAsync(string key, string owner, CancellationToken cancellationToken);

    /// <summary>Ends the lease of a key, regardless of its owner.</summary>
    ValueTask EndAsync(string key, CancellationToken cancellationToken);

    /// <summary>Waits until the lease of a key may have ended, if the server can report it.</summary>
    /// <returns>True when the lease may be free, which is only a hint: the caller tries again. False, at once, if the server cannot report it:
    /// the caller tries again after a while.</returns>
    ValueTask<bool> WaitForReleaseAsync(string key, CancellationToken cancellationToken) => ValueTask.FromResult(false);

    /// <summary>
    /// Sets the value of a key if the owner still has its lease, as one step on the server. Without this method, a value that was created
    /// before a removal on another machine may be stored just after the removal.
    /// </summary>
    /// <param name="key">The key, as the <see cref="IDistributedCache"/> receives it.</param>
    /// <param name="owner">The owner of the lease.</param>
    /// <param name="value">The bytes; they do not change, not even after the call.</param>
    /// <param name="options">The expiration of the value.</param>
    /// <param name="cancellationToken">Cancelled when the caller no longer waits for the answer; the value may have been set.</param>
    /// <returns><see cref="CacheLeaseStatus.Acquired"/>: the value was set. <see cref="CacheLeaseStatus.Held"/>: the lease was lost, and
    /// nothing was set. <see cref="CacheLeaseStatus.NotSupported"/>: nothing was done, and Cairn sets the value without the lease.</returns>
    ValueTask<CacheLeaseStatus> TrySetAsync(
        string key, string owner, ReadOnlyMemory<byte> value, DistributedCacheEntryOptions options, CancellationToken cancellationToken) =>
        ValueTask.FromResult(CacheLeaseStatus.NotSupported);
}
