using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching;

/// <summary>
/// Leases on the keys of an <see cref="IDistributedCache"/>: while one process makes the value of a missing key, others on any
/// machine wait for it instead of making it, too. A cache implements it beside <see cref="IDistributedCache"/>, or it is
/// registered beside one.
/// </summary>
/// <remarks>
/// <para>A lease belongs to the owner whose text it was acquired with, and ends when it is released, when its time has run out, or
/// when anybody changes the key. Leases are separate from values: a key without a value can have one. With a Redis server it
/// is a second key, set with <c>NX</c> and <c>PX</c>; with memcached's meta protocol it is the stale or vivified item.</para>
/// <para>Keys are exactly those that are given to <see cref="IDistributedCache"/>. All members may be called from any thread at any
/// time. Errors are exceptions of any type: Cairn counts them, and goes on as if there were no leases. Calls take as long as
/// they take: Cairn stops waiting after its own time-out and cancels the token then.</para>
/// </remarks>
public interface ICacheLeases
{
    /// <summary>
    /// Whether <see cref="TryAcquireAsync"/> looks for a value and answers <see cref="CacheLeaseStatus.HasValue"/> when asked to. If not,
    /// Cairn reads the key once more after it has the lease, which costs a round trip.
    /// </summary>
    bool ChecksValue { get; }

    /// <summary>
    /// Whether every set and removal of a key through the <see cref="IDistributedCache"/> ends the key's lease in the same step. If
    /// not, Cairn calls <see cref="EndAsync"/> before each, which costs a round trip.
    /// </summary>
    bool ChangesEndLeases { get; }

    /// <summary>Acquires the lease of a key if nobody has it. Does not wait for it.</summary>
    /// <param name="key">The key, as the <see cref="IDistributedCache"/> gets it.</param>
    /// <param name="owner">Who asks: text unlike that of any other lease, at most 64 ASCII characters.</param>
    /// <param name="duration">How long the lease lasts unless it is renewed, from now by the server's clock; at least a millisecond.</param>
    /// <param name="onlyIfMissing">Whether a key that has a value is to be answered by <see cref="CacheLeaseStatus.HasValue"/>. Without effect
    /// where <see cref="ChecksValue"/> is false.</param>
    /// <param name="cancellationToken">Cancelled when nobody waits for the answer any more. The lease may have been given all the same;
    /// it ends with its duration.</param>
    ValueTask<CacheLeaseStatus> TryAcquireAsync(
        string key, string owner, TimeSpan duration, bool onlyIfMissing, CancellationToken cancellationToken);

    /// <summary>Lets a lease last for the duration from now.</summary>
    /// <returns>False if the owner no longer has it; it is not acquired again.</returns>
    ValueTask<bool> TryRenewAsync(string key, string owner, TimeSpan duration, CancellationToken cancellationToken);

    /// <summary>Gives a lease back. Does nothing if the owner no longer has it.</summary>
    ValueTask ReleaseAsync(string key, string owner, CancellationToken cancellationToken);

    /// <summary>Ends the lease of a key, whoever has it.</summary>
    ValueTask EndAsync(string key, CancellationToken cancellationToken);

    /// <summary>Waits until the lease of a key may have ended, if the server can tell.</summary>
    /// <returns>True when the lease may be free, which may be untrue: the caller tries again. False, at once, if the server cannot tell:
    /// the caller tries again after a while.</returns>
    ValueTask<bool> WaitForReleaseAsync(string key, CancellationToken cancellationToken) => ValueTask.FromResult(false);

    /// <summary>
    /// Sets the value of a key if the owner still has its lease, as one step on the server. Without it, a value that was computed
    /// before a removal on another machine may be stored just after it.
    /// </summary>
    /// <param name="key">The key, as the <see cref="IDistributedCache"/> gets it.</param>
    /// <param name="owner">Who was given the lease.</param>
    /// <param name="value">The bytes; they do not change, also after the call.</param>
    /// <param name="options">When the value expires.</param>
    /// <param name="cancellationToken">Cancelled when nobody waits for the answer any more; the value may have been set all the same.</param>
    /// <returns><see cref="CacheLeaseStatus.Acquired"/>: the value was set. <see cref="CacheLeaseStatus.Held"/>: the lease was lost, and
    /// nothing was set. <see cref="CacheLeaseStatus.NotSupported"/>: nothing was done, and Cairn sets the value as any other.</returns>
    ValueTask<CacheLeaseStatus> TrySetAsync(
        string key, string owner, ReadOnlyMemory<byte> value, DistributedCacheEntryOptions options, CancellationToken cancellationToken) =>
        ValueTask.FromResult(CacheLeaseStatus.NotSupported);
}
