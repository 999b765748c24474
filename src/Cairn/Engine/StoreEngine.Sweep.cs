using Cairn.Concurrency;
using Cairn.Eviction;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Segments;

namespace Cairn.Engine;

/// <summary>The reason why an entry that is still in the index cannot be read.</summary>
internal enum GoneReason
{
    /// <summary>There is no such entry, or it can be read.</summary>
    None,

    Expired,

    /// <summary>The entry's collection was cleared.</summary>
    Cleared,
}
// Sweeps expired entries: holds the lock for each step (SegmentEvictor.Sweep).
internal sealed unsafe partial class StoreEngine
{
    /// <summary>Gets how long this opening leaves expired entries in place, in milliseconds.</summary>
    public long ExpiredRetentionMs
    {
        get => _evictor.ExpiredRetentionMs;
        init => _evictor.ExpiredRetentionMs = value;
    }

    /// <summary>Gets or sets how long a segment is not swept again after a sweep, in seconds. Tests of sweeps set it to 0.</summary>
    public uint SweepIntervalSeconds
    {
        get => _evictor.SweepIntervalSeconds;
        set => _evictor.SweepIntervalSeconds = value;
    }

    /// <summary>Returns whether a segment seems to have expired entries, and the partition that it belongs to.</summary>
    public bool IsDueToSweep(int segment, long now, out int partition)
    {
        SegmentHeader* header = Memory.Header(segment);
        partition = SegmentHeader.PartitionOf(Volatile.Read(ref header->StateWord));
        return partition < Memory.PartitionCount && _evictor.IsDue(header, now);
    }

    /// <summary>Removes a key's entry if it has expired, as a sweep would. Returns true if this call removed an entry.</summary>
    public bool TryExpire(in KeyRef key) => TakeOutGone(key) == GoneReason.Expired;

    /// <summary>
    /// Removes a key's entry if it cannot be read any more, and returns the reason. Never waits. If another thread holds the partition, returns
    /// <see cref="GoneReason.None"/> and leaves the entry to a sweep.
    /// </summary>
    public GoneReason TakeOutGone(in KeyRef key)
    {
        PartitionBlock* partition = Memory.Partition(key.Place.Partition);
        bool mayBeGone = HashIndex.Find(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located seen)
            && ReasonOf(partition, seen.Entry) != GoneReason.None;
        GC.KeepAlive(this);
        if (!mayBeGone || EnterIfFree(key.Place.Partition) is null)
        {
            return GoneReason.None;
        }

        try
        {
            GoneReason reason = HashIndex.FindLocked(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located old)
                ? ReasonOf(partition, old.Entry)
                : GoneReason.None;
            bool isTakenOut = reason != GoneReason.None && _evictor.TryDrop(partition, old);
            Leave(partition);
            return isTakenOut ? reason : GoneReason.None;
        }
        catch
        {
            LeaveBroken(partition, key.Place.Partition);
            throw;
        }
    }

    // Neither waits nor counts as a wait. Takes over the lock of a dead owner, because perhaps no other thread enters this partition.
    private PartitionBlock* EnterIfFree(int number)
    {
        PartitionBlock* partition = Memory.Partition(number);
        int owner = PartitionLock.OwnerOf(Volatile.Read(ref partition->LockWord));
        bool isFree = owner == 0 || !_owners.IsAlive(owner) || (_holds != 0 && IsHeldHere(partition));
        return isFree ? Enter(number, TimeSpan.Zero) : null;
    }

    // An entry with a lease stays until the lease has also ended.
    private GoneReason ReasonOf(PartitionBlock* partition, in EntryView entry) =>
        entry.Type is not (EntryType.Value or EntryType.Hash) ? GoneReason.None
        : EntryAccounting.IsCleared(Memory, partition, entry.Version, entry.Collection) ? GoneReason.Cleared
        : entry.HasDeadline && Clock.HasPassed(entry.RemovableAt, agoMs: ExpiredRetentionMs) ? GoneReason.Expired
        : GoneReason.None;

    /// <summary>Forgets the results of earlier sweeps. For tests that change the file's contents.</summary>
    public void ForgetSweeps() => _evictor.ForgetGroups();

    /// <summary>Does one bounded step. Returns false, without waiting, if another thread holds the partition.</summary>
    /// <exception cref="ObjectDisposedException">The store was closed in the meantime.</exception>
    public bool TrySweep(int number, int segment, out SweepStep step)
    {
        step = default;
        PartitionBlock* partition = EnterIfFree(number);
        if (partition is null)
        {
            return false;
        }

        try
        {
            step = _evictor.Sweep(partition, number, segment);
            Leave(partition);
        }
        catch
        {
            LeaveBroken(partition, number);
            throw;
        }

        GC.KeepAlive(this);
        return true;
    }
}
