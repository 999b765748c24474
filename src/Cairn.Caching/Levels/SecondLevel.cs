using Cairn.Caching.Tagging;
using Cairn.Caching.Telemetry;

namespace Cairn.Caching.Levels;

// The second level as the hybrid cache uses it: bytes by key, leases, and stamps of tags. It never throws because of its own failures, and
// never takes longer than its time-outs. It then returns Failed, counts the failure, and makes changes that must not be lost later.
//
// Every key comes with its hash by Hasher. Changes by other processes reach the cache through its ICoherence.
internal abstract class SecondLevel : IAsyncDisposable
{
    /// <summary>The hasher of keys, for <see cref="Coherence"/> and the first level.</summary>
    public abstract Engine.KeyHasher Hasher { get; }

    /// <summary>The hasher of tags, whose changes are reported like those of keys.</summary>
    public abstract Engine.KeyHasher TagHasher { get; }

    /// <summary>The longest key in UTF-8 bytes; longer ones are not sent to this level.</summary>
    public abstract int MaxKeyBytes { get; }

    /// <summary>The longest envelope in bytes; longer ones are not sent to this level.</summary>
    public abstract long MaxValueBytes { get; }

    /// <summary>The source of changes by other processes.</summary>
    public abstract Coherence.ICoherence Coherence { get; }

    /// <summary>True if a lease applies to all caches that share this level, or to some of them.</summary>
    public abstract bool HasLeases { get; }

    /// <summary>True if other programs read the payloads, which must not be compressed then.</summary>
    public virtual bool StoresPlainValues => false;

    /// <summary>Creates the deadline that the steps of one call share; null if no step ever waits.</summary>
    public virtual LevelDeadline? NewDeadline() => null;

    /// <summary>False until changes by other processes can arrive for the first time.</summary>
    public virtual bool IsReady => true;

    /// <summary>Waits until the level is ready, or until the time is over; then it counts as ready.</summary>
    public virtual ValueTask WhenReadyAsync(LevelWait wait) => default;

    /// <summary>The health of the level, at about this moment.</summary>
    public virtual LevelHealth Health => default;

    /// <summary>Reads an envelope into the buffer.</summary>
    public abstract ValueTask<LevelStatus> ReadAsync(string key, ulong hash, IBufferWriter<byte> target, LevelWait wait);

    /// <summary>
    /// Reads an envelope if that needs only memory access: such a read completes before it returns, and needs no flight that others could join.
    /// </summary>
    /// <returns>False if the read may have to be awaited: then the result is not known, and the caller uses <see cref="ReadAsync"/>.</returns>
    public virtual bool TryReadNow(string key, ulong hash, IBufferWriter<byte> target, out LevelStatus status)
    {
        status = LevelStatus.Failed;
        return false;
    }

    /// <summary>Reads many envelopes; the buffers and statuses have the order of the keys.</summary>
    public abstract ValueTask ReadManyAsync(
        ReadOnlyMemory<string> keys, ReadOnlyMemory<ulong> hashes, IBufferWriter<byte>[] targets, LevelStatus[] statuses, LevelWait wait);

    /// <summary>
    /// Writes an envelope; with a lease, only if the lease is still held. A write that fails because of the level itself is made later,
    /// unless a newer change of the key comes first.
    /// </summary>
    public abstract ValueTask<LevelStatus> WriteAsync(
        string key, ulong hash, ReadOnlyMemory<byte> envelope, LevelExpiration expiration, ILevelLease? lease, LevelWait wait);

    /// <summary>Removes a key and ends its lease. A removal that fails is made later; until then the key counts as missing here.</summary>
    public abstract ValueTask<LevelStatus> RemoveAsync(string key, ulong hash, LevelWait wait);

    /// <summary>Extends a sliding expiration after a hit in the first level.</summary>
    public abstract ValueTask<LevelStatus> TouchAsync(string key, ulong hash, LevelExpiration expiration, LevelWait wait);

    /// <summary>
    /// Requests the right to create the value of a missing key, or to replace a value that has expired for the cache, but not for this level.
    /// Waits at most <paramref name="leaseWait"/> for the present owner.
    /// </summary>
    /// <returns>
    /// Hit: there is a value by now, although none was to be replaced. Done: the caller has the lease; a write with it fails if another caller
    /// changed the key since. Held: another caller still has it. Failed: no leases are available now.
    /// </returns>
    public abstract ValueTask<LeaseResult> AcquireLeaseAsync(
        string key, ulong hash, bool replacesStale, TimeSpan leaseWait, LevelWait wait);

    /// <summary>Acquires the lease of a missing key without waiting; null if another caller has it or if the level would have to wait.</summary>
    public virtual ILevelLease? TryAcquireNow(string key, ulong hash) => null;

    /// <summary>
    /// Returns the state of a tag. A missing stamp is replaced by a new random one. <see cref="Tag.Unknown"/> if the level does not
    /// answer.
    /// </summary>
    public abstract ValueTask<TagState> ReadStampAsync(string tag, ulong hash, LevelWait wait);

    /// <summary>
    /// Gives a tag a new random stamp. If that fails it is done later; until then <see cref="ReadStampAsync"/> returns the new stamp.
    /// </summary>
    public abstract ValueTask<LevelStatus> RenewStampAsync(string tag, ulong hash, LevelWait wait);

    /// <summary>
    /// Invalidates the entries that carry a tag and all others (<see cref="TagState.Without"/>). If the level cannot change the state of the tag in
    /// one step, this does the same as <see cref="RenewStampAsync"/>, and invalidates more than was requested.
    /// </summary>
    public abstract ValueTask<LevelStatus> AddConditionAsync(string tag, ulong hash, ulong[] others, LevelWait wait);

    /// <summary>Lists the keys of the level in no order; null if it cannot.</summary>
    /// <exception cref="Exception">Of any type, during the enumeration: the level failed.</exception>
    public virtual IAsyncEnumerable<string>? ListKeysAsync(CancellationToken cancellationToken) => null;

    /// <summary>Removes all entries of this cache, including stamps of tags, and ends all leases.</summary>
    public abstract ValueTask<LevelStatus> ClearAsync(LevelWait wait);

    /// <summary>
    /// Returns as how many changes of its key a write or removal with this outcome counts for <see cref="Coherence.ICoherence.TryKeep"/>.
    /// </summary>
    public virtual int ChangesOf(LevelStatus change) => change == LevelStatus.Done ? 1 : 0;

    public abstract ValueTask DisposeAsync();
}
