using System.Diagnostics;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Leasing;
using Cairn.Segments;
using Cairn.Storage;

namespace Cairn.Engine;

// Leases: who may compute the value of a missing key, so that not everybody does.
//
// A lease is the key's entry: a marker without a value, or the expired value with a lease field. It is named by its version.
// A cache above may also lease a value that has expired for it and not for the store: it stays readable, with a lease field.
//
//   absent or stale --acquire--> leased(owner, version) --set with that version--> value
//                                  |-- set, remove, clear, invalidation by anyone: the entry is another, the lease is gone
//                                  |-- its owner died, or its time is up: the next who asks takes it over
//
// A hash counts as absent: who reads values finds none, and the value that comes would replace it. It gives way to the marker.
//
// So nothing has to be remembered to cancel a lease: whatever retracts or replaces the entry does.
internal sealed unsafe partial class StoreEngine
{
    // Nobody wakes a waiter when a lease's owner dies.
    private static readonly TimeSpan LongestLeaseSleep = TimeSpan.FromMilliseconds(20);

    public LeaseStatus AcquireLease(in KeyRef key, TimeSpan wait, TimeSpan duration, out ulong version)
    {
        long start = Stopwatch.GetTimestamp();
        PartitionBlock* partition = Memory.Partition(key.Place.Partition);
        while (true)
        {
            // Read before the entry: a signal raised after that wakes the wait below.
            uint signal = LeaseSignal.Read(partition);
            LeaseStatus status = TryAcquireLease(key, replacesValue: false, duration, _lockTimeout, out version);
            if (status != LeaseStatus.Held)
            {
                return status;
            }

            Steps.ProtocolHook.Reach(Steps.ProtocolStep.LeaseSeenHeld);
            TimeSpan left = wait == Timeout.InfiniteTimeSpan ? LongestLeaseSleep : wait - Stopwatch.GetElapsedTime(start);
            if (left <= TimeSpan.Zero)
            {
                return LeaseStatus.Held;
            }

            _leases.Wait(partition, signal, left < LongestLeaseSleep ? left : LongestLeaseSleep);
            ThrowIfClosed();
        }
    }

    /// <summary>The partition's lease signal: once it is another, a lease of the partition may have ended.</summary>
    public uint LeaseSignalOf(int partition)
    {
        uint signal = LeaseSignal.Read(Memory.Partition(partition));
        GC.KeepAlive(this);
        return signal;
    }

    /// <summary>Sleeps until the partition's lease signal is no longer <paramref name="seen"/>, or until the time is up.</summary>
    public void WaitForLeaseSignal(int partition, uint seen, TimeSpan timeout)
    {
        _leases.Wait(Memory.Partition(partition), seen, timeout);
        GC.KeepAlive(this);
    }

    /// <summary>Wakes who sleeps on the partition's lease signal, in any process, to look again.</summary>
    public void RaiseLeaseSignal(int partition)
    {
        if (!_isClosed)
        {
            _leases.Raise(Memory.Partition(partition));
        }

        GC.KeepAlive(this);
    }

    /// <summary>True while the key's entry is the lease.</summary>
    public bool IsLeaseHeld(in KeyRef key, ulong version)
    {
        PartitionBlock* partition = Memory.Partition(key.Place.Partition);
        while (HashIndex.Find(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located located))
        {
            bool isHeld = located.Entry.Version == version && (located.Entry.Fields & EntryFields.Lease) != 0
                && !EntryLedger.IsCleared(Memory, partition, version, key.Collection);
            if (HashIndex.Validate(located))
            {
                return isHeld;
            }
        }

        return false;
    }

    /// <summary>Ends a lease without a value. A stale value that it carried stays, without the lease.</summary>
    public void GiveUpLease(in KeyRef key, ulong version)
    {
        PartitionBlock* partition = Enter(key.Place.Partition);
        if (partition is null)
        {
            return; // It ends with its time, or with the process.
        }

        try
        {
            if (HashIndex.FindLocked(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located old)
                && Decide(partition, WriteCondition.IfLease, isFound: true, old, version) == WriteStatus.Stored)
            {
                if (old.Entry.Type == EntryType.Value)
                {
                    var stale = new EntryContent
                    {
                        Type = EntryType.Value,
                        Flags = old.Entry.Flags,
                        Expiration = EntryContent.ExpirationOf(old.Entry),
                        IsQuiet = true,
                    };
                    bool isRewritten = RewriteLocked(partition, key, stale, [], isPrefix: false, out _) == WriteStatus.Stored;

                    // Making room may have moved it, or taken it out (W2).
                    if (!isRewritten
                        && HashIndex.FindLocked(Memory, key.Place, key.Bytes, key.Length, key.Collection, out old)
                        && Decide(partition, WriteCondition.IfLease, isFound: true, old, version) == WriteStatus.Stored
                        && !IsLive(partition, old.Entry))
                    {
                        _evictor.Drop(partition, old.Entry, old.Bucket, old.SlotIndex);
                    }
                }
                else
                {
                    _evictor.Drop(partition, old.Entry, old.Bucket, old.SlotIndex);
                }
            }

            Leave(partition);
        }
        catch
        {
            LeaveBroken(partition, key.Place.Partition);
            throw;
        }
    }

