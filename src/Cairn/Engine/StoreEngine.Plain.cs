using Cairn.Indexing;
using Cairn.Invalidation;
using Cairn.Keys;
using Cairn.Segments;
using Cairn.Steps;

namespace Cairn.Engine;

// The fast paths: reading and replacing most entries. These are values without flags or sliding expiration, in the default collection or
// in a collection whose entries have the same shape (IPlainShape). The protocols are those of the slow paths (StoreEngine.Read,
// StoreEngine.Write), with everything in registers. An operation mostly waits for two cache misses: the bucket and the entry. The
// processor can begin the next operation during the wait if it can see that far ahead, about four hundred instructions. Every unusual
// case is left to the slow path, with nothing changed. docs/decisions/0048 says why there are two of each.
internal sealed unsafe partial class StoreEngine
{
    /// <summary>The result of a read on the fast path: the key has no value. The caller counts the miss, or takes the slow path, which counts it.</summary>
    public const int Missing = -2;

    /// <summary>Reads a key's value on the fast path.</summary>
    /// <returns>
    /// The value's length; <see cref="Missing"/>; or -1 if the slow path must read the key. The slow path may find no value.
    /// </returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int TryGetPlain<TKey>(
        TKey key, in KeyPlacement place, ref byte destination, int destinationLength, out ulong version, out long deadline)
        where TKey : struct, IPlainKey =>
        TryGetPlain(key, default(StoreShape), place, ref destination, destinationLength, isExact: false, out version, out deadline);

    /// <summary>
    /// Reads a key's value on the fast path. With <paramref name="isExact"/>, reads only a value as long as the destination and without a deadline, and
    /// never reports a miss. The compiler uses that length where it is a constant, and the shorter code takes less time.
    /// </summary>
    /// <returns>
    /// The value's length; <see cref="Missing"/>; or -1 if the slow path must read the key. The slow path may find no value.
    /// </returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int TryGetPlain<TKey, TShape>(
        TKey key, TShape shape, in KeyPlacement place, ref byte destination, int destinationLength, bool isExact, out ulong version, out long deadline)
        where TKey : struct, IPlainKey
        where TShape : struct, IReadableShape
    {
        int keyLength = key.Length;
        StoreMemory memory = Memory;
        if (!TryFindTag(memory, place, out Bucket* bucket, out uint bucketVersion, out int slotIndex))
        {
            version = 0;
            deadline = 0;
            return !isExact && HashIndex.IsSurelyMissing(memory, place.Hash, shape.Collection) ? Missing : -1;
        }

        ulong slot = Volatile.Read(ref *Bucket.SlotAt(bucket, slotIndex));
        ProtocolHook.Reach(ProtocolStep.ReadSlotLoaded);
        byte* entry = memory.TryLocate(slot, out long available);
        if (entry is null)
        {
            goto Elsewhere;
        }

        ulong word0 = *(ulong*)entry;
        ulong entryVersion = *(ulong*)(entry + 8);
        int valueLength = (int)(word0 >> 32);
        bool expires = false;
        int keyOffset = EntryView.HeaderBytes + shape.FieldsBytes;
        if ((uint)word0 != PlainWord(keyLength, shape.Fields))
        {
            // A branch, so that the processor need not wait for the word before it reads the key.
            if (isExact || (uint)word0 != PlainWord(keyLength, shape.ExpiringFields))
            {
                goto Elsewhere;
            }

            expires = true;
            keyOffset = EntryView.HeaderBytes + shape.ExpiringFieldsBytes;
        }

        if ((isExact ? valueLength != destinationLength : (uint)valueLength > (uint)Math.Min(destinationLength, LongestOptimisticCopy))
            || keyOffset + keyLength + valueLength > available
            || !Bucket.StampMatches(slot, entryVersion)
            || entryVersion <= memory.WatermarkOf(memory.Partition(place.Partition), shape.Collection)
            || !(expires ? shape.HasExpiringFields(entry) : shape.HasFields(entry))
            || !key.EqualsStored(entry + keyOffset))
        {
            goto Elsewhere;
        }

        if (isExact)
        {
            valueLength = destinationLength;
        }

        deadline = expires ? ExpiringShape.DeadlineOf(entry) : long.MaxValue;
        ProtocolHook.Reach(ProtocolStep.ReadEntryFound);
        uint checksum = *(uint*)(entry + 16);
        uint valueSum;
        fixed (byte* target = &destination)
        {
            valueSum = isExact
                ? ValueChecksum.ComputeAndCopyFixed(entry + keyOffset + keyLength, target, valueLength, memory.ChecksumSeed)
                : ValueChecksum.ComputeAndCopy(entry + keyOffset + keyLength, target, valueLength, memory.ChecksumSeed);
        }

        ProtocolHook.Reach(ProtocolStep.ReadEntryCopied);

        // Load barrier and acquire, as in HashIndex.Validate: the bytes, then the slot, then the version.
        Volatile.ReadBarrier();
        if (Volatile.Read(ref *Bucket.SlotAt(bucket, slotIndex)) != slot || bucket->Version != bucketVersion
            || (expires
                ? EntryView.ComputeChecksum(word0, entryVersion, shape.ExpiringFieldsHash(deadline, memory.ChecksumSeed), valueSum, place.Hash)
                : shape.Checksum(word0, entryVersion, valueSum, place.Hash)) != checksum)
        {
            goto Elsewhere;
        }

        // Last, so that the key's registers need not be saved for the call. The checksum proves that the flags are 0.
        if (expires && Clock.HasPassed(deadline))
        {
            goto Elsewhere;
        }

        Bucket.CountHit(bucket, slotIndex);
        _hits.Hit(place.Partition);
        version = entryVersion;
        GC.KeepAlive(this);
        return valueLength;

    Elsewhere:
        version = 0;
        deadline = 0;
        return -1;
    }

    /// <summary>Counts a miss that the fast path has found.</summary>
    public void CountMiss(int partition)
    {
        _hits.Miss(partition);
        GC.KeepAlive(this);
    }

    /// <summary>Replaces a key's value on the fast path.</summary>
    /// <returns>False, with nothing changed, if the slow path must set the value.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReplacePlain<TKey>(TKey key, in KeyPlacement place, ref byte value, int valueLength)
        where TKey : struct, IPlainKey =>
        TryReplacePlain(key, default(StoreShape), place, ref value, valueLength, isExact: false);

    /// <summary>
    /// Replaces a key's value on the fast path. With <paramref name="isExact"/>, the compiler generates separate code for this length, where it is a
    /// constant.
    /// </summary>
    /// <returns>False, with nothing changed, if the slow path must set the value.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReplacePlain<TKey, TShape>(TKey key, TShape shape, in KeyPlacement place, ref byte value, int valueLength, bool isExact)
        where TKey : struct, IPlainKey
        where TShape : struct, IPlainShape
    {
        int bytes = (EntryView.HeaderBytes + shape.FieldsBytes + key.Length + valueLength + (EntryView.Alignment - 1)) & -EntryView.Alignment;

        // The value's length is also checked separately, because the sum overflows for a huge value.
        if (valueLength > LongestLockedCopy || bytes > LongestLockedCopy || !TryFindTag(Memory, place, out Bucket* bucket, out _, out int slotIndex))
        {
            return false;
        }

        // Fetched before the lock is acquired, so that the lock is not held during the memory access. A hint, as in PrefetchEntry.
        byte* entry = Memory.Base + Bucket.LocationOf(*Bucket.SlotAt(bucket, slotIndex));
        HashIndex.Prefetch(entry);
        if (shape.FieldsBytes != 0)
        {
            HashIndex.Prefetch(entry + EntryView.HeaderBytes + shape.FieldsBytes + key.Length); // With these fields, the key may be in the next line.
        }

        PartitionBlock* partition = Memory.Partition(place.Partition);
        if (!_lock.TryTake(partition, out uint taken))
        {
            return false;
        }

        if (_isClosed)
        {
            LeaveClosed(partition, taken);
        }

        try
        {
            bool isReplaced = TryReplacePlainLocked(partition, key, shape, place, bucket, slotIndex, ref value, valueLength, bytes, isExact);
            Leave(partition);
            GC.KeepAlive(this);
            return isReplaced;
        }
        catch
        {
            LeaveBroken(partition, place.Partition);
            throw;
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryReplacePlainLocked<TKey, TShape>(
        PartitionBlock* partition, TKey key, TShape shape, in KeyPlacement place, Bucket* bucket, int slotIndex, ref byte value,
        int valueLength, int bytes, bool isExact)
        where TKey : struct, IPlainKey
        where TShape : struct, IPlainShape
    {
        StoreMemory memory = Memory;
        int keyLength = key.Length;
        int keyOffset = EntryView.HeaderBytes + shape.FieldsBytes;
        ulong slot = *Bucket.SlotAt(bucket, slotIndex);
        byte* old = memory.TryLocate(slot, out long available);
        if (old is null || Bucket.TagOf(slot) != place.Tag)
        {
            return false;
        }

        ulong oldWord0 = *(ulong*)old;
        ulong oldVersion = *(ulong*)(old + 8);
        long oldBytes = (keyOffset + keyLength + (long)(oldWord0 >> 32) + (EntryView.Alignment - 1)) & -EntryView.Alignment;
        if ((uint)oldWord0 != PlainWord(keyLength, shape.Fields)
            || oldBytes > available
            || !Bucket.StampMatches(slot, oldVersion)
            || oldVersion <= memory.WatermarkOf(partition, shape.Collection)
            || !shape.HasFields(old)
            || !key.EqualsStored(old + keyOffset)
            || !shape.MayReplace(oldBytes, bytes))
        {
            return false;
        }

        long oldDeadline = shape.Collection == 0 && shape.FieldsBytes != 0 ? ExpiringShape.DeadlineOf(old) : long.MaxValue;
        SegmentHeader* oldHeader = memory.Header(memory.SegmentAt(old));
        int log = shape.LogAfter(oldHeader, _log, partition);
        byte* target = TryReserve(partition, log, bytes);
        if (target is null)
        {
            return false;
        }

        // From here on, the same steps as in TryPublishLocked.
        ulong version = partition->Version + 1;
        partition->Version = version;
        ulong word0 = PlainWord(keyLength, shape.Fields) | ((ulong)(uint)valueLength << 32);
        *(ulong*)target = word0;
        *(ulong*)(target + 8) = version;
        shape.StoreFields(target);
        key.Store(target + keyOffset);
        uint valueSum;
        fixed (byte* source = &value)
        {
            valueSum = isExact
                ? ValueChecksum.ComputeAndCopyInFixed(source, target + keyOffset + keyLength, valueLength, memory.ChecksumSeed)
                : ValueChecksum.ComputeAndCopyIn(source, target + keyOffset + keyLength, valueLength, memory.ChecksumSeed);
        }

        *(uint*)(target + 16) = shape.Checksum(word0, version, valueSum, place.Hash);
        ProtocolHook.Reach(ProtocolStep.EntryCopied);
        _log.Commit(partition, log, target, bytes, removableAt: shape.Deadline, shape.Deadline);
        Bucket.Store(bucket, slotIndex, Bucket.Pack(place.Tag, version, memory.OffsetOf(target)));

        Bucket.MarkUnread(bucket, slotIndex);
        if (log != PartitionBlock.LogKeep)
        {
            EntryView.MarkGarbage(old); // As in EntryAccounting.TakeOut.
        }

        // The counts, as EntryAccounting keeps them: one entry replaces another.
        oldHeader->LiveBytes -= (int)oldBytes;
        memory.Header(memory.SegmentAt(target))->LiveBytes += bytes;
        partition->LiveBytes += bytes - oldBytes;
        if (shape.Collection != 0)
        {
            PartitionBlock.CollectionCounters(partition, shape.Collection)[1] += bytes - oldBytes;
        }
        else if (shape.FieldsBytes != 0)
        {
            PartitionBlock.CollectionCounters(partition, 0)[1] += shape.Deadline - oldDeadline;
        }

        ProtocolHook.Reach(ProtocolStep.CountersStored);
        partition->Sets++;
        InvalidationRing.Post(memory, partition, place.Hash);
        _evictor.Advance(partition, place.Partition, bytes);
        return true;
    }

    /// <summary>Finds the first slot with the key's tag, in the primary bucket or else in the alternate one. Another key can have the same tag.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool TryFindTag(
        StoreMemory memory, in KeyPlacement place, out Bucket* bucket, out uint bucketVersion, out int slotIndex)
    {
        bucket = memory.BucketAt(place.Partition, place.Primary);
        bucketVersion = Volatile.Read(ref bucket->Version);
        ProtocolHook.Reach(ProtocolStep.ReadVersionLoaded);
        uint matches = Bucket.MatchTag(bucket, place.Tag);
        if (matches == 0)
        {
            bucket = memory.BucketAt(place.Partition, place.Alternate);
            bucketVersion = Volatile.Read(ref bucket->Version);
            matches = Bucket.MatchTag(bucket, place.Tag);
        }

        slotIndex = BitOperations.TrailingZeroCount(matches);
        return matches != 0;
    }

    // Returns the low half of the first word of a plain entry. One comparison checks the key's length, the type and the set of optional
    // fields.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint PlainWord(int keyLength, EntryFields fields) =>
        (uint)(keyLength - 1) | ((uint)EntryType.Value << 16) | ((uint)fields << 24);
}
