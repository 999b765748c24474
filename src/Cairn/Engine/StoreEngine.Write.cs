using Cairn.Eviction;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Segments;
using Cairn.Steps;

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

    // Results of a locked step. Only the engine uses them.
    private const WriteStatus DecideAgain = (WriteStatus)66; // A segment was opened (W2), or the old entry was retracted without the lock (W4).
    private const WriteStatus NeedsUnlocked = (WriteStatus)67; // The new entry is too long to be copied under the lock.

    /// <summary>Writes an entry if the condition is met. The condition can require a version.</summary>
    /// <exception cref="StoreFullException">The entry belongs to a kept collection, and there is no room.</exception>
    public WriteStatus Write(
        in KeyRef key, in EntryContent content, WriteCondition condition, ulong expectedVersion, out ulong version)
    {
        long bytes = content.PaddedBytes(key);

        // An entry that has already expired takes no room, whatever its length.
        if (IsLong(bytes) && !content.IsPast)
        {
            return WriteLarge(key, content, condition, expectedVersion, out version);
        }

        PrefetchEntry(key.Place);
        WriteOperation.Begin(out WriteOperation write, key, condition, expectedVersion);
        write.Bytes = bytes;
        var step = default(SetStep);
        WriteStatus status = Run(ref write, ref step, content);
        version = write.Version;
        return status;
    }

    /// <summary>Removes a key's value if the condition is met. Returns <see cref="WriteStatus.NotFound"/> if there is no value.</summary>
    public WriteStatus Remove(in KeyRef key, WriteCondition condition, ulong expectedVersion)
    {
        PrefetchBucket(key.Place);
        WriteOperation.Begin(out WriteOperation write, key, condition, expectedVersion);
        var step = default(RemoveStep);
        return Run(ref write, ref step, default);
    }

    /// <summary>Changes when an entry expires. Writes a new entry, so the version changes.</summary>
    /// <remarks>If <paramref name="expectedVersion"/> is not 0, changes only an entry that still has that version.</remarks>
    public WriteStatus Touch(in KeyRef key, in ResolvedExpiration expiration, ulong expectedVersion = 0) =>
        Touch(key, expiration, marks: null, expectedVersion, out _, out _);

    /// <summary>Changes an entry's expiration and marks. The marks stay if <paramref name="marks"/> is null, and the version that a client chose
    /// stays if <paramref name="chosenVersion"/> is 0. <paramref name="longBytes"/> is the length of a long value, which takes time to copy;
    /// otherwise 0.</summary>
    public WriteStatus Touch(
        in KeyRef key, in ResolvedExpiration expiration, EntryFields? marks, ulong expectedVersion, out ulong version, out int longBytes,
        ulong chosenVersion = 0)
    {
        longBytes = 0;
        WriteOperation.Begin(out WriteOperation write, key, WriteCondition.IfPresent, expectedVersion);
        var step = new TouchStep(marks);
        WriteStatus status = Run(ref write, ref step, new EntryContent { Expiration = expiration, ChosenVersion = chosenVersion });
        version = write.Version;
        return status != NeedsUnlocked ? status : TouchLarge(key, expiration, marks, expectedVersion, out version, out longBytes, chosenVersion);
    }

    /// <summary>Adds bytes before or after a value.</summary>
    public WriteStatus Join(in KeyRef key, ReadOnlySpan<byte> addition, bool isPrefix)
    {
        WriteOperation.Begin(out WriteOperation write, key, WriteCondition.IfPresent, expectedVersion: 0);
        var step = new JoinStep(isPrefix);
        WriteStatus status = Run(ref write, ref step, new EntryContent { First = addition });
        return status != NeedsUnlocked ? status : JoinLarge(key, addition, isPrefix);
    }

    /// <summary>Replaces the value of an entry that still has a version. Expiration and flags stay.</summary>
    public WriteStatus Rewrite(in KeyRef key, ReadOnlySpan<byte> value, ulong expectedVersion) =>
        Rewrite(key, value, expiration: null, expectedVersion, out _);

    /// <summary>Replaces the value of an entry that still has a version. Flags and marks stay; so does the expiration if none is given.</summary>
    public WriteStatus Rewrite(
        in KeyRef key, ReadOnlySpan<byte> value, ResolvedExpiration? expiration, ulong expectedVersion, out ulong version, ulong chosenVersion = 0)
    {
        WriteOperation.Begin(out WriteOperation write, key, WriteCondition.IfVersion, expectedVersion);
        scoped var step = new RewriteStep(expiration);
        WriteStatus status = Run(ref write, ref step, new EntryContent { First = value, ChosenVersion = chosenVersion });
        version = write.Version;
        return status != NeedsUnlocked ? status : Write(key, step.Content, WriteCondition.IfVersion, expectedVersion, out version);
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
        && (!entry.HasDeadline || !Clock.HasPassed(entry.Deadline));

    private bool IsLong(long bytes) => bytes > LongestLockedCopy || bytes > Memory.SegmentBytes;

    // Enters the partition, runs the step, and leaves. Runs the step again if the key's collection is kept and room was made for it elsewhere.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private WriteStatus Run<TStep>(scoped ref WriteOperation write, scoped ref TStep step, scoped in EntryContent content)
        where TStep : struct, ILockedWrite, allows ref struct
    {
        int attempt = 0;
        WriteStatus status;
        do
        {
            status = RunLocked(ref write, ref step, content);
        }
        while (status is >= WriteStatus.NoRoom and < DecideAgain && ShouldTryAgain(write.Key, status, write.Condition, ref attempt));

        return status;
    }

    private WriteStatus RunLocked<TStep>(scoped ref WriteOperation write, scoped ref TStep step, scoped in EntryContent content)
        where TStep : struct, ILockedWrite, allows ref struct
    {
        int number = write.Key.Place.Partition;
        write.Partition = Enter(number);
        if (write.Partition is null)
        {
            return OnBusy(write, isRemoval: typeof(TStep) == typeof(RemoveStep));
        }

        WriteStatus status;
        try
        {
            status = step.Run(this, ref write, content);
            Leave(write.Partition);
        }
        catch
        {
            LeaveBroken(write.Partition, number);
            throw;
        }

        return Settled(write.Key, status);
    }

    // The lock was not acquired in time (W3).
    private WriteStatus OnBusy(in WriteOperation write, bool isRemoval)
    {
        if (write.Condition != WriteCondition.Always || Memory.IsKept(write.Key.Collection))
        {
            return WriteStatus.Busy;
        }

        bool isKilled = Kill(write.Key);
        return !isRemoval ? WriteStatus.Busy : isKilled ? WriteStatus.Stored : WriteStatus.NotFound;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool Find(ref WriteOperation write) =>
        write.IsFound = HashIndex.FindLocked(
            Memory, write.Key.Place, write.Key.Bytes, write.Key.Length, write.Key.Collection, out write.Old);

    // Not inlined: the compiler's budget for inlining into one method would be used up before the steps of the write are reached.
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal WriteStatus WriteLocked(ref WriteOperation write, scoped in EntryContent content)
    {
        WriteStatus status;
        do
        {
            Find(ref write);
            if (write.Condition != WriteCondition.Always && Decide(write) is var decision && decision != WriteStatus.Stored)
            {
                return decision;
            }

            status = TryWriteLocked(ref write, content);
        }
        while (status == DecideAgain);

        return status;
    }

    // Writes the content in place of what the index has. Returns DecideAgain if that has changed.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private WriteStatus TryWriteLocked(ref WriteOperation write, scoped in EntryContent content)
    {
        if (content.IsPast)
        {
            return DropLocked(write) || !write.RestsOnOld ? WriteStatus.Stored : DecideAgain; // W4
        }

        write.Log = ChooseLog(ref write, content);
        if (write.Log == PartitionBlock.LogKeep && !IsWithinBudget(write))
        {
            return OnNoRoom(ref write, NoBudget);
        }

        write.Target = TryReserve(write.Partition, write.Log, write.Bytes);
        if (write.Target is null)
        {
            return OpenSegment(write.Partition, write.Key.Place.Partition, write.Log, write.Bytes)
                ? DecideAgain // W2
                : OnNoRoom(ref write, WriteStatus.NoRoom);
        }

        WriteStatus status = TryPublishLocked(ref write, content);
        return status == NoSlot ? OnNoRoom(ref write, NoSlot) : status;
    }

    private WriteStatus Decide(in WriteOperation write)
    {
        EntryView old = write.Old.Entry;
        if (write.Condition == WriteCondition.IfLease)
        {
            bool isHeld = write.IsFound && old.Version == write.ExpectedVersion && (old.Fields & EntryFields.Lease) != 0
                && !EntryAccounting.IsCleared(Memory, write.Partition, old.Version, old.Collection);
            return isHeld ? WriteStatus.Stored : WriteStatus.LeaseLost;
        }

        bool isLive = write.IsFound && IsLive(write.Partition, old);
        return write.Condition switch
        {
            WriteCondition.IfAbsent => isLive ? WriteStatus.Exists : WriteStatus.Stored,
            WriteCondition.IfPresent => isLive ? WriteStatus.Stored : WriteStatus.NotFound,
            WriteCondition.IfVersion => !isLive ? WriteStatus.NotFound
                : old.Version == write.ExpectedVersion ? WriteStatus.Stored : WriteStatus.VersionMismatch,
            _ => WriteStatus.Stored,
        };
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int ChooseLog(ref WriteOperation write, scoped in EntryContent content)
    {
        if (Memory.IsKept(write.Key.Collection))
        {
            return PartitionBlock.LogKeep;
        }

        if (write.IsFound)
        {
            // An updated entry stays in the main log if its key was already there.
            if (Memory.Header(Memory.SegmentOf(write.Old.Slot))->Log == PartitionBlock.LogMain)
            {
                return PartitionBlock.LogMain;
            }
        }
        else if (write.IsReturning || _policy.BeginsInMain(write.Partition, write.Key.Place))
        {
            write.IsReturning = true;
            return PartitionBlock.LogMain;
        }

        return content.Expiration.IsNever || content.HasLease
            ? PartitionBlock.LogSmall
            : _log.ChooseLog(write.Partition, content.Expiration.EarliestDeadline, content.Expiration.NowMs);
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

        // The eviction may have opened a segment of this log for survivors. To seal it now would waste its room until it is evicted.
        if (_log.TryReserve(partition, log, bytes) is not null)
        {
            _pool.PushSpare(partition, number, segment);
            return true;
        }

        _log.Seal(partition, number, log);
        _log.Open(partition, number, log, segment);
        return true;
    }

    // All entries are pinned or kept. The old value must not stay readable after a set that would have replaced it (W3).
    private WriteStatus OnNoRoom(ref WriteOperation write, WriteStatus status)
    {
        write.Partition->Declined++;
        if (Memory.IsKept(write.Key.Collection))
        {
            return status;
        }

        if (write.Condition == WriteCondition.Always)
        {
            RemoveLocked(ref write);
        }

        return WriteStatus.NoRoom;
    }

    /// <summary>Writes an entry at the reserved place and publishes it.</summary>
    /// <returns>
    /// <see cref="DecideAgain"/> if the old entry was retracted without the lock (W4), or is damaged and was removed. <see cref="NoSlot"/> if the
    /// index has no room for the key, because all entries in the key's buckets are kept.
    /// </returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private WriteStatus TryPublishLocked(ref WriteOperation write, scoped in EntryContent content)
    {
        // The version is stored first, so that it is never assigned twice (PartitionBlock I2).
        PartitionBlock* partition = write.Partition;
        write.Version = ++partition->Version;
        if (!content.TryWrite(write.Target, write.Key, write.Version, Memory.ChecksumSeed))
        {
            OnDamaged(partition, write.Old, write.Key);
            return DecideAgain;
        }

        ProtocolHook.Reach(ProtocolStep.EntryCopied);
        _log.Commit(partition, write.Log, write.Target, write.Bytes, content.RemovableAt, content.SegmentDeadline);

        WriteStatus status = TryPublishSlot(ref write, isChange: !content.HasLease && !content.IsQuiet);
        if (content.IsUse && status == WriteStatus.Stored)
        {
            Bucket.MarkRead(write.Old.Bucket, write.Old.SlotIndex);
        }

        _evictor.Advance(partition, write.Key.Place.Partition, write.Bytes);
        return status;
    }

    /// <summary>Publishes a complete entry as the key's entry. The write takes effect here.</summary>
    private WriteStatus TryPublishSlot(ref WriteOperation write, bool isChange)
    {
        Bucket* bucket = write.Old.Bucket;
        int slotIndex = write.Old.SlotIndex;
        if (!write.IsFound
            && ((!HashIndex.TryFindEmpty(Memory, write.Key.Place, out bucket, out slotIndex)
                    && !TryDisplace(write.Partition, write.Key, out bucket, out slotIndex))
                || !Memory.TryBackBucket(bucket)))
        {
            return NoSlot;
        }

        bool isLogged = IsLogged(write.Key.Collection);
        if (isLogged)
        {
            LogPut(write, bucket, slotIndex);
        }

        bool isPublished = TryStoreSlot(write, isCompared: write.IsFound && write.RestsOnOld && !isLogged, bucket, slotIndex, isChange);
        if (isLogged)
        {
            EndPublication(write.Partition);
        }

        return isPublished ? WriteStatus.Stored : DecideAgain;
    }

    // Stores the slot at the chosen place and updates the counts.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryStoreSlot(in WriteOperation write, bool isCompared, Bucket* bucket, int slotIndex, bool isChange)
    {
        PartitionBlock* partition = write.Partition;
        bool isPublished = true;
        ulong slot = Bucket.Pack(write.Key.Place.Tag, write.Version, Memory.OffsetOf(write.Target));
        if (isCompared)
        {
            isPublished = Bucket.TryReplace(bucket, slotIndex, write.Old.Slot, slot);
        }
        else
        {
            Bucket.Store(bucket, slotIndex, slot);
        }

        if (write.IsFound)
        {
            // Also if the entry was retracted without the lock, because that operation did not update the counts.
            _departures.OnReplaced(partition, write.Old.Entry, Bucket.WasRead(bucket, slotIndex));
            Bucket.MarkUnread(bucket, slotIndex);
            EntryAccounting.TakeOut(Memory, partition, write.Old.Entry);
            _leases.OnRetracted(partition, write.Old.Entry);
        }
        else
        {
            Bucket.Forget(bucket, slotIndex);
        }

        if (!isPublished)
        {
            return false;
        }

        EntryAccounting.Enter(Memory, partition, write.Target, write.Bytes, write.Key.Collection);
        ProtocolHook.Reach(ProtocolStep.CountersStored);
        if (isChange)
        {
            partition->Sets++;
            Invalidation.InvalidationRing.Post(Memory, partition, write.Key.Place.Hash);
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

    internal WriteStatus RemoveLocked(ref WriteOperation write)
    {
        Find(ref write);
        bool isLive = write.IsFound && IsLive(write.Partition, write.Old.Entry);
        bool isExpected = write.IsFound && write.Old.Entry.Version == write.ExpectedVersion;
        if (write.Condition == WriteCondition.IfVersion && !(isLive && isExpected))
        {
            return isLive ? WriteStatus.VersionMismatch : WriteStatus.NotFound;
        }

        if (write.Condition == WriteCondition.IfLease && !isExpected)
        {
            return WriteStatus.LeaseLost;
        }

        return DropLocked(write) && isLive ? WriteStatus.Stored : WriteStatus.NotFound;
    }

    // Returns true if this call retracted the entry. Posts an invalidation even if there was no entry, because another level may still
    // hold a value that was evicted here.
    private bool DropLocked(in WriteOperation write)
    {
        PartitionBlock* partition = write.Partition;
        bool isDropped = false;
        if (write.IsFound)
        {
            bool isLogged = IsLogged(write.Key.Collection) && write.Old.Entry.Type != EntryType.Lease;
            bool isLive = IsLive(partition, write.Old.Entry);
            if (isLogged)
            {
                LogRemove(partition, write.Key);
            }

            isDropped = _evictor.TryDrop(partition, write.Old);
            if (isLogged)
            {
                EndPublication(partition);
            }

            partition->Removals += isDropped && isLive ? 1 : 0;
        }

        Invalidation.InvalidationRing.Post(Memory, partition, write.Key.Place.Hash);
        return isDropped;
    }

    internal WriteStatus TouchLocked(ref WriteOperation write, scoped in EntryContent change, EntryFields? marks)
    {
        if (!Find(ref write) || !IsLive(write.Partition, write.Old.Entry))
        {
            return WriteStatus.NotFound;
        }

        EntryView old = write.Old.Entry;
        if (write.ExpectedVersion != 0 && old.Version != write.ExpectedVersion)
        {
            return WriteStatus.VersionMismatch;
        }

        if (IsLong(old.PaddedBytes + EntryView.MaxFieldsBytes))
        {
            return NeedsUnlocked;
        }

        var content = new EntryContent
        {
            Type = old.Type,
            Flags = old.Flags,
            Marks = marks ?? (old.Fields & EntryFields.Marks),
            ChosenVersion = change.ChosenVersion != 0 ? change.ChosenVersion : old.ChosenVersion,
            Expiration = change.Expiration,
            IsUse = true,
        };
        return RewriteLocked(ref write, content, [], isPrefix: false);
    }

    internal WriteStatus JoinLocked(ref WriteOperation write, scoped ReadOnlySpan<byte> addition, bool isPrefix)
    {
        if (!Find(ref write) || !IsLive(write.Partition, write.Old.Entry) || write.Old.Entry.Type != EntryType.Value)
        {
            return WriteStatus.NotFound;
        }

        EntryView old = write.Old.Entry;
        if (old.ValueLength + (long)addition.Length > Memory.MaxValueBytes)
        {
            return WriteStatus.TooLarge;
        }

        if (IsLong(old.PaddedBytes + addition.Length))
        {
            return NeedsUnlocked;
        }

        var content = new EntryContent { Type = old.Type, Flags = old.Flags, Expiration = EntryContent.ExpirationOf(old) };
        return RewriteLocked(ref write, content, addition, isPrefix);
    }

    // Replaces the value. The caller writes the content without the lock if it is too long.
    internal WriteStatus ReplaceLocked(
        scoped ref WriteOperation write, scoped in EntryContent change, ResolvedExpiration? expiration, out EntryContent content)
    {
        content = default;
        if (!Find(ref write) || !IsLive(write.Partition, write.Old.Entry))
        {
            return WriteStatus.NotFound;
        }

        EntryView old = write.Old.Entry;
        content.Type = old.Type;
        content.Flags = old.Flags;
        content.Marks = old.Fields & EntryFields.Marks;
        content.Expiration = expiration ?? EntryContent.ExpirationOf(old);
        content.ChosenVersion = change.ChosenVersion;
        content.First = change.First;
        write.Bytes = content.PaddedBytes(write.Key);
        return IsLong(write.Bytes) ? NeedsUnlocked : WriteLocked(ref write, content);
    }

    // Writes a new entry from the old entry's value. The old entry can be evicted while room is made (W2).
    private WriteStatus RewriteLocked(
        ref WriteOperation write, scoped EntryContent content, scoped ReadOnlySpan<byte> addition, bool isPrefix)
    {
        WriteStatus status;
        do
        {
            if (!Find(ref write) || write.Old.Entry.ValueLength > (uint)Memory.MaxValueBytes)
            {
                return WriteStatus.NotFound;
            }

            EntryView old = write.Old.Entry;
            var value = new ReadOnlySpan<byte>(old.Value, (int)old.ValueLength);
            content.First = isPrefix ? addition : value;
            content.Second = isPrefix ? value : addition;
            content.Origin = old;
            content.IsOriginSecond = isPrefix;
            write.Bytes = content.PaddedBytes(write.Key);
            status = TryWriteLocked(ref write, content);
        }
        while (status == DecideAgain);

        return status;
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
