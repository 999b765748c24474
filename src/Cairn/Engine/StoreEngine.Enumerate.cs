using System.Buffers;
using System.Numerics;
using System.Runtime.CompilerServices;
using Cairn.Eviction;
using Cairn.Indexing;
using Cairn.Maps;
using Cairn.Storage;

namespace Cairn.Engine;

// Copying all entries of a collection, in bucket order as a scan does (StoreEngine.Scan), and by the same protocol as a read: what
// was copied counts once the slot and the bucket's version are seen unchanged after it.
internal sealed unsafe partial class StoreEngine
{
    // The entries of so many buckets are on their way from memory while those of one are read: about thirty cache lines, which is what a
    // processor core asks for at a time.
    private const int BucketsAhead = 5;

    /// <summary>Entries of a collection that are not cleared, also those that have expired and were not yet cleaned away.</summary>
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

    /// <summary>Changes whenever a write happens in the partition of a bucket.</summary>
    public ulong VersionAt(long bucket)
    {
        ulong version = Volatile.Read(ref Memory.Partition((int)(bucket / Memory.Layout.BucketsPerPartition))->Version);
        GC.KeepAlive(this);
        return version;
    }

    /// <summary>Copies the live entries of a collection from a range of buckets, which ends within one partition.</summary>
    /// <exception cref="StoreCorruptException">An entry that is kept is damaged.</exception>
    /// <param name="first">The first bucket.</param>
    /// <param name="end">Behind the last one.</param>
    /// <param name="collection">The collection.</param>
    /// <param name="buffer">For entries to be copied into; replaced by a longer one of the pool where needed.</param>
    /// <param name="sink">Takes the entries as bytes.</param>
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

    /// <summary>As CopyEntries, for keys and values of fixed formats: those without expiration go straight from the file to the sink.</summary>
    /// <exception cref="StoreCorruptException">An entry that is kept is damaged.</exception>
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
        UInt128 key;
        UInt128 value;
        for (; bucket < last; bucket++)
        {
            for (; ahead < last && ahead - bucket < BucketsAhead; ahead++)
            {
                PrefetchEntries(ahead);
            }

            // Acquire, as in HashIndex.Find.
            uint bucketVersion = Volatile.Read(ref bucket->Version);
            for (uint used = Bucket.MatchUsed(bucket); used != 0; used &= used - 1)
            {
                int slotIndex = BitOperations.TrailingZeroCount(used);
                ulong slot = Volatile.Read(ref *Bucket.SlotAt(bucket, slotIndex));
                byte* entry = memory.TryLocate(slot, out long available);
                if (entry is not null
                    && TryCopyFixed<TKey, TValue>(entry, available, slot, shape, watermark, keySeed, checksumSeed, (byte*)&key, (byte*)&value))
                {
                    Volatile.ReadBarrier(); // As in HashIndex.Validate.
                    if (*Bucket.SlotAt(bucket, slotIndex) == slot && bucket->Version == bucketVersion)
                    {
                        sink.Add(FixedFormat.Read<TKey>((byte*)&key), FixedFormat.Read<TValue>((byte*)&value));
                        continue;
                    }
                }

                CopySlot<TKey, TValue, TSink>(partition, bucket, slotIndex, shape.Collection, ref buffer, ref sink);
                bucketVersion = Volatile.Read(ref bucket->Version);
            }
        }

        GC.KeepAlive(this);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void PrefetchEntries(Bucket* bucket)
    {
        for (int slotIndex = 0; slotIndex < Bucket.Slots; slotIndex++)
        {
            // A hint: an empty slot leads to the superblock, and an address outside the mapping is not followed by the processor.
            HashIndex.Prefetch(Memory.Base + Bucket.LocationOf(*Bucket.SlotAt(bucket, slotIndex)));
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool TryCopyFixed<TKey, TValue>(
        byte* entry, long available, ulong slot, in CollectionShape shape, ulong watermark, ulong keySeed, ulong checksumSeed, byte* key, byte* value)
    {
        int keyOffset = EntryView.HeaderBytes + shape.FieldsBytes;
        int keyLength = FixedFormat.SizeOf<TKey>();
        int valueLength = FixedFormat.SizeOf<TValue>();
        ulong word0 = *(ulong*)entry;
        ulong version = *(ulong*)(entry + 8);
        if (word0 != (PlainWord(keyLength, shape) | ((ulong)(uint)valueLength << 32))
            || keyOffset + keyLength + valueLength > available
            || !Bucket.StampMatches(slot, version)
            || version <= watermark
            || !shape.HasFields(entry))
        {
            return false;
        }

        ShortBytes.Copy(entry + keyOffset, key, keyLength);
        uint valueSum = ValueChecksum.ComputeAndCopyFixed(entry + keyOffset + keyLength, value, valueLength, checksumSeed);
        return shape.Checksum(word0, version, valueSum, KeyHash.Compute(key, keyLength, keySeed)) == *(uint*)(entry + 16);
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
