using Cairn.Indexing;
using Cairn.Storage;

namespace Cairn.Eviction;

// What a partition and its segments say about the entries that slots name. Every publication is entered here and every
// retraction taken out, under the partition's lock.
//
//   I1  A segment's LiveBytes is the padded size of the entries in it that slots name. An operation that removes an entry
//       without the lock leaves it too high; the evictor notices and looks for slots it did not find.
//   I2  Entries and bytes of a partition and a collection do not count what a watermark has cleared.
internal static unsafe class EntryLedger
{
    public static void Enter(StoreMemory memory, PartitionBlock* partition, byte* entry, long paddedBytes, uint collection)
    {
        memory.Header(memory.SegmentAt(entry))->LiveBytes += (int)paddedBytes;
        partition->Entries++;
        partition->LiveBytes += paddedBytes;
        if (collection != 0)
        {
            long* counters = PartitionBlock.CollectionCounters(partition, collection);
            counters[0]++;
            counters[1] += paddedBytes;
        }
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

        partition->Entries--;
        partition->LiveBytes -= paddedBytes;
        if (collection is > 0 and < StoreLayout.MaxCollections)
        {
            long* counters = PartitionBlock.CollectionCounters(partition, collection);
            counters[0]--;
            counters[1] -= paddedBytes;
        }
    }

    /// <summary>True if a clearing of the collection covers the version.</summary>
    public static bool IsCleared(StoreMemory memory, PartitionBlock* partition, ulong version, uint collection) =>
        collection >= StoreLayout.MaxCollections || version <= memory.WatermarkOf(partition, collection);
}
