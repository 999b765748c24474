using System.Runtime.Intrinsics;
using Cairn.Eviction;
using Cairn.Indexing;
using Cairn.Maps;

namespace Cairn.Engine;

// Copies all entries of a collection in bucket order, as a scan does (StoreEngine.Scan). The protocol is that of a read: a copy is
// valid if the slot and the bucket's version are unchanged after it.
internal sealed unsafe partial class StoreEngine
{
    // The entries of this many buckets are prefetched while those of one bucket are read. This is about thirty cache lines, the number that a
    // processor core can request at the same time.
    private const int BucketsAhead = 5;

    /// <summary>Returns the number of a collection's entries that are not cleared. Includes expired entries that are not yet removed.</summary>
    public long CountOf(uint collection)
    {
        long entries = 0;
        for (int number = 0; number < Memory.PartitionCount; number++)
        {
            entries += Volatile.Read(ref PartitionBlock.CollectionCounters(Memory.Partition(number), collection)[0]);
        }

        GC.KeepAlive(this);
        return Math.Max(0, entries);
    }

    /// <summary>Returns a number that changes with every write in the partition of a bucket.</summary>
    public ulong VersionAt(long bucket)
    {
        ulong version = Volatile.Read(ref Memory.Partition((int)(bucket / Memory.Layout.BucketsPerPartition))->Version);
        GC.KeepAlive(this);
        return version;
    }

    /// <summary>Copies the live entries of a collection from a range of buckets within one partition.</summary>
    /// <exception cref="StoreCorruptException">An entry of a kept collection is damaged.</exception>
    /// <param name="first">The first bucket.</param>
    /// <param name="end">The bucket after the last one.</param>
    /// <param name="collection">The collection.</param>
    /// <param name="buffer">The buffer into which entries are copied. If it is too short, a longer one of the pool replaces it.</param>
    /// <param name="sink">Receives the entries as bytes.</param>
    public void CopyEntries<TKey, TValue, TSink>(long first, long end, uint collection, ref byte[] buffer, ref TSink sink)
        where TSink : struct, IEntrySink<TKey, TValue>, allows ref struct
    {
        PartitionBlock* partition = Memory.Partition((int)(first / Memory.Layout.BucketsPerPartition));
        Bucket* bucket = Memory.BucketAt(0, 0) + first;
        for (long number = first; number < end; number++, bucket++)
        {
            for (int slotIndex = 0; slotIndex < Bucket.Slots; slotIndex++)
            {
                CopySlot<TKey, TValue, TSink>(partition, bucket, slotIndex, collection, ref buffer, ref sink);
            }
        }

        GC.KeepAlive(this);
    }

