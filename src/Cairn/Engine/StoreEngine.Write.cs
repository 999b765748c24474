using System.Runtime.CompilerServices;
using Cairn.Eviction;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Segments;
using Cairn.Steps;
using Cairn.Storage;

namespace Cairn.Engine;

// Writes, under the lock of the key's partition:
//
//   find -> decide -> reserve -> copy -> tail -> bucket version -> slot -> counts -> ring -> unlock
//
//   W1  If a process dies before the slot store, readers see nothing of its write. If it dies afterwards, they see all of it.
//   W2  Reserving room can evict entries, including the old entry of the same key. After an eviction, the write finds the entry again.
//   W3  If an unconditional set or a removal cannot acquire the lock or finds no room, it still retracts the old value. If the value is
//       kept, the operation fails and changes nothing (StoreEngine.Keep).
//   W4  A write that depends on the old entry (its value, version or presence) replaces exactly that entry, by
//       compare-and-swap. If an operation without the lock has retracted it in the meantime (W3), the write decides again.
internal sealed unsafe partial class StoreEngine
{
    /// <summary>The length in bytes of the longest entry that is copied under the lock. Longer entries are copied without it.</summary>
    public const int LongestLockedCopy = 64 * 1024;

    /// <summary>Writes an entry if the condition is met. The condition can require a version.</summary>
    /// <exception cref="StoreFullException">The entry belongs to a kept collection, and there is no room.</exception>
    public WriteStatus Write(
        in KeyRef key, in EntryContent content, WriteCondition condition, ulong expectedVersion, out ulong version)
    {
        int attempt = 0;
        WriteStatus status;
        do
        {
            status = WriteOnce(key, content, condition, expectedVersion, out version);
        }
        while (status >= WriteStatus.NoRoom && ShouldTryAgain(key, status, condition, ref attempt));

        return status;
    }

    private WriteStatus WriteOnce(
        in KeyRef key, in EntryContent content, WriteCondition condition, ulong expectedVersion, out ulong version)
    {
        // An entry that has already expired takes no room, whatever its length.
        long bytes = content.PaddedBytes(key);
        if (IsLong(bytes) && !content.IsPast)
        {
            return WriteLarge(key, content, condition, expectedVersion, out version);
        }

        PrefetchEntry(key.Place);
        PartitionBlock* partition = Enter(key.Place.Partition);
        if (partition is null)
        {
            version = 0;
            return OnBusy(key, condition);
        }

        WriteStatus status;
        try
        {
            status = WriteLocked(partition, key, content, bytes, condition, expectedVersion, out version);
            Leave(partition);
        }
        catch
        {
            LeaveBroken(partition, key.Place.Partition);
            throw;
        }

        return Settled(key, status);
    }

    /// <summary>Removes a key's value if the condition is met. Returns <see cref="WriteStatus.NotFound"/> if there is no value.</summary>
    public WriteStatus Remove(in KeyRef key, WriteCondition condition, ulong expectedVersion)
    {
        PrefetchBucket(key.Place);
        PartitionBlock* partition = Enter(key.Place.Partition);
        if (partition is null)
        {
            if (condition == WriteCondition.Always && Memory.IsKept(key.Collection))
            {
                throw Busy(key);
            }

            return condition != WriteCondition.Always
                ? WriteStatus.Busy
                : Kill(key) ? WriteStatus.Stored : WriteStatus.NotFound;
        }

        WriteStatus status;
        try
        {
            status = RemoveLocked(partition, key, condition, expectedVersion);
            Leave(partition);
        }
        catch
        {
            LeaveBroken(partition, key.Place.Partition);
            throw;
        }

        return Settled(key, status);
    }

    /// <summary>Changes when an entry expires. Writes a new entry, so the version changes.</summary>
    /// <remarks>If <paramref name="expectedVersion"/> is not 0, changes only an entry that still has that version.</remarks>
    public WriteStatus Touch(in KeyRef key, in ResolvedExpiration expiration, ulong expectedVersion = 0) =>
        Touch(key, expiration, marks: null, expectedVersion, out _);

