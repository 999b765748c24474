using Cairn.Indexing;
using Cairn.Segments;

namespace Cairn.Eviction.SegmentedFifo;

// Finds out whether a partition would have more hits if it evicted the entries in the order of their last use (rule A4 of SegmentedFifoPolicy). That order
// keeps each entry until all segments were written once, whether the entry was used or not. It would gain and lose these requests:
//
//   gains   a key returns that left the small log lately                          YoungOfSmall
//           while that order rules: an entry of the small log is used first after it has left the youngest twentieth of the segments
//   losses  an entry of the main log is used although more than seven tenths of the segments were sealed after its own
//           while that order rules: a key returns that left the main log         OfMain
//
// The uses of both logs are differences between two samples of the same segment: when it reaches the age, and when it becomes the victim. A sample is eight
// entries, because its cost must not be noticed in the time of a set. The balance is in 256ths of an entry. Each of the counts grows with
// the number of entries, and so do the limits.
internal sealed unsafe class RecencyBalance(StoreMemory memory, SegmentPool pool)
{
    private const int Unit = 256;
    private const int MostSampled = 8;
    private const int MostUsesCounted = 2;
    private const int MostLookedAt = 1024;
    private const int MostSampledSegments = 2;

    // While the order of the last use rules, keys that stay popular look as if it were right. So after so many segments, times the number of segments,
    // the other rules are tried again, and the order needs three times the evidence.
    private const int LapsOfRecency = 16;

    /// <summary>One key of four that leaves the main log is remembered, and counts as four.</summary>
    public const int KeysForOneOfMain = 4;

    /// <summary>Counts a key that returned.</summary>
    public static void OnReturn(PartitionBlock* partition, GhostHit hit)
    {
        if (hit == GhostHit.YoungOfSmall)
        {
            Add(partition, Unit);
        }
        else if (hit == GhostHit.OfMain)
        {
            Add(partition, -KeysForOneOfMain * Unit);
        }
    }

    /// <summary>Returns whether the return of a key that leaves the main log now is to be counted.</summary>
    public bool Remembers(PartitionBlock* partition, in EvictionCandidate candidate)
    {
        // Without the order of the last use, a segment of the main log becomes the victim later, and that order would have lost its entries as well.
        SegmentHeader* header = memory.Header(memory.SegmentAt(candidate.Entry.Start));
        return Age(partition, header) * 20 <= partition->SegmentCount * 21L && (candidate.Place.Hash * 0x9E37_79B9_7F4A_7C15) >> 62 == 0;
    }

    /// <summary>Samples the segments that have reached the ages, and decides which order rules. Called before a victim is chosen.</summary>
    public void Update(PartitionBlock* partition)
    {
        SampleSmall(partition);
        SampleMain(partition);

        long entries = Math.Clamp(partition->Entries, 0, int.MaxValue / Unit) * Unit;
        bool isRecency = partition->FollowsRecency != 0;
        if (!isRecency && partition->UsedOfMain == 0)
        {
            // No entry has left the main log yet, so no loss can have been found.
            partition->RecencyBalance = 0;
        }

        if (partition->Entries * 3 < partition->SegmentCount * 2L)
        {
            // Most room has values longer than a segment. So few entries do not tell the orders apart.
            partition->RecencyBalance = 0;
            partition->FollowsRecency = 0;
            return;
        }

        long balance = Math.Clamp(partition->RecencyBalance, -entries * 3 / 10, entries * 3 / 10);
        bool isTrialDue = isRecency && partition->SealSequence % (ulong)Math.Max(1, partition->SegmentCount * (long)LapsOfRecency) < 2;
        bool isOver = isTrialDue || (isRecency ? balance < -entries / 20 : balance > entries / 20);
        partition->RecencyBalance = (int)(isTrialDue ? -entries / 10 : isOver ? 0 : balance);
        partition->FollowsRecency = isRecency != isOver ? (byte)1 : (byte)0;
    }

