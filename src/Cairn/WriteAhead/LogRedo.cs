using Cairn.Collections;
using Cairn.Indexing;
using Cairn.Steps;

namespace Cairn.WriteAhead;

// Performs a record again in one partition whose lock was taken over. The entries are already in place. Only slots and watermarks can be missing.
//
//   I1  The redo is idempotent. If a process dies during it, PendingRecord stays set for the next process.
//   I2  PendingRecord can name a position at which a record never came into existence, and another process can have written a record there. That
//       record is not about this partition, because its writer would have needed this partition's lock.
internal sealed unsafe class LogRedo(StoreMemory memory, StoreLog log)
{
    /// <summary>
    /// Performs the pending record, if there is one. A partition's recovery calls it after the queues are repaired and before the entries are counted.
    /// </summary>
    public void Run(PartitionBlock* partition, int number)
    {
        long position = partition->PendingRecord;
        if (position == 0)
        {
            return;
        }

        if (position < log.Tail)
        {
            memory.RefreshRegions(); // The record can belong to a collection that this process has not opened.
            Redo(partition, number, position);
            ProtocolHook.Reach(ProtocolStep.LogRedone);
        }

        partition->PendingRecord = 0;
    }

    private void Redo(PartitionBlock* partition, int number, long position)
    {
        try
        {
            if (log.TryRead(position, out byte[] bytes, out ulong salt) && LogRecord.TryRead(bytes, salt, position, out LogRecord record))
            {
                Apply(partition, number, record);
                return;
            }
        }
        catch (Exception failure) when (failure is StoreException or UnauthorizedAccessException)
        {
            // The failure is counted below. It is not thrown, because the calling thread has requested another operation.
        }

        partition->Corrupt++;
    }

    private void Apply(PartitionBlock* partition, int number, in LogRecord record)
    {
        switch (record.Kind)
        {
            case LogKind.Put:
                ApplyPut(partition, number, record);
                break;

            case LogKind.Remove:
                ApplyRemove(number, record);
                break;

            case LogKind.Clear:
                ApplyClear(partition, record);
                break;

            case LogKind.CollectionDefined when number == CollectionTable.LockingPartition:
                CollectionTable.Redefine(memory, record.Collection, record.Body);
                break;

            case LogKind.Transaction:
                foreach (LogRecord operation in record)
                {
                    Apply(partition, number, operation);
                }

                break;

            default:
                break;
        }
    }

    private void ApplyPut(PartitionBlock* partition, int number, in LogRecord record)
    {
        fixed (byte* body = record.Body)
        {
            var logged = new EntryView(body);
            if (record.Body.Length < EntryView.HeaderBytes || !logged.IsWithin(record.Body.Length))
            {
                partition->Corrupt++;
                return;
            }

            KeyPlacement place = memory.Place(memory.HashKey(logged.Key, logged.KeyLength, record.Collection));
            if (place.Partition != number)
            {
                return;
            }

            ulong slot = Bucket.Pack(place.Tag, logged.Version, LogPlace.OffsetOf(record.Place));
            if (!memory.TryView(slot, out EntryView entry) || entry.Version != logged.Version || entry.Collection != record.Collection
                || !entry.KeyEquals(logged.Key, logged.KeyLength))
            {
                partition->Corrupt++;
                return;
            }

            if (HashIndex.FindLocked(memory, place, logged.Key, logged.KeyLength, record.Collection, out Located old))
            {
                Bucket.Store(old.Bucket, old.SlotIndex, slot);
                return;
            }

            // The writer had found this slot empty. If it is in an overflow bucket, the writer had already raised HasOverflow.
            Bucket* bucket = LogPlace.BucketOf(memory, place, record.Place);
            int slotIndex = LogPlace.SlotOf(record.Place);
            if (slotIndex < Bucket.Slots && *Bucket.SlotAt(bucket, slotIndex) == 0)
            {
                Bucket.Store(bucket, slotIndex, slot);
                Bucket.Forget(bucket, slotIndex);
            }
            else
            {
                partition->Corrupt++;
            }
        }
    }

    private void ApplyRemove(int number, in LogRecord record)
    {
        fixed (byte* key = record.Body)
        {
            KeyPlacement place = memory.Place(memory.HashKey(key, record.Body.Length, record.Collection));
            if (place.Partition == number
                && HashIndex.FindLocked(memory, place, key, record.Body.Length, record.Collection, out Located old))
            {
                Bucket.Store(old.Bucket, old.SlotIndex, 0);
                Bucket.Forget(old.Bucket, old.SlotIndex);
            }
        }
    }

    private static void ApplyClear(PartitionBlock* partition, in LogRecord record)
    {
        bool isAll = record.Collection == LogRecord.AllCollections;
        for (uint collection = 0; collection < StoreLayout.MaxCollections; collection++)
        {
            if (isAll || collection == record.Collection)
            {
                ulong* pair = PartitionBlock.Watermark(partition, collection);
                Volatile.Write(ref pair[0], partition->Version);
                Volatile.Write(ref pair[1], ~partition->Version);
            }
        }
    }
}