    /// <summary>Changes an entry's expiration and marks. The marks stay if <paramref name="marks"/> is null.</summary>
    public WriteStatus Touch(
        in KeyRef key, in ResolvedExpiration expiration, EntryFields? marks, ulong expectedVersion, out ulong version)
    {
        int attempt = 0;
        WriteStatus status;
        do
        {
            status = TouchOnce(key, expiration, marks, expectedVersion, out version);
        }
        while (status >= WriteStatus.NoRoom && ShouldTryAgain(key, status, WriteCondition.IfPresent, ref attempt));

        return status;
    }

    private WriteStatus TouchOnce(
        in KeyRef key, in ResolvedExpiration expiration, EntryFields? marks, ulong expectedVersion, out ulong version)
    {
        version = 0;
        PartitionBlock* partition = Enter(key.Place.Partition);
        if (partition is null)
        {
            return WriteStatus.Busy;
        }

        WriteStatus status;
        try
        {
            status = TouchLocked(partition, key, expiration, marks, expectedVersion, out version);
            Leave(partition);
        }
        catch
        {
            LeaveBroken(partition, key.Place.Partition);
            throw;
        }

        return status != WriteStatus.TooLarge ? Settled(key, status) : TouchLarge(key, expiration, marks, expectedVersion, out version);
    }

    /// <summary>Adds bytes before or after a value.</summary>
    public WriteStatus Join(in KeyRef key, ReadOnlySpan<byte> addition, bool isPrefix)
    {
        int attempt = 0;
        WriteStatus status;
        do
        {
            status = JoinOnce(key, addition, isPrefix);
        }
        while (status >= WriteStatus.NoRoom && ShouldTryAgain(key, status, WriteCondition.IfPresent, ref attempt));

        return status;
    }

    private WriteStatus JoinOnce(in KeyRef key, ReadOnlySpan<byte> addition, bool isPrefix)
    {
        PartitionBlock* partition = Enter(key.Place.Partition);
        if (partition is null)
        {
            return WriteStatus.Busy;
        }

        WriteStatus status;
        bool isLarge;
        try
        {
            status = JoinLocked(partition, key, addition, isPrefix, out isLarge);
            Leave(partition);
        }
        catch
        {
            LeaveBroken(partition, key.Place.Partition);
            throw;
        }

        return !isLarge ? Settled(key, status) : JoinLarge(key, addition, isPrefix);
    }

    /// <summary>Replaces the value of an entry that still has a version. Expiration and flags stay.</summary>
    public WriteStatus Rewrite(in KeyRef key, ReadOnlySpan<byte> value, ulong expectedVersion) =>
        Rewrite(key, value, expiration: null, expectedVersion, out _);

    /// <summary>Replaces the value of an entry that still has a version. Flags and marks stay; so does the expiration if none is given.</summary>
    public WriteStatus Rewrite(
        in KeyRef key, ReadOnlySpan<byte> value, ResolvedExpiration? expiration, ulong expectedVersion, out ulong version)
    {
        int attempt = 0;
        WriteStatus status;
        do
        {
            status = RewriteOnce(key, value, expiration, expectedVersion, out version);
        }
        while (status >= WriteStatus.NoRoom && ShouldTryAgain(key, status, WriteCondition.IfVersion, ref attempt));

        return status;
    }

