using Cairn.Indexing;
using Cairn.Segments;

namespace Cairn.Engine;

/// <summary>Receives an entry of a scan. The key is valid during the call.</summary>
internal delegate void EntryVisitor(ReadOnlySpan<byte> key, in EntryInfo info, uint collection);

// Scans in bucket order. A live key never changes its slot (Bucket I1). So a scan visits every key that lives from the beginning to
// the end of the scan exactly once. A key that is added, removed or set again during the scan may or may not be visited.
internal sealed unsafe partial class StoreEngine
{
    public long BucketCount => (long)Memory.PartitionCount * Memory.Layout.BucketsPerPartition;

    /// <summary>Returns whether the partition of a bucket has entries. An entry of a process that died while it wrote may not be counted
    /// yet.</summary>
    /// <param name="bucket">The bucket.</param>
    /// <param name="end">The first bucket of the next partition.</param>
    public bool HasEntries(long bucket, out long end)
    {
        int partition = (int)(bucket / Memory.Layout.BucketsPerPartition);
        end = (partition + 1L) * Memory.Layout.BucketsPerPartition;
        return Volatile.Read(ref Memory.Partition(partition)->Entries) > 0; // A stale count only delays a new key's first visit.
    }

    /// <summary>Visits the live entries of one bucket. The key is a copy that is valid during the visit.</summary>
    public void VisitBucket(long number, EntryVisitor visitor)
    {
        int partitionNumber = (int)(number / Memory.Layout.BucketsPerPartition);
        int bucketNumber = (int)(number % Memory.Layout.BucketsPerPartition);
        PartitionBlock* partition = Memory.Partition(partitionNumber);
        Bucket* bucket = Memory.BucketAt(partitionNumber, bucketNumber);
        if (Bucket.UsedSlots(bucket) == 0)
        {
            return;
        }

        byte[] buffer = ArrayPool<byte>.Shared.Rent(256);
        try
        {
            for (int slotIndex = 0; slotIndex < Bucket.Slots; slotIndex++)
            {
                VisitSlot(partition, bucket, slotIndex, visitor, ref buffer);
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
            GC.KeepAlive(this);
        }
    }

    private void VisitSlot(PartitionBlock* partition, Bucket* bucket, int slotIndex, EntryVisitor visitor, ref byte[] buffer)
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
            bool isEntry = Memory.TryView(slot, out EntryView entry) && Bucket.StampMatches(slot, entry.Version)
                && entry.Type != EntryType.None && entry.Collection < StoreLayout.MaxCollections
                && entry.ValueLength <= (uint)Memory.MaxValueBytes;
            int keyLength = 0;
            EntryInfo info = default;
            uint collection = 0;
            bool isLive = false;
            if (isEntry)
            {
                keyLength = entry.KeyLength;
                if (buffer.Length < keyLength)
                {
                    ArrayPool<byte>.Shared.Return(buffer);
                    buffer = ArrayPool<byte>.Shared.Rent(keyLength);
                }

                new ReadOnlySpan<byte>(entry.Key, keyLength).CopyTo(buffer);
                collection = entry.Collection;
                long deadline = entry.Deadline;
                info = InfoOf(entry, deadline);
                isLive = entry.Type != EntryType.Lease
                    && !EntryAccounting.IsCleared(Memory, partition, entry.Version, collection)
                    && (deadline == long.MaxValue || !Clock.HasPassed(deadline));
            }

            if (!HashIndex.Validate(located))
            {
                continue;
            }

            if (isLive && !BelongsTo(buffer.AsSpan(0, keyLength), collection, partition, bucket, slot))
            {
                OnDamaged(partition, located, Memory.IsKeptSlot(slot));
                return;
            }

            if (isLive)
            {
                visitor(buffer.AsSpan(0, keyLength), info, collection);
            }

            return;
        }
    }

    // Does not check the value's checksum. But a damaged key would belong to another place.
    private bool BelongsTo(ReadOnlySpan<byte> key, uint collection, PartitionBlock* partition, Bucket* bucket, ulong slot)
    {
        fixed (byte* bytes = key)
        {
            KeyPlacement place = Memory.Place(Memory.HashKey(bytes, key.Length, collection));
            return place.Tag == Bucket.TagOf(slot) && Memory.Partition(place.Partition) == partition
                && (Memory.BucketAt(place.Partition, place.Primary) == bucket
                    || Memory.BucketAt(place.Partition, place.Alternate) == bucket
                    || (Memory.HasOverflow && (Memory.OverflowBucket(place, 0) == bucket || Memory.OverflowBucket(place, 1) == bucket)));
        }
    }
}
