namespace Cairn.Segments;

// The counts that a partition and its segments have of the entries that slots name. Every publication is added and every retraction
// is subtracted, under the partition's lock.
//
//   I1  A segment's LiveBytes is the padded size of those of its entries that slots name. After an operation that removes an entry
//       without the lock, it is too high. The evictor then detects this and searches for slots that it did not find.
//   I2  The entries and bytes of a partition and of a collection do not include those that a watermark has cleared.
//   I3  The amount added for an entry equals the amount subtracted for it. So a field of a sliding entry that a use changes is never
//       counted.
internal static unsafe class EntryAccounting
{
    public static void Enter(StoreMemory memory, PartitionBlock* partition, byte* entry, long paddedBytes, uint collection)
    {
        memory.Header(memory.SegmentAt(entry))->LiveBytes += (int)paddedBytes;
        Count(partition, new EntryView(entry), paddedBytes, collection, sign: 1);
    }

    public static void TakeOut(StoreMemory memory, PartitionBlock* partition, in EntryView entry)
    {
        long paddedBytes = entry.PaddedBytes;
        int segment = memory.SegmentAt(entry.Start);
        SegmentHeader* header = memory.Header(segment);
        header->LiveBytes -= (int)paddedBytes;

        // Not in the kept region: after a loss of power, a slot of the file can name a kept entry that was marked later. Not in the victim, which the
        // evictor has passed or is passing.
        if (header->Log != PartitionBlock.LogKeep && partition->Victim != segment + 1)
        {
            EntryView.MarkGarbage(entry.Start);
        }

        uint collection = entry.Collection;
        if (IsCleared(memory, partition, entry.Version, collection))
        {
            return;
        }

        Count(partition, entry, paddedBytes, collection, sign: -1);
    }

    /// <summary>Adds an entry that is not cleared to the counts of its partition and collection, or subtracts it from them.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Count(PartitionBlock* partition, in EntryView entry, long paddedBytes, uint collection, int sign)
    {
        partition->Entries += sign;
        partition->LiveBytes += sign * paddedBytes;
        if (collection != 0)
        {
            long* counters = PartitionBlock.CollectionCounters(partition, collection);
            counters[0] += sign;
            counters[1] += sign * paddedBytes;
        }
        else if (entry.HasDeadline)
        {
            CountDeadline(partition, entry, sign);
        }
    }

    private static void CountDeadline(PartitionBlock* partition, in EntryView entry, int sign)
    {
        if ((entry.Fields & EntryFields.Deadline) == 0)
        {
            partition->OwnSliding += sign;
            return;
        }

        long* counters = PartitionBlock.CollectionCounters(partition, 0);
        counters[0] += sign;
        counters[1] += sign * entry.AbsoluteDeadline;
    }

    /// <summary>Returns whether a clearing of the collection covers the version.</summary>
    public static bool IsCleared(StoreMemory memory, PartitionBlock* partition, ulong version, uint collection) =>
        collection >= StoreLayout.MaxCollections || version <= memory.WatermarkOf(partition, collection);
}