    private WriteStatus RewriteOnce(
        in KeyRef key, ReadOnlySpan<byte> value, ResolvedExpiration? expiration, ulong expectedVersion, out ulong version)
    {
        version = 0;
        PartitionBlock* partition = Enter(key.Place.Partition);
        if (partition is null)
        {
            return WriteStatus.Busy;
        }

        EntryContent content = default;
        WriteStatus status = WriteStatus.NotFound;
        bool isLong = false;
        try
        {
            if (HashIndex.FindLocked(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located old)
                && IsLive(partition, old.Entry))
            {
                content.Type = old.Entry.Type;
                content.Flags = old.Entry.Flags;
                content.Marks = old.Entry.Fields & EntryFields.Marks;
                content.Expiration = expiration ?? EntryContent.ExpirationOf(old.Entry);
                content.First = value;
                long bytes = content.PaddedBytes(key);
                isLong = IsLong(bytes);
                if (!isLong)
                {
                    status = WriteLocked(partition, key, content, bytes, WriteCondition.IfVersion, expectedVersion, out version);
                }
            }

            Leave(partition);
        }
        catch
        {
            LeaveBroken(partition, key.Place.Partition);
            throw;
        }

        return !isLong ? Settled(key, status) : Write(key, content, WriteCondition.IfVersion, expectedVersion, out version);
    }

    /// <summary>Clears one collection or all. Returns false if a partition lock was not acquired in time. The caller then calls again.</summary>
    public bool Clear(uint collection, bool isAll)
    {
        if (isAll ? IsAnyLogged() : IsLogged(collection))
        {
            return ClearLogged(collection, isAll);
        }

        bool isComplete = true;
        for (int number = 0; number < Memory.PartitionCount; number++)
        {
            isComplete &= ClearPartition(number, collection, isAll, _lockTimeout);
        }

        return isComplete;
    }

    /// <summary>Clears a collection's entries in a partition, or all entries. Returns false if the lock was not acquired in time.</summary>
    public bool ClearPartition(int number, uint collection, bool isAll, TimeSpan lockTimeout)
    {
        if (isAll ? IsAnyLogged() : IsLogged(collection))
        {
            return ClearLogged(collection, isAll);
        }

        PartitionBlock* partition = Enter(number, lockTimeout);
        if (partition is null)
        {
            return false;
        }

        try
        {
            ClearLocked(partition, number, collection, isAll);
            Leave(partition);
            return true;
        }
        catch
        {
            LeaveBroken(partition, number);
            throw;
        }
    }

    /// <summary>
    /// Retracts a key's value without the lock, because the lock's holder is stopped or the time-out has passed. Returns true if there was
    /// a value.
    /// </summary>
    /// <remarks>
    /// Any thread can set a slot to 0 by compare-and-swap (Bucket I2). The partition's counts then include this entry until the
    /// evictor reaches it.
    /// </remarks>
    public bool Kill(in KeyRef key)
    {
        if (IsLogged(key.Collection))
        {
            return false; // L3
        }

        PartitionBlock* partition = Memory.Partition(key.Place.Partition);
        Interlocked.Increment(ref partition->Dropped);
        bool isKilled = false;
        while (HashIndex.Find(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located located))
        {
            long deadline = long.MaxValue;
            bool wasReadable = IsReadable(partition, located.Entry, acceptStale: false, ref deadline, acceptHash: true);
            if (!HashIndex.Validate(located))
            {
                continue;
            }

            ProtocolHook.Reach(ProtocolStep.KillValidated);
            if (Interlocked.CompareExchange(ref *Bucket.SlotAt(located.Bucket, located.SlotIndex), 0, located.Slot) == located.Slot)
            {
                isKilled |= wasReadable;
                ProtocolHook.Reach(ProtocolStep.KillSlot);
            }
        }

        Interlocked.Increment(ref partition->Overrun);
        _leases.Raise(partition);
        GC.KeepAlive(this);
        return isKilled;
    }

    internal bool IsLive(PartitionBlock* partition, in EntryView entry) =>
        entry.Type is EntryType.Value or EntryType.Hash
        && entry.ValueLength <= (uint)Memory.MaxValueBytes
        && !EntryAccounting.IsCleared(Memory, partition, entry.Version, entry.Collection)
        && (!entry.HasDeadline || entry.Deadline > Clock.NowMs());

    private bool IsLong(long bytes) => bytes > LongestLockedCopy || bytes > Memory.SegmentBytes;