    /// <summary>Counts the uses since the last sample. Called when a segment becomes the victim or goes to the end of its queue.</summary>
    public void Finish(PartitionBlock* partition, int segment)
    {
        if (memory.Header(segment)->SampledUses != 0)
        {
            Sample(partition, segment);
        }
    }

    /// <summary>Returns whether the main log clearly deserves its room.</summary>
    public static bool PrefersMain(PartitionBlock* partition) => partition->RecencyBalance < -Math.Min(partition->Entries, int.MaxValue / Unit) * Unit / 10;

    // While the small log is short, its entries cannot be used late.
    private void SampleSmall(PartitionBlock* partition)
    {
        int youngest = Math.Max(1, partition->SegmentCount / 20);
        if (partition->SmallCount <= 2 * youngest)
        {
            return;
        }

        int segment = partition->SmallTail - 1;
        for (int i = 1; i < youngest && i < MostLookedAt && pool.IsSegment(segment); i++)
        {
            segment = memory.Header(segment)->Previous - 1;
        }

        if (pool.IsSegment(segment) && memory.Header(segment)->SampledUses == 0)
        {
            Sample(partition, segment);
        }
    }

    private void SampleMain(PartitionBlock* partition)
    {
        int segment = partition->MainHead - 1;
        int sampled = 0;
        for (int i = 0; i < MostLookedAt && sampled < MostSampledSegments && pool.IsSegment(segment); i++)
        {
            SegmentHeader* header = memory.Header(segment);
            if (Age(partition, header) * 10 <= partition->SegmentCount * 7L)
            {
                break;
            }

            if (header->SampledUses == 0)
            {
                Sample(partition, segment);
                sampled++;
            }

            segment = header->Next - 1;
        }
    }

    private void Sample(PartitionBlock* partition, int segment)
    {
        SegmentHeader* header = memory.Header(segment);
        bool isMain = header->Log == PartitionBlock.LogMain;
        bool isRun = header->RunLength > 1;
        long end = isRun ? (long)memory.RunLengthOf(segment) * memory.SegmentBytes : Math.Clamp(header->Tail, 0, memory.SegmentBytes);
        int uses = AverageUses(segment, end, isMain ? MostUsesCounted : 1);
        if (header->SampledUses != 0)
        {
            long entriesOfSegment = isRun ? 1 : partition->Entries / Math.Max(1, partition->SegmentCount);
            long more = Math.Max(0, uses - (header->SampledUses - 1)) * Math.Clamp(entriesOfSegment, 0, int.MaxValue / Unit);
            Add(partition, isMain ? -more : more);
        }

        header->SampledUses = (ushort)(uses + 1);
    }

    // The average use counter of the live ones of the first entries, times Unit.
    private int AverageUses(int segment, long end, int mostUses)
    {
        byte* start = memory.SegmentStart(segment);
        int live = 0;
        int uses = 0;
        int count = 0;
        for (long cursor = 0; count < MostSampled && cursor + EntryView.HeaderBytes < end;)
        {
            var entry = new EntryView(start + cursor);
            if (!entry.IsWithin(end - cursor))
            {
                break;
            }

            cursor += entry.PaddedBytes;
            count++;
            if (entry.Type == EntryType.None)
            {
                continue;
            }

            KeyPlacement place = memory.Place(memory.HashKey(entry.Key, entry.KeyLength, entry.Collection));
            if (HashIndex.FindByLocation(memory, place, memory.OffsetOf(entry.Start), out Bucket* bucket, out int slot, out _))
            {
                live++;
                uses += Math.Min(Bucket.Frequency(bucket, slot), mostUses);
            }
        }

        return live == 0 ? 0 : uses * Unit / live;
    }

    private static long Age(PartitionBlock* partition, SegmentHeader* header) => (long)(partition->SealSequence - header->SealOrder);

    private static void Add(PartitionBlock* partition, long change) =>
        partition->RecencyBalance = (int)Math.Clamp(partition->RecencyBalance + change, int.MinValue / 2, int.MaxValue / 2);
}
