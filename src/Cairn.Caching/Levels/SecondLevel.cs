using System.Buffers;

namespace Cairn.Caching.Levels;

// The second level as the hybrid cache sees it: bytes by key, leases, tag stamps. It never throws for trouble of its own and
// never takes longer than its time-outs; it answers that it does not know, counts it, and what must not be lost is done later.
//
// Every key comes with its hash by Hasher. Changes that others make reach the cache through its ICoherence.
internal abstract class SecondLevel : IAsyncDisposable
{
    /// <summary>Names keys in <see cref="Coherence"/> and in the first level.</summary>
    public abstract Keys.KeyHasher Hasher { get; }

    /// <summary>Names tags, whose changes are reported like those of keys.</summary>
    public abstract Keys.KeyHasher TagHasher { get; }

    /// <summary>Longest key in UTF-8 bytes; longer ones are not sent here.</summary>
    public abstract int MaxKeyBytes { get; }

    /// <summary>Longest envelope in bytes; longer ones are not sent here.</summary>
    public abstract long MaxValueBytes { get; }

    /// <summary>How changes made elsewhere become known.</summary>
    public abstract Coherence.ICoherence Coherence { get; }

    /// <summary>True if a lease is known to all who share this level, or to some of them.</summary>
    public abstract bool HasLeases { get; }

    /// <summary>The time that the steps of one call share; null if no step ever waits.</summary>
    public virtual LevelDeadline? NewDeadline() => null;

    /// <summary>False while it is still about to hear of others' changes for the first time.</summary>
    public virtual bool IsReady => true;

    /// <summary>Waits until it is ready, or until the time is over; then it counts as ready.</summary>
    public virtual ValueTask WhenReadyAsync(LevelWait wait) => default;

    /// <summary>How it is doing, at about this moment.</summary>
    public virtual LevelHealth Health => default;

    /// <summary>Reads an envelope into the buffer.</summary>
    public abstract ValueTask<LevelStatus> ReadAsync(string key, ulong hash, IBufferWriter<byte> target, LevelWait wait);

    /// <summary>
    /// Reads an envelope if that is memory's work: such a read completes before it returns, and needs no flight that others could join.
    /// </summary>
    /// <returns>False if it may have to be waited for: then nothing is known, and <see cref="ReadAsync"/> finds out.</returns>
    public virtual bool TryReadNow(string key, ulong hash, IBufferWriter<byte> target, out LevelStatus status)
    {
        status = LevelStatus.Failed;
        return false;
    }

    /// <summary>Reads many; the buffers and statuses line up with the keys.</summary>
    public abstract ValueTask ReadManyAsync(
        ReadOnlyMemory<string> keys, ReadOnlyMemory<ulong> hashes, IBufferWriter<byte>[] targets, LevelStatus[] statuses, LevelWait wait);

    /// <summary>
    /// Writes an envelope; with a lease, only if the lease still stands. What failed for trouble of the level's own is done later,
    /// if no newer change of the key comes first.
    /// </summary>
    public abstract ValueTask<LevelStatus> WriteAsync(
        string key, ulong hash, ReadOnlyMemory<byte> envelope, LevelExpiration expiration, ILevelLease? lease, LevelWait wait);

    /// <summary>Removes a key, and ends its lease. As for writes, what failed is done later, and until then the key counts as missing here.</summary>
    public abstract ValueTask<LevelStatus> RemoveAsync(string key, ulong hash, LevelWait wait);

    /// <summary>Extends the life of an entry that slides, after a hit in the first level.</summary>
    public abstract ValueTask<LevelStatus> TouchAsync(string key, ulong hash, LevelExpiration expiration, LevelWait wait);

    /// <summary>
    /// Asks for the right to make the value of a missing key, or to replace one that is there and has expired for the cache, but not
    /// for this level; waits at most <paramref name="leaseWait"/> for who has it.
    /// </summary>
    /// <returns>
    /// Hit: there is a value by now, although none was to be replaced. Done: the lease is the caller's; writing with it fails if anyone
    /// changed the key since. Held: still another's. Failed: no leases just now.
    /// </returns>
    public abstract ValueTask<LeaseResult> AcquireLeaseAsync(
        string key, ulong hash, bool replacesStale, TimeSpan leaseWait, LevelWait wait);

    /// <summary>Takes the lease of a missing key if that needs no waiting: nobody else has it. Null if not.</summary>
    public virtual ILevelLease? TryAcquireNow(string key, ulong hash) => null;

    /// <summary>The stamp of a tag; a missing one becomes a new random one. <see cref="Tagging.Tag.Unknown"/> if the level cannot say.</summary>
    public abstract ValueTask<ulong> ReadStampAsync(string tag, ulong hash, LevelWait wait);

    /// <summary>Gives a tag a new random stamp. Done later if it fails, and until then <see cref="ReadStampAsync"/> answers with the new one.</summary>
    public abstract ValueTask<LevelStatus> RenewStampAsync(string tag, ulong hash, LevelWait wait);

    /// <summary>Removes everything of this cache, tags' stamps included, and ends all leases.</summary>
    public abstract ValueTask<LevelStatus> ClearAsync(LevelWait wait);

    /// <summary>As how many changes of its key a write or removal that ended so counts for <see cref="Coherence.ICoherence.TryKeep"/>.</summary>
    public virtual int ChangesOf(LevelStatus change) => change == LevelStatus.Done ? 1 : 0;

    public abstract ValueTask DisposeAsync();
}