    private WriteStatus OnBusy(in KeyRef key, WriteCondition condition)
    {
        if (condition == WriteCondition.Always && !Memory.IsKept(key.Collection))
        {
            Kill(key);
        }

        return WriteStatus.Busy;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private WriteStatus WriteLocked(
        PartitionBlock* partition, in KeyRef key, in EntryContent content, long bytes, WriteCondition condition,
        ulong expectedVersion, out ulong version)
    {
        version = 0;
        bool isReturning = false;
        while (true)
        {
            bool isFound = HashIndex.FindLocked(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located old);
            if (condition != WriteCondition.Always)
            {
                WriteStatus status = Decide(partition, condition, isFound, old, expectedVersion);
                if (status != WriteStatus.Stored)
                {
                    return status;
                }
            }

            bool restsOnOld = condition is not (WriteCondition.Always or WriteCondition.IfAbsent);
            if (content.IsPast)
            {
                if (!DropLocked(partition, key, isFound, old) && restsOnOld)
                {
                    continue; // W4
                }

                return WriteStatus.Stored;
            }

            int log = ChooseLog(partition, key, isFound, old, content, ref isReturning);
            if (log == PartitionBlock.LogKeep && !IsWithinBudget(partition, key, isFound, old, bytes))
            {
                return OnNoRoom(partition, key, condition, NoBudget);
            }

            byte* target = TryReserve(partition, log, bytes);
            if (target is null)
            {
                if (OpenSegment(partition, key.Place.Partition, log, bytes))
                {
                    continue; // W2
                }

                return OnNoRoom(partition, key, condition, WriteStatus.NoRoom);
            }

            switch (TryPublishLocked(partition, key, content, bytes, isFound, old, restsOnOld, log, target, out version))
            {
                case PublishOutcome.Published:
                    return WriteStatus.Stored;
                case PublishOutcome.NoSlot:
                    return OnNoRoom(partition, key, condition, NoSlot);
                default:
                    break; // W4: decides again.
            }
        }
    }

    private WriteStatus Decide(PartitionBlock* partition, WriteCondition condition, bool isFound, in Located old, ulong expectedVersion)
    {
        if (condition == WriteCondition.IfLease)
        {
            bool isHeld = isFound && old.Entry.Version == expectedVersion && (old.Entry.Fields & EntryFields.Lease) != 0
                && !EntryAccounting.IsCleared(Memory, partition, old.Entry.Version, old.Entry.Collection);
            return isHeld ? WriteStatus.Stored : WriteStatus.LeaseLost;
        }

        bool isLive = isFound && IsLive(partition, old.Entry);
        return condition switch
        {
            WriteCondition.IfAbsent => isLive ? WriteStatus.Exists : WriteStatus.Stored,
            WriteCondition.IfPresent => isLive ? WriteStatus.Stored : WriteStatus.NotFound,
            WriteCondition.IfVersion => !isLive ? WriteStatus.NotFound
                : old.Entry.Version == expectedVersion ? WriteStatus.Stored : WriteStatus.VersionMismatch,
            _ => WriteStatus.Stored,
        };
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int ChooseLog(
        PartitionBlock* partition, in KeyRef key, bool isFound, in Located old, in EntryContent content, ref bool isReturning)
    {
        if (Memory.IsKept(key.Collection))
        {
            return PartitionBlock.LogKeep;
        }

        if (isFound)
        {
            // An updated entry stays in the main log if its key was already there.
            if (Memory.Header(Memory.SegmentOf(old.Slot))->Log == PartitionBlock.LogMain)
            {
                return PartitionBlock.LogMain;
            }
        }
        else if (isReturning)
        {
            return PartitionBlock.LogMain;
        }
        else if (_policy.BeginsInMain(partition, key.Place))
        {
            // The caller keeps this flag, because it may have to make room and call again.
            isReturning = true;
            return PartitionBlock.LogMain;
        }

        return content.Expiration.IsNever || content.HasLease
            ? PartitionBlock.LogSmall
            : _log.ChooseLog(partition, content.Expiration.EarliestDeadline, content.Expiration.NowMs);
    }

    /// <summary>Reserves room in a log's open segment. Returns null if a segment must be opened first (<see cref="OpenSegment"/>).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private byte* TryReserve(PartitionBlock* partition, int log, long bytes) =>
        log == PartitionBlock.LogKeep && partition->SpareCount <= 0
            ? null // SegmentEvictor.Keep K2
            : _log.TryReserve(partition, log, bytes);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool OpenSegment(PartitionBlock* partition, int number, int log, long bytes)
    {
        if (log == PartitionBlock.LogKeep)
        {
            return MakeRoomToKeep(partition, number, bytes);
        }

        int segment = _evictor.TakeSegment(partition, number);
        if (segment == SegmentPool.None && !_recovery.IsPlausible(number))
        {
            // There is room, but the lists were damaged after the store was opened. Without recovery, every later attempt would fail too.
            _recovery.Run(number);
            segment = _evictor.TakeSegment(partition, number);
        }

        if (segment == SegmentPool.None)
        {
            return false;
        }

        _log.Seal(partition, number, log);
        _log.Open(partition, number, log, segment);
        return true;
    }

    // All entries are pinned or kept. The old value must not stay readable after a set that would have replaced it (W3).
    private WriteStatus OnNoRoom(PartitionBlock* partition, in KeyRef key, WriteCondition condition, WriteStatus status)
    {
        partition->Declined++;
        if (Memory.IsKept(key.Collection))
        {
            return status;
        }

        if (condition == WriteCondition.Always)
        {
            RemoveLocked(partition, key, WriteCondition.Always, 0);
        }

        return WriteStatus.NoRoom;
    }

    /// <summary>Writes an entry at a reserved place and publishes it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private PublishOutcome TryPublishLocked(
        PartitionBlock* partition, in KeyRef key, in EntryContent content, long bytes, bool isFound, in Located old, bool restsOnOld,
        int log, byte* target, out ulong version)
    {
        // The version is stored first, so that it is never assigned twice (PartitionBlock I2).
        version = partition->Version + 1;
        partition->Version = version;
        if (!content.TryWrite(target, key, version, Memory.ChecksumSeed))
        {
            OnDamaged(partition, old, key);
            return PublishOutcome.Retracted;
        }

        ProtocolHook.Reach(ProtocolStep.EntryCopied);
        _log.Commit(partition, log, target, bytes, content.RemovableAt, content.SegmentDeadline);

        PublishOutcome outcome = TryPublishSlot(
            partition, key, bytes, isFound, old, restsOnOld, target, version, isChange: !content.HasLease && !content.IsQuiet);
        if (content.IsUse && outcome == PublishOutcome.Published)
        {
            Bucket.MarkRead(old.Bucket, old.SlotIndex);
        }

        _evictor.Advance(partition, key.Place.Partition, bytes);
        return outcome;
    }

    /// <summary>Publishes a complete entry as the key's entry. The write takes effect here.</summary>
    private PublishOutcome TryPublishSlot(
        PartitionBlock* partition, in KeyRef key, long bytes, bool isFound, in Located old, bool restsOnOld, byte* target, ulong version,
        bool isChange)
    {
        Bucket* bucket;
        int slotIndex;
        if (isFound)
        {
            bucket = old.Bucket;
            slotIndex = old.SlotIndex;
        }
        else if ((!HashIndex.TryFindEmpty(Memory, key.Place, out bucket, out slotIndex)
                && !TryDisplace(partition, key, out bucket, out slotIndex))
            || !Memory.TryBackBucket(bucket))
        {
            return PublishOutcome.NoSlot;
        }

        bool isLogged = IsLogged(key.Collection);
        if (isLogged)
        {
            LogPut(partition, key, target, isFound, old, bucket, slotIndex);
        }

        bool isPublished = TryStoreSlot(
            partition, key, bytes, isFound, old, isCompared: isFound && restsOnOld && !isLogged, bucket, slotIndex, target, version, isChange);
        if (isLogged)
        {
            EndPublication(partition);
        }

        return isPublished ? PublishOutcome.Published : PublishOutcome.Retracted;
    }

    // Stores the slot at the chosen place and updates the counts.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryStoreSlot(
        PartitionBlock* partition, in KeyRef key, long bytes, bool isFound, in Located old, bool isCompared, Bucket* bucket, int slotIndex,
        byte* target, ulong version, bool isChange)
    {
        bool isPublished = true;
        ulong slot = Bucket.Pack(key.Place.Tag, version, Memory.OffsetOf(target));
        if (isCompared)
        {
            isPublished = Bucket.TryReplace(bucket, slotIndex, old.Slot, slot);
        }
        else
        {
            Bucket.Store(bucket, slotIndex, slot);
        }

        if (isFound)
        {
            // Also if the entry was retracted without the lock, because that operation did not update the counts.
            _departures.OnReplaced(partition, old.Entry, Bucket.WasRead(bucket, slotIndex));
            Bucket.MarkUnread(bucket, slotIndex);
            EntryAccounting.TakeOut(Memory, partition, old.Entry);
            _leases.OnRetracted(partition, old.Entry);
        }
        else
        {
            Bucket.Forget(bucket, slotIndex);
        }

        if (!isPublished)
        {
            return false;
        }

        EntryAccounting.Enter(Memory, partition, target, bytes, key.Collection);
        ProtocolHook.Reach(ProtocolStep.CountersStored);
        if (isChange)
        {
            partition->Sets++;
            Invalidation.InvalidationRing.Post(Memory, partition, key.Place.Hash);
        }

        return true;
    }

