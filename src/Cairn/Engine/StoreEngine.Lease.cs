using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Leasing;
using Cairn.Segments;

namespace Cairn.Engine;

// Leases: one caller acquires the right to create the value of a missing key, so that the others do not create it too.
//
// A lease is the key's entry: a marker without a value, or the expired value with a lease field. The entry's version identifies it.
// A cache above the store can also lease a value that has expired for the cache but not for the store. The value stays readable, with a
// lease field.
//
//   absent or stale --acquire--> leased(owner, version) --set with that version--> value
//                                  |-- set, remove, clear or invalidation by any caller: another entry or none, the lease has ended
//                                  |-- its owner died, or its time has passed: the next caller takes it over
//
// A hash counts as absent: readers of values do not find it, and the new value would replace it. The marker replaces the hash.
//
// So no extra state is needed to cancel a lease: every operation that retracts or replaces the entry cancels it.
internal sealed unsafe partial class StoreEngine
{
    // Bounded, because no process wakes a waiter when the owner of a lease dies.
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

    /// <summary>Returns the partition's lease signal. If it changes, a lease of the partition may have ended.</summary>
    public uint LeaseSignalOf(int partition)
    {
        uint signal = LeaseSignal.Read(Memory.Partition(partition));
        GC.KeepAlive(this);
        return signal;
    }

    /// <summary>Sleeps until the partition's lease signal is no longer <paramref name="seen"/>, or until the time-out has passed.</summary>
    public void WaitForLeaseSignal(int partition, uint seen, TimeSpan timeout)
    {
        _leases.Wait(Memory.Partition(partition), seen, timeout);
        GC.KeepAlive(this);
    }

    /// <summary>Wakes all threads of all processes that sleep on the partition's lease signal, so that they check their leases again.</summary>
    public void RaiseLeaseSignal(int partition)
    {
        if (!_isClosed)
        {
            _leases.Raise(Memory.Partition(partition));
        }

        GC.KeepAlive(this);
    }

    /// <summary>Returns whether the key's entry is still the lease.</summary>
    public bool IsLeaseHeld(in KeyRef key, ulong version)
    {
        PartitionBlock* partition = Memory.Partition(key.Place.Partition);
        while (HashIndex.Find(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located located))
        {
            bool isHeld = located.Entry.Version == version && (located.Entry.Fields & EntryFields.Lease) != 0
                && !EntryAccounting.IsCleared(Memory, partition, version, key.Collection);
            if (HashIndex.Validate(located))
            {
                return isHeld;
            }
        }

        return false;
    }

    /// <summary>Ends a lease without a value. A stale value in the lease's entry stays, without the lease.</summary>
    public void ReleaseLease(in KeyRef key, ulong version)
    {
        PartitionBlock* partition = Enter(key.Place.Partition);
        if (partition is null)
        {
            return; // The lease ends when its time has passed or the process dies.
        }

        try
        {
            WriteOperation.Begin(out WriteOperation write, key, WriteCondition.IfLease, version);
            write.Partition = partition;
            if (Find(ref write) && Decide(write) == WriteStatus.Stored)
            {
                EntryView old = write.Old.Entry;
                bool isRewritten = old.Type == EntryType.Value
                    && RewriteLocked(
                        ref write,
                        new EntryContent { Type = EntryType.Value, Flags = old.Flags, Expiration = EntryContent.ExpirationOf(old), IsQuiet = true },
                        [],
                        isPrefix: false) == WriteStatus.Stored;

                // Making room may have moved or retracted the entry (W2).
                if (!isRewritten && Find(ref write) && Decide(write) == WriteStatus.Stored && !IsLive(partition, write.Old.Entry))
                {
                    _evictor.Drop(partition, write.Old.Entry, write.Old.Bucket, write.Old.SlotIndex);
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

    /// <summary>Like <see cref="AcquireLease"/>, but never waits for another lease's end, and limits the wait for the partition's lock.</summary>
    /// <remarks>
    /// With <paramref name="replacesValue"/>, also leases a value that has not expired. The value stays readable meanwhile. If it is too long
    /// for a lease's entry, the result is a hit, and <paramref name="version"/> is the value's version.
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
        WriteOperation.Begin(out WriteOperation write, key, WriteCondition.IfPresent, expectedVersion: 0);
        write.Partition = partition;
        while (true)
        {
            bool isFound = Find(ref write);
            Located old = write.Old;
            bool isCleared = isFound && EntryAccounting.IsCleared(Memory, partition, old.Entry.Version, key.Collection);
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

                // A damaged lease does not count, because its deadline can be wrong and it could never end.
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
                content.Origin = old.Entry;
            }

            // A marker without a value can be evicted like any entry. A stale value of a kept collection must not be evicted.
            write.Bytes = content.PaddedBytes(key);
            write.Log = content.Type == EntryType.Value && Memory.IsKept(key.Collection) ? PartitionBlock.LogKeep : PartitionBlock.LogSmall;
            write.Target = TryReserve(partition, write.Log, write.Bytes);
            if (write.Target is not null)
            {
                WriteStatus status = TryPublishLocked(ref write, content);
                if (status == NoSlot)
                {
                    return LeaseStatus.Busy;
                }

                if (status == DecideAgain)
                {
                    continue; // W4: the stale value must not become readable again.
                }

                if (isHash)
                {
                    Invalidation.InvalidationRing.Post(Memory, partition, key.Place.Hash);
                }

                version = write.Version;
                Steps.ProtocolHook.Reach(Steps.ProtocolStep.LeaseWritten);
                return LeaseStatus.Acquired;
            }

            // A key longer than a segment cannot be leased, because no segment has room for its marker.
            if (write.Bytes > Memory.SegmentBytes || !OpenSegment(partition, key.Place.Partition, write.Log, write.Bytes))
            {
                return LeaseStatus.Busy;
            }
        }
    }

    // Whether the entry is a value that is short enough to be copied under the lock. Its checksum is checked during the copy.
    private bool IsStaleValue(in EntryView entry) =>
        entry.Type == EntryType.Value
        && entry.ValueLength <= (uint)Memory.MaxValueBytes
        && entry.PaddedBytes + EntryView.MaxFieldsBytes <= Math.Min(LongestLockedCopy, Memory.SegmentBytes);

    private bool IsWhole(in EntryView entry, in KeyRef key) =>
        entry.ValueLength <= (uint)Memory.MaxValueBytes
        && entry.ComputeChecksum(key.Place.Hash, Memory.ChecksumSeed) == entry.Checksum;
}
