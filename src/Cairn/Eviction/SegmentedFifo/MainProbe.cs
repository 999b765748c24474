using Cairn.Collections;
using Cairn.Indexing;
using Cairn.Segments;

namespace Cairn.Eviction.SegmentedFifo;

// Finds out whether a segment of the main log is in use, from the use counters of some of its entries. A segment that is in use stays where it is in
// the file: only its place in the queue changes. To copy its entries would cost more, and would evict those that exceed I2 of SegmentEvictor.
//
// The probed entries are evenly spread, because neighbours were often written together and are used together. Their counters are halved. So a segment
// whose entries are not used any more fails one of its next two probes.
internal sealed unsafe class MainProbe(StoreMemory memory, CollectionBudgets budgets)
{
    private const int MostProbed = 64;
    private const int UsedPercent = 95;

    /// <summary>Returns whether nearly all probed entries were used since they were written or probed. If so, halves their use counters.</summary>
    public bool IsInUse(PartitionBlock* partition, int segment)
    {
        SegmentHeader* header = memory.Header(segment);
        if (header->RunLength != 1)
        {
            return false; // A large value that was used keeps its place anyway (SegmentEvictor.KeepRun).
        }

        EntryView* entries = stackalloc EntryView[MostProbed];
        KeyPlacement* places = stackalloc KeyPlacement[MostProbed];
        int count = Choose(segment, Math.Clamp(header->Tail, 0, memory.SegmentBytes), entries, places);

        Bucket** buckets = stackalloc Bucket*[MostProbed];
        int* slots = stackalloc int[MostProbed];
        int live = 0;
        int used = 0;
        for (int i = 0; i < count; i++)
        {
            if (places[i].Partition == header->Partition
                && HashIndex.FindByLocation(memory, places[i], memory.OffsetOf(entries[i].Start), out buckets[live], out slots[live], out _))
            {
                bool isUsed = Bucket.Frequency(buckets[live], slots[live]) > 0 && !budgets.IsOver(partition, entries[i].Collection);
                used += isUsed ? 1 : 0;
                live++;
            }
        }

        bool isInUse = live > 0 && used * 100 >= live * UsedPercent;
        for (int i = 0; isInUse && i < live; i++)
        {
            Bucket.SetFrequency(buckets[i], slots[i], Bucket.Frequency(buckets[i], slots[i]) / 2);
        }

        return isInUse;
    }

    // Chooses entries at equal distances in bytes. All of them are prefetched before the first is looked up.
    private int Choose(int segment, long end, EntryView* entries, KeyPlacement* places)
    {
        byte* start = memory.SegmentStart(segment);
        int count = 0;
        for (long cursor = 0; count < MostProbed && cursor + EntryView.HeaderBytes < end;)
        {
            var entry = new EntryView(start + cursor);
            if (!entry.IsWithin(end - cursor))
            {
                break;
            }

            if (entry.Type != EntryType.None && cursor >= end * count / MostProbed)
            {
                entries[count] = entry;
                places[count] = memory.Place(memory.HashKey(entry.Key, entry.KeyLength, entry.Collection));
                HashIndex.Prefetch(memory.BucketAt(places[count].Partition, places[count].Primary));
                count++;
            }

            cursor += entry.PaddedBytes;
        }

        return count;
    }
}