    /// <summary>As <see cref="AcquireLease"/>, but does not wait for who has the lease, and so long for the partition's lock.</summary>
    /// <remarks>
    /// With <paramref name="replacesValue"/> also on a value that has not expired, which stays readable meanwhile. If it is too long to
    /// be carried by a lease, the result is a hit, and <paramref name="version"/> the value's.
    /// </remarks>
    public LeaseStatus TryAcquireLease(
        in KeyRef key, bool replacesValue, TimeSpan duration, TimeSpan lockTimeout, out ulong version)
    {
        version = 0;
        PartitionBlock* partition = Enter(key.Place.Partition, lockTimeout);
        if (partition is null)
        {
            return LeaseStatus.Busy;
        }

        try
        {
            LeaseStatus status = AcquireLocked(partition, key, replacesValue, duration, out version);
            Leave(partition);
            return status;
        }
        catch
        {
            LeaveBroken(partition, key.Place.Partition);
            throw;
        }
    }

    private LeaseStatus AcquireLocked(
        PartitionBlock* partition, in KeyRef key, bool replacesValue, TimeSpan duration, out ulong version)
    {
        version = 0;
        while (true)
        {
            bool isFound = HashIndex.FindLocked(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located old);
            bool isCleared = isFound && EntryLedger.IsCleared(Memory, partition, old.Entry.Version, key.Collection);
            bool isHash = false;
            long now = Clock.NowMs();
            if (isFound && !isCleared)
            {
                isHash = old.Entry.Type == EntryType.Hash && IsLive(partition, old.Entry);
                if (!isHash && IsLive(partition, old.Entry) && !(replacesValue && IsStaleValue(old.Entry)))
                {
                    version = replacesValue ? old.Entry.Version : 0;
                    return LeaseStatus.Hit;
                }

                // A damaged one could last for ever.
                if ((old.Entry.Fields & EntryFields.Lease) != 0 && old.Entry.LeaseDeadline > now
                    && _owners.IsAlive((int)Math.Min(old.Entry.LeaseOwner, StoreLayout.MaxOwners), old.Entry.LeaseIncarnation)
                    && IsWhole(old.Entry, key))
                {
                    return LeaseStatus.Held;
                }
            }

            var content = new EntryContent
            {
                Type = EntryType.Lease,
                Expiration = ResolvedExpiration.Never,
                HasLease = true,
                LeaseOwner = (uint)_owners.Slot,
                LeaseIncarnation = _owners.Incarnation,
                LeaseDeadline = now + (long)duration.TotalMilliseconds,
            };
            if (isFound && !isCleared && IsStaleValue(old.Entry))
            {
                content.Type = EntryType.Value;
                content.Flags = old.Entry.Flags;
                content.Expiration = EntryContent.ExpirationOf(old.Entry);
                content.First = new ReadOnlySpan<byte>(old.Entry.Value, (int)old.Entry.ValueLength);
                content.Origin = old.Entry.Start;
            }

            // A marker without a value may be evicted like any; a value that somebody still wants may not, if it is kept.
            long bytes = content.PaddedBytes(key);
            int log = content.Type == EntryType.Value && Memory.IsKept(key.Collection) ? PartitionBlock.LogKeep : PartitionBlock.LogSmall;
            byte* target = TryReserve(partition, log, bytes);
            if (target is not null)
            {
                PublishOutcome outcome = TryPublishLocked(
                    partition, key, content, bytes, isFound, old, restsOnOld: true, log, target, out version);
                if (outcome == PublishOutcome.NoSlot)
                {
                    return LeaseStatus.Busy;
                }

                if (outcome == PublishOutcome.Retracted)
                {
                    continue; // W4: the stale value must not come back.
                }

                if (isHash)
                {
                    Invalidation.InvalidationRing.Post(Memory, partition, key.Place.Hash);
                }

                Steps.ProtocolHook.Reach(Steps.ProtocolStep.LeaseWritten);
                return LeaseStatus.Acquired;
            }

            // A key longer than a segment cannot be leased: its marker would fit nowhere.
            if (bytes > Memory.SegmentBytes || !OpenSegment(partition, key.Place.Partition, log, bytes))
            {
                return LeaseStatus.Busy;
            }
        }
    }

    // Worth carrying along: short enough to be copied under the lock. Whether it is whole is seen then.
    private bool IsStaleValue(in EntryView entry) =>
        entry.Type == EntryType.Value
        && entry.ValueLength <= (uint)Memory.MaxValueBytes
        && entry.PaddedBytes + EntryView.MaxFieldsBytes <= Math.Min(LongestLockedCopy, Memory.SegmentBytes);

    private bool IsWhole(in EntryView entry, in KeyRef key) =>
        entry.ValueLength <= (uint)Memory.MaxValueBytes
        && entry.ComputeChecksum(key.Place.Hash, Memory.ChecksumSeed) == entry.Checksum;
}