    // Both buckets are full. Of the entries that can be evicted, this evicts the least used one; in a tie, the older one.
    private bool TryDisplace(PartitionBlock* partition, in KeyRef key, out Bucket* bucket, out int slotIndex)
    {
        KeyPlacement place = key.Place;
        bucket = null;
        slotIndex = 0;
        bool hasKept = PartitionBlock.HasKept(partition);
        int least = int.MaxValue;
        ulong oldest = ulong.MaxValue;
        for (int choice = 0; choice < 2; choice++)
        {
            Bucket* candidate = Memory.BucketAt(place.Partition, choice == 0 ? place.Primary : place.Alternate);
            for (int i = 0; i < Bucket.Slots; i++)
            {
                if (!EvictsEntries || (hasKept && Memory.IsKeptSlot(*Bucket.SlotAt(candidate, i))))
                {
                    continue;
                }

                int frequency = Bucket.Frequency(candidate, i);
                ulong version = Memory.TryView(*Bucket.SlotAt(candidate, i), out EntryView entry) ? entry.Version : 0;
                if (frequency < least || (frequency == least && version < oldest))
                {
                    least = frequency;
                    oldest = version;
                    bucket = candidate;
                    slotIndex = i;
                }
            }
        }

        if (bucket is null)
        {
            // All entries in both buckets are kept, or nothing is evicted. A new entry that is not kept finds no slot then.
            if (!Memory.IsKept(key.Collection) || !HashIndex.TryFindEmptyInOverflow(Memory, place, out bucket, out slotIndex))
            {
                return false;
            }

            Memory.RaiseOverflow();
            ProtocolHook.Reach(ProtocolStep.OverflowRaised);
            return true;
        }

        partition->Displacements++;
        if (Memory.TryView(*Bucket.SlotAt(bucket, slotIndex), out EntryView displaced))
        {
            _departures.OnDisplaced(partition, displaced, Bucket.WasRead(bucket, slotIndex));
            _evictor.Drop(partition, displaced, bucket, slotIndex);
        }
        else
        {
            Bucket.Store(bucket, slotIndex, 0);
            partition->Evictions++;
            partition->Corrupt++;
        }

        return true;
    }

