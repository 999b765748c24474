using Cairn.Concurrency;
using Cairn.Eviction;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Segments;
using Cairn.Storage;

namespace Cairn.Engine;

/// <summary>Why an entry that is still in the index cannot be read.</summary>
internal enum GoneReason
{
    /// <summary>There is none, or it can be read.</summary>
    None,

    Expired,

    /// <summary>Its collection was cleared.</summary>
    Cleared,
}
// Sweeping expired entries: the lock around each step (SegmentEvictor.Sweep).
internal sealed unsafe partial class StoreEngine
{
    /// <summary>How long this opening leaves entries in place after they have expired, milliseconds.</summary>
    public long ExpiredRetentionMs
    {
        get => _evictor.ExpiredRetentionMs;
        init => _evictor.ExpiredRetentionMs = value;
    }

    /// <summary>How long a segment is left alone after a sweep. Tests of sweeps do without.</summary>
    public uint SweepIntervalSeconds
    {
        get => _evictor.SweepIntervalSeconds;
        set => _evictor.SweepIntervalSeconds = value;
    }

    /// <summary>Whether a segment seems to have entries whose time has passed, and the partition that it belongs to.</summary>
    public bool IsDueToSweep(int segment, long now, out int partition)
    {
        SegmentHeader* header = Memory.Header(segment);
        partition = SegmentHeader.PartitionOf(Volatile.Read(ref header->StateWord));
        return partition < Memory.PartitionCount && _evictor.IsDue(header, now);
    }

    /// <summary>Takes out a key's entry if its time has passed, as a sweep would. True if this call took one out.</summary>
    public bool TryExpire(in KeyRef key) => TakeOutGone(key) == GoneReason.Expired;

    /// <summary>
    /// Takes out a key's entry if it cannot be read any more, and tells why. Nothing is waited for: if somebody else holds the partition, the answer is none,
    /// and the entry is left to a sweep.
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

    // Neither waits nor counts as a wait. What a dead owner left is taken over: perhaps nobody else comes by.
    private PartitionBlock* EnterIfFree(int number)
    {
        PartitionBlock* partition = Memory.Partition(number);
        int owner = PartitionLock.OwnerOf(Volatile.Read(ref partition->LockWord));
        bool isFree = owner == 0 || !_owners.IsAlive(owner) || (_holds != 0 && IsHeldHere(partition));
        return isFree ? Enter(number, TimeSpan.Zero) : null;
    }

    // An entry that carries a lease stays until that has ended too.
    private GoneReason ReasonOf(PartitionBlock* partition, in EntryView entry) =>
        entry.Type is not (EntryType.Value or EntryType.Hash) ? GoneReason.None
        : EntryLedger.IsCleared(Memory, partition, entry.Version, entry.Collection) ? GoneReason.Cleared
        : entry.HasDeadline && entry.RemovableAt <= Clock.NowMs() - ExpiredRetentionMs ? GoneReason.Expired
        : GoneReason.None;

    /// <summary>Forgets what earlier sweeps found: tests give the file other contents.</summary>
    public void ForgetSweeps() => _evictor.ForgetGroups();

    /// <summary>Does one bounded step. False if somebody else holds the partition: it is not waited for.</summary>
    /// <exception cref="ObjectDisposedException">The store was closed meanwhile.</exception>
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
