using System.Runtime.CompilerServices;
using Cairn.Storage;

namespace Cairn.Segments;

// What a partition and its segments say about the entries that slots name. Every publication is entered here and every
// retraction taken out, under the partition's lock.
//
//   I1  A segment's LiveBytes is the padded size of the entries in it that slots name. An operation that removes an entry
//       without the lock leaves it too high; the evictor notices and looks for slots it did not find.
//   I2  Entries and bytes of a partition and a collection do not count what a watermark has cleared.
//   I3  What is entered for an entry is what is taken out: of a sliding entry nothing that a use changes.
internal static unsafe class EntryLedger
{
    public static void Enter(StoreMemory memory, PartitionBlock* partition, byte* entry, long paddedBytes, uint collection)
    {
        memory.Header(memory.SegmentAt(entry))->LiveBytes += (int)paddedBytes;
        Count(partition, new EntryView(entry), paddedBytes, collection, sign: 1);
    }

    public static void TakeOut(StoreMemory memory, PartitionBlock* partition, in EntryView entry)
    {
        long paddedBytes = entry.PaddedBytes;
        memory.Header(memory.SegmentAt(entry.Start))->LiveBytes -= (int)paddedBytes;
        uint collection = entry.Collection;
        if (IsCleared(memory, partition, entry.Version, collection))
        {
            return;
        }

        Count(partition, entry, paddedBytes, collection, sign: -1);
    }

    /// <summary>Enters an entry that is not cleared into the books of its partition and collection, or takes it out of them.</summary>
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

    /// <summary>True if a clearing of the collection covers the version.</summary>
    public static bool IsCleared(StoreMemory memory, PartitionBlock* partition, ulong version, uint collection) =>
        collection >= StoreLayout.MaxCollections || version <= memory.WatermarkOf(partition, collection);
}