    private WriteStatus RemoveLocked(PartitionBlock* partition, in KeyRef key, WriteCondition condition, ulong expectedVersion)
    {
        bool isFound = HashIndex.FindLocked(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located old);
        bool isLive = isFound && IsLive(partition, old.Entry);
        if (condition == WriteCondition.IfVersion)
        {
            if (!isLive)
            {
                return WriteStatus.NotFound;
            }

            if (old.Entry.Version != expectedVersion)
            {
                return WriteStatus.VersionMismatch;
            }
        }
        else if (condition == WriteCondition.IfLease)
        {
            if (!isFound || old.Entry.Version != expectedVersion)
            {
                return WriteStatus.LeaseLost;
            }
        }

        bool isDropped = DropLocked(partition, key, isFound, old);
        return isLive && isDropped ? WriteStatus.Stored : WriteStatus.NotFound;
    }

    // Returns true if this call retracted the entry. Posts an invalidation even if there was no entry, because another level may still
    // hold a value that was evicted here.
    private bool DropLocked(PartitionBlock* partition, in KeyRef key, bool isFound, in Located old)
    {
        bool isDropped = false;
        if (isFound)
        {
            bool isLogged = IsLogged(key.Collection) && old.Entry.Type != EntryType.Lease;
            bool isLive = IsLive(partition, old.Entry);
            if (isLogged)
            {
                LogRemove(partition, key);
            }

            isDropped = _evictor.TryDrop(partition, old);
            if (isLogged)
            {
                EndPublication(partition);
            }

            partition->Removals += isDropped && isLive ? 1 : 0;
        }

        Invalidation.InvalidationRing.Post(Memory, partition, key.Place.Hash);
        return isDropped;
    }