    /// <summary>Like CopyEntries, for keys and values of fixed formats. Copies entries without expiration directly from the file to the sink.</summary>
    /// <exception cref="StoreCorruptException">An entry of a kept collection is damaged.</exception>
    [SkipLocalsInit]
    public void CopyFixed<TKey, TValue, TSink>(long first, long end, CollectionShape shape, ref byte[] buffer, ref TSink sink)
        where TSink : struct, IEntrySink<TKey, TValue>, allows ref struct
    {
        StoreMemory memory = Memory;
        PartitionBlock* partition = memory.Partition((int)(first / memory.Layout.BucketsPerPartition));
        ulong watermark = memory.WatermarkOf(partition, shape.Collection);
        ulong keySeed = KeyHash.SeedOf(shape.Collection, memory.KeySeed);
        ulong checksumSeed = memory.ChecksumSeed;
        Bucket* bucket = memory.BucketAt(0, 0) + first;
        Bucket* last = bucket + (end - first);
        Bucket* ahead = bucket;
        ulong* slots = stackalloc ulong[1 + Bucket.Slots];
        for (; bucket < last; bucket++)
        {
            for (; ahead < last && ahead - bucket < BucketsAhead; ahead++)
            {
                PrefetchEntries(ahead, EntryView.HeaderBytes + shape.FieldsBytes + FixedFormat.SizeOf<TKey>() + FixedFormat.SizeOf<TValue>());
            }

            // Acquire, as in HashIndex.Find: the slots must not be read before the version.
            uint version = Volatile.Read(ref bucket->Version);
            Vector256<ulong> low = Vector256.Load((ulong*)bucket);
            Vector256<ulong> high = Vector256.Load((ulong*)bucket + 4);
            low.Store(slots);
            high.Store(slots + 4);
            Span<KeyValuePair<TKey, TValue>> room = sink.Reserve(Bucket.Slots);
            int copied = 0;
            uint others = 0;
            uint empty = Vector256.Equals(low, Vector256<ulong>.Zero).ExtractMostSignificantBits()
                | (Vector256.Equals(high, Vector256<ulong>.Zero).ExtractMostSignificantBits() << 4);
            for (uint used = ~empty & (((1u << Bucket.Slots) - 1) << 1); used != 0; used &= used - 1)
            {
                int index = BitOperations.TrailingZeroCount(used); // Slot 0 is at index 1.
                byte* entry = memory.TryLocate(slots[index], out long available);
                if (entry is not null && TryCopyFixed(entry, available, slots[index], shape, watermark, keySeed, checksumSeed, out room[copied]))
                {
                    copied++;
                }
                else
                {
                    others |= 1u << (index - 1);
                }
            }

            // As in HashIndex.Validate, for all slots at once: the bytes, then the slots, then the version. The frequencies, beside it, can change.
            Volatile.ReadBarrier();
            Vector256<ulong> changed = ((low ^ Vector256.Load((ulong*)bucket)) & Vector256.Create(0, ulong.MaxValue, ulong.MaxValue, ulong.MaxValue))
                | (high ^ Vector256.Load((ulong*)bucket + 4));
            Volatile.ReadBarrier();
            if (changed == Vector256<ulong>.Zero && bucket->Version == version)
            {
                sink.Take(copied);
            }
            else
            {
                others = (1u << Bucket.Slots) - 1;
            }

            for (; others != 0; others &= others - 1)
            {
                CopySlot<TKey, TValue, TSink>(partition, bucket, BitOperations.TrailingZeroCount(others), shape.Collection, ref buffer, ref sink);
            }
        }

        GC.KeepAlive(this);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void PrefetchEntries(Bucket* bucket, int entryBytes)
    {
        for (int slotIndex = 0; slotIndex < Bucket.Slots; slotIndex++)
        {
            // Only a hint: an empty slot leads to the superblock, and the processor ignores an address outside the mapping.
            byte* entry = Memory.Base + Bucket.LocationOf(*Bucket.SlotAt(bucket, slotIndex));
            HashIndex.Prefetch(entry);
            HashIndex.Prefetch(entry + entryBytes - 1); // Most entries extend over two cache lines.
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool TryCopyFixed<TKey, TValue>(
        byte* entry, long available, ulong slot, in CollectionShape shape, ulong watermark, ulong keySeed, ulong checksumSeed,
        out KeyValuePair<TKey, TValue> copy)
    {
        UInt128 key;
        UInt128 value;
        int keyOffset = EntryView.HeaderBytes + shape.FieldsBytes;
        int keyLength = FixedFormat.SizeOf<TKey>();
        int valueLength = FixedFormat.SizeOf<TValue>();
        ulong word0 = *(ulong*)entry;
        ulong version = *(ulong*)(entry + 8);
        if (word0 != (PlainWord(keyLength, shape.Fields) | ((ulong)(uint)valueLength << 32))
            || keyOffset + keyLength + valueLength > available
            || !Bucket.StampMatches(slot, version)
            || version <= watermark
            || !shape.HasFields(entry))
        {
            Unsafe.SkipInit(out copy);
            return false;
        }

        ShortBytes.Copy(entry + keyOffset, (byte*)&key, keyLength);
        uint valueSum = ValueChecksum.ComputeAndCopyFixed(entry + keyOffset + keyLength, (byte*)&value, valueLength, checksumSeed);
        if (shape.Checksum(word0, version, valueSum, KeyHash.Compute((byte*)&key, keyLength, keySeed)) != *(uint*)(entry + 16))
        {
            Unsafe.SkipInit(out copy);
            return false;
        }

        // The checksum proves that these are the bytes of an entry, perhaps of one that was removed. So both formats can read them.
        copy = new KeyValuePair<TKey, TValue>(FixedFormat.Read<TKey>((byte*)&key), FixedFormat.Read<TValue>((byte*)&value));
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void CopySlot<TKey, TValue, TSink>(
        PartitionBlock* partition, Bucket* bucket, int slotIndex, uint collection, ref byte[] buffer, ref TSink sink)
        where TSink : struct, IEntrySink<TKey, TValue>, allows ref struct
    {
        while (true)
        {
            uint version = Volatile.Read(ref bucket->Version);
            ulong slot = Volatile.Read(ref *Bucket.SlotAt(bucket, slotIndex));
            if (slot == 0)
            {
                return;
            }

            var located = new Located { Bucket = bucket, SlotIndex = slotIndex, BucketVersion = version, Slot = slot };
            long deadline = long.MaxValue;
            bool isWanted = Memory.TryView(slot, out EntryView entry) && Bucket.StampMatches(slot, entry.Version)
                && entry.Collection == collection && IsReadable(partition, entry, acceptStale: false, ref deadline);
            int keyLength = 0;
            int valueLength = 0;
            bool isWhole = false;
            if (isWanted)
            {
                keyLength = entry.KeyLength;
                valueLength = (int)entry.ValueLength;
                if (buffer.Length < keyLength + valueLength)
                {
                    ArrayPool<byte>.Shared.Return(buffer);
                    buffer = ArrayPool<byte>.Shared.Rent(keyLength + valueLength);
                }

                fixed (byte* copy = buffer)
                {
                    Unsafe.CopyBlockUnaligned(copy, entry.Key, (uint)keyLength);
                    uint valueSum = ValueChecksum.ComputeAndCopy(entry.Value, copy + keyLength, valueLength, Memory.ChecksumSeed);
                    isWhole = entry.Checksum == EntryView.ComputeChecksum(
                        entry.Word0, entry.Version, entry.Start, entry.FieldsBytes, valueSum, Memory.HashKey(copy, keyLength, collection),
                        Memory.ChecksumSeed);
                }
            }

            if (!HashIndex.Validate(located))
            {
                continue;
            }

            if (isWanted && !isWhole)
            {
                fixed (byte* copy = buffer)
                {
                    OnDamaged(partition, located, Place(copy, keyLength, collection));
                }
            }
            else if (isWanted)
            {
                sink.Add(buffer.AsSpan(0, keyLength), buffer.AsSpan(keyLength, valueLength));
            }

            return;
        }
    }
}
