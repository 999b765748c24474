using Cairn.Collections;
using Cairn.Indexing;
using Cairn.Steps;
using Cairn.Storage;

namespace Cairn.WriteAhead;

// Does again what a record says, in the one partition whose lock was stolen. The entries are in place already: what may be missing are
// slots and watermarks.
//
//   I1  Idempotent: whoever dies in it leaves PendingRecord to the next.
//   I2  A record that somebody else wrote at the place of one that never came to exist says nothing of this partition: its writer
//       would have had to hold it.
internal sealed unsafe class LogRedo(StoreMemory memory, StoreLog log)
{
    /// <summary>Called by a partition's recovery, once its queues are whole and before its entries are counted.</summary>
    public void Run(PartitionBlock* partition, int number)
    {
        long position = partition->PendingRecord;
        if (position == 0)
        {
            return;
        }

        if (position < log.Tail)
        {
            memory.RefreshRegions(); // It may be of a collection that this process has not opened.
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
            // Counted below. There is nobody to tell: this thread came for something else.
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

            // The writer had found it empty, and told readers of overflow buckets if it is in one.
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