    private WriteStatus TouchLocked(
        PartitionBlock* partition, in KeyRef key, in ResolvedExpiration expiration, EntryFields? marks, ulong expectedVersion,
        out ulong version)
    {
        version = 0;
        bool isFound = HashIndex.FindLocked(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located old);
        if (!isFound || !IsLive(partition, old.Entry))
        {
            return WriteStatus.NotFound;
        }

        if (expectedVersion != 0 && old.Entry.Version != expectedVersion)
        {
            return WriteStatus.VersionMismatch;
        }

        if (old.Entry.PaddedBytes + EntryView.MaxFieldsBytes > Math.Min(LongestLockedCopy, Memory.SegmentBytes))
        {
            return WriteStatus.TooLarge;
        }

        var content = new EntryContent
        {
            Type = old.Entry.Type,
            Flags = old.Entry.Flags,
            Marks = marks ?? (old.Entry.Fields & EntryFields.Marks),
            Expiration = expiration,
            IsUse = true,
        };
        return RewriteLocked(partition, key, content, [], isPrefix: false, out version);
    }

    private WriteStatus JoinLocked(
        PartitionBlock* partition, in KeyRef key, ReadOnlySpan<byte> addition, bool isPrefix, out bool isLarge)
    {
        isLarge = false;
        bool isFound = HashIndex.FindLocked(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located old);
        if (!isFound || !IsLive(partition, old.Entry) || old.Entry.Type != EntryType.Value)
        {
            return WriteStatus.NotFound;
        }

        if (old.Entry.ValueLength + (long)addition.Length > Memory.MaxValueBytes)
        {
            return WriteStatus.TooLarge;
        }

        if (old.Entry.PaddedBytes + addition.Length > Math.Min(LongestLockedCopy, Memory.SegmentBytes))
        {
            isLarge = true;
            return WriteStatus.TooLarge;
        }

        var content = new EntryContent
        {
            Type = old.Entry.Type,
            Flags = old.Entry.Flags,
            Expiration = EntryContent.ExpirationOf(old.Entry),
        };
        return RewriteLocked(partition, key, content, addition, isPrefix, out _);
    }

    // Writes a new entry from the old entry's value. The old entry can be evicted while room is made (W2).
    private WriteStatus RewriteLocked(
        PartitionBlock* partition, in KeyRef key, EntryContent content, ReadOnlySpan<byte> addition, bool isPrefix, out ulong version)
    {
        version = 0;
        bool isReturning = false;
        while (true)
        {
            bool isFound = HashIndex.FindLocked(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located old);
            if (!isFound || old.Entry.ValueLength > (uint)Memory.MaxValueBytes)
            {
                return WriteStatus.NotFound;
            }

            var value = new ReadOnlySpan<byte>(old.Entry.Value, (int)old.Entry.ValueLength);
            content.First = isPrefix ? addition : value;
            content.Second = isPrefix ? value : addition;
            content.Origin = old.Entry.Start;
            content.IsOriginSecond = isPrefix;
            if (content.IsPast)
            {
                if (!DropLocked(partition, key, isFound, old))
                {
                    continue; // W4
                }

                return WriteStatus.Stored;
            }

            long bytes = content.PaddedBytes(key);
            int log = ChooseLog(partition, key, isFound, old, content, ref isReturning);
            if (log == PartitionBlock.LogKeep && !IsWithinBudget(partition, key, isFound, old, bytes))
            {
                partition->Declined++;
                return NoBudget;
            }

            byte* target = TryReserve(partition, log, bytes);
            if (target is not null)
            {
                // The key already has a slot.
                if (TryPublishLocked(partition, key, content, bytes, isFound, old, restsOnOld: true, log, target, out version)
                    == PublishOutcome.Published)
                {
                    return WriteStatus.Stored;
                }

                continue; // W4
            }

            if (!OpenSegment(partition, key.Place.Partition, log, bytes))
            {
                partition->Declined++;
                return WriteStatus.NoRoom;
            }
        }
    }

    private void ClearLocked(PartitionBlock* partition, int number, uint collection, bool isAll)
    {
        uint first = isAll ? 0 : collection;
        uint last = isAll ? StoreLayout.MaxCollections - 1 : collection;
        for (uint c = first; c <= last; c++)
        {
            // The watermark hides the entries. Its complement is stored next, so that damage to either is detected (PartitionBlock I3).
            ulong* pair = PartitionBlock.Watermark(partition, c);
            Volatile.Write(ref pair[0], partition->Version);
            Volatile.Write(ref pair[1], ~partition->Version);
            ProtocolHook.Reach(ProtocolStep.WatermarkRaised);
        }

        ForgetCleared(partition, number, collection, isAll);
        if (PartitionBlock.HasKept(partition) && (isAll || Memory.IsKept(collection)))
        {
            _evictor.LetSweep(partition);
        }

        Interlocked.Increment(ref partition->Overrun);
        _leases.Raise(partition);
    }

    // Subtracts the cleared entries from the counts. If the partition has no other entries, marks its segments to be dropped whole.
    private void ForgetCleared(PartitionBlock* partition, int number, uint collection, bool isAll)
    {
        long otherEntries = 0;
        long otherBytes = 0;
        for (uint c = 1; c < StoreLayout.MaxCollections; c++)
        {
            long* counters = PartitionBlock.CollectionCounters(partition, c);
            if (isAll || c == collection)
            {
                partition->Entries -= counters[0];
                partition->LiveBytes -= counters[1];
                counters[0] = 0;
                counters[1] = 0;
            }

            otherEntries += counters[0];
            otherBytes += counters[1];
        }

        if (isAll || collection == 0)
        {
            partition->Entries = otherEntries;
            partition->LiveBytes = otherBytes;
            partition->OwnSliding = 0;
            new Span<long>(PartitionBlock.CollectionCounters(partition, 0), 2).Clear();
        }

        if (partition->Entries != 0)
        {
            return;
        }

        for (int log = 0; log < PartitionBlock.LogCount; log++)
        {
            _log.Seal(partition, number, log);
        }

        for (int queue = 0; queue < 2; queue++)
        {
            int segment = (queue == 0 ? partition->SmallHead : partition->MainHead) - 1;
            for (int i = 0; _pool.IsSegment(segment) && i < Memory.SegmentCount; i++)
            {
                Memory.Header(segment)->MaxDeadline = 0;
                partition->MinWholeDeadline = 0;
                segment = Memory.Header(segment)->Next - 1;
            }
        }
    }
}
