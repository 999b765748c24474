using Cairn.Collections;
using Cairn.Segments;

namespace Cairn.Eviction.SegmentedFifo;

// S3-FIFO (Yang, Zhang, Qiu, Yue and Vigfusson, "FIFO Queues are All You Need for Cache Eviction", SOSP 2023), with logs instead of queues of
// objects, and with four rules that adapt it to loops, to changes of the workload and to keys that are used soon or never again.
//
//   new key --> small log --used since--> main log --used since, repeatedly--> main log
//                  |                         |
//                  +--not used--> ghost      +--not used--> evicted
//                                   |
//   returning key <-----------------+ --> main log
//
// The victim is the oldest segment of the small log if this log has more than its share of the segments; else the oldest of the main log. The rules:
//
//   A1  If the oldest segment of the main log is in use (MainProbe), the segment goes to the end of the queue as it is, and the small log has the
//       victim. Until a probe finds another answer, no returning key enters the main log. Otherwise the keys of a loop would displace each other there.
//   A2  One of 32 unused entries of the small log enters the main log, unless used and returning entries are that many already. In a loop over
//       more keys than the ghost table remembers, no key is used or returns. Without this rule, each key would be evicted just before it is
//       requested, and the main log would keep entries that are not used any more. One of 8 enters while the main log is short, and one of 256 if A4 finds
//       that the main log clearly deserves its room.
//   A3  The small log has a twentieth of the segments. Its share grows while few entries of the main log are used, compared with those of the small log.
//       Then a key is used soon after it was written or not at all, so the store should remember the last keys, whether they were used or not.
//   A4  The share also grows while the order of the last use would have more hits (RecencyBalance). If entries of the main log are used, the older of the
//       oldest segments of both logs is the victim then, and a used entry survives once. Together the logs are a CLOCK.
//
// The state of the rules is in the partition's block, so that all processes share it. It is a hint: any value is valid (EvictionPolicy P2).
internal sealed unsafe class SegmentedFifoPolicy(StoreMemory memory, SegmentPool pool, CollectionBudgets budgets)
    : EvictionPolicy(memory, pool)
{
    // One use each: measured hit ratios are in docs/benchmarks.md.
    private const int UsesToLeaveSmall = 1;
    private const int UsesToStayInMain = 1;

    // A3 and A4, in percent of the segments, and the step for each victim.
    private const int LeastSmallPercent = 5;
    private const int MostGrowthPercent = 85;
    private const int GrowthStep = 10;

    // The share of the small log when a value longer than a segment needs room. Used entries and runs go to the end of the main log meanwhile, and an age
    // counts their segments too.
    private const int SmallPercentOfAges = 20;

    // A4. With fewer used entries, the main log is only a place to forget them.
    private const int LeastUsedOfMain = One / 10;

    // A3. Shares of used entries are moving averages over some hundred entries, as fractions of One.
    private const int One = 1 << 16;
    private const int AveragedEntriesShift = 7;
    private const int HalfOfOne = One / 2;
    private const int UsedOfSmallByMain = 4;
    private const int LeastUsedOfSmall = One / 20;

    // A2. The shortage is the number of unused entries since one last entered the main log, less 32 for each used or returning entry.
    private const int UnusedPerAdmission = 32;
    private const int UnusedPerAdmissionToShortMain = 8;
    private const int UnusedPerAdmissionToPreferredMain = 256;
    private const int MostShortage = UnusedPerAdmissionToPreferredMain;
    private const int LeastShortage = -8 * UnusedPerAdmission;

    private readonly GhostTable _ghosts = new(memory);
    private readonly MainProbe _probe = new(memory, budgets);
    private readonly RecencyBalance _recency = new(memory, pool);

    public override bool BeginsInMain(PartitionBlock* partition, in KeyPlacement place)
    {
        GhostHit hit = _ghosts.Remove(place, partition->Entries);
        RecencyBalance.OnReturn(partition, hit);
        if (hit is GhostHit.None or GhostHit.OfMain)
        {
            return false;
        }

        partition->GhostHits++;
        CountAdmission(partition);
        return partition->IsMainInUse == 0; // A1
    }

    public override int NextVictim(PartitionBlock* partition, ulong youngest)
    {
        _recency.Update(partition);
        int smallPercent = LeastSmallPercent + AdaptSmallGrowth(partition);
        bool isSmallNext = partition->SmallCount > Math.Max(1, partition->SegmentCount * (long)smallPercent / 100)
            || (partition->UsedOfMain + HalfOfOne >= LeastUsedOfMain && IsSmallOlder(partition, youngest)); // A4
        if (!isSmallNext || partition->IsMainInUse != 0)
        {
            isSmallNext |= TryKeepOldestOfMain(partition, youngest);
        }

        int first = isSmallNext ? PartitionBlock.LogSmall : PartitionBlock.LogMain;
        int second = isSmallNext ? PartitionBlock.LogMain : PartitionBlock.LogSmall;
        int segment = OldestOf(partition, first, youngest);
        segment = segment != SegmentPool.None ? segment : OldestOf(partition, second, youngest);
        if (segment != SegmentPool.None)
        {
            _recency.Finish(partition, segment);
        }

        return segment;
    }

    public override bool IsUsed(PartitionBlock* partition, in EvictionCandidate candidate)
    {
        CountUse(partition, candidate.IsMain, candidate.Frequency > 0 ? One : 0, AveragedEntriesShift);
        if (candidate.IsMain)
        {
            return candidate.Frequency >= UsesToStayInMain;
        }

        if (candidate.Entry.Type == EntryType.Lease)
        {
            return true; // It counts as used, because callers may wait for the lease.
        }

        if (candidate.Frequency >= UsesToLeaveSmall)
        {
            CountAdmission(partition);
            return true;
        }

        return AdmitsUnused(partition);
    }

    public override Promotion Promote(in EvictionCandidate candidate, bool isCleaning)
    {
        bool staysInSmall = !candidate.IsMain && candidate.Frequency == 0 && (isCleaning || candidate.Entry.Type == EntryType.Lease);
        bool keepsUses = candidate.IsMain && Memory.Partition(candidate.Place.Partition)->SmallGrowth < MostGrowthPercent / 2; // A4
        int frequency = isCleaning ? candidate.Frequency : keepsUses ? Math.Max(0, candidate.Frequency - 1) : 0;
        return new Promotion(staysInSmall ? PartitionBlock.LogSmall : PartitionBlock.LogMain, frequency);
    }

    public override void OnEvicted(PartitionBlock* partition, in EvictionCandidate candidate)
    {
        if (!candidate.IsMain || _recency.Remembers(partition, candidate))
        {
            _ghosts.Add(candidate.Place, partition->Entries, candidate.IsMain);
        }
    }

    public override OldestAges FindOldest()
    {
        long ofSmall = 1;
        long ofMain = 1;
        for (int i = 0; i < Memory.PartitionCount; i++)
        {
            PartitionBlock* partition = Memory.Partition(i);
            ofSmall = Math.Max(ofSmall, AgeOf(partition, partition->SmallHead - 1));
            ofMain = Math.Max(ofMain, AgeOf(partition, partition->MainHead - 1));
        }

        return new OldestAges(Math.Max(ofSmall, ofMain), ofMain);
    }

    // Ages are compared across partitions, because keys are spread evenly. With the order of each partition's own segments instead, all partitions would
    // lose equally many, large or small, and their sizes would drift apart.
    public override double WorthOf(SegmentHeader* header, OldestAges oldest)
    {
        PartitionBlock* partition = Memory.Partition(header->Partition % Memory.PartitionCount);
        long age = Math.Max(0, (long)(partition->SealSequence - header->SealOrder));
        double share = Memory.SegmentCount * (SmallPercentOfAges + partition->SmallGrowth) / (100.0 * Memory.PartitionCount);
        double ripeness = age / (partition->FollowsRecency != 0 ? oldest.Any : header->Log == PartitionBlock.LogMain ? oldest.OfMain : Math.Max(1, share));

        // Steep, so that a range of old segments costs less than one of very old and young ones.
        double left = 1 - (Math.Min(2, ripeness) / 2);
        left *= left;
        left *= left;
        return left * left;
    }

    public override void OnYield(PartitionBlock* partition, int segment)
    {
        _recency.Update(partition);
        AdaptSmallGrowth(partition);
        _recency.Finish(partition, segment);
    }

    private long AgeOf(PartitionBlock* partition, int segment) =>
        Pool.IsSegment(segment) ? (long)(partition->SealSequence - Memory.Header(segment)->SealOrder) : 0;

    // A1
    private bool TryKeepOldestOfMain(PartitionBlock* partition, ulong youngest)
    {
        int oldest = OldestOf(partition, PartitionBlock.LogMain, youngest);
        if (oldest != SegmentPool.None)
        {
            _recency.Finish(partition, oldest); // Before the probe halves the counters.
        }

        bool isInUse = oldest != SegmentPool.None && _probe.IsInUse(partition, oldest);
        partition->IsMainInUse = isInUse ? (byte)1 : (byte)0;
        if (isInUse)
        {
            Pool.Unlink(partition, oldest);
            Pool.Enqueue(partition, oldest);
            Memory.Header(oldest)->SampledUses = 0;
            CountUse(partition, isMain: true, One, shift: 2);
        }

        return isInUse;
    }

    // A4
    private bool IsSmallOlder(PartitionBlock* partition, ulong youngest)
    {
        int small = OldestOf(partition, PartitionBlock.LogSmall, youngest);
        int main = OldestOf(partition, PartitionBlock.LogMain, youngest);
        return small != SegmentPool.None && main != SegmentPool.None && Memory.Header(small)->SealOrder < Memory.Header(main)->SealOrder;
    }

    // A3 and A4. Returns the percentage by which the share of the small log has grown.
    private static int AdaptSmallGrowth(PartitionBlock* partition)
    {
        int ofSmall = partition->UsedOfSmall;
        int ofMain = partition->UsedOfMain + HalfOfOne;
        bool grows = partition->FollowsRecency != 0 || (ofSmall >= LeastUsedOfSmall && ofMain * UsedOfSmallByMain < ofSmall);
        int growth = Math.Clamp(partition->SmallGrowth + (grows ? GrowthStep : -GrowthStep), 0, MostGrowthPercent);
        partition->SmallGrowth = (byte)growth;
        return growth;
    }

    // A3. Moves the average share of used entries of a log towards that of some further entries.
    private static void CountUse(PartitionBlock* partition, bool isMain, int used, int shift)
    {
        int average = isMain ? partition->UsedOfMain + HalfOfOne : partition->UsedOfSmall;
        average = Math.Min(One - 1, average + ((used - average) >> shift));
        if (isMain)
        {
            partition->UsedOfMain = (short)(average - HalfOfOne);
        }
        else
        {
            partition->UsedOfSmall = (ushort)average;
        }
    }

    // A2
    private static bool AdmitsUnused(PartitionBlock* partition)
    {
        if (partition->IsMainInUse != 0)
        {
            return false;
        }

        int shortage = Math.Max((int)partition->AdmissionShortage, LeastShortage) + 1;
        int unused = RecencyBalance.PrefersMain(partition) ? UnusedPerAdmissionToPreferredMain
            : partition->MainCount < partition->SegmentCount * 4L / 5 ? UnusedPerAdmissionToShortMain : UnusedPerAdmission;
        bool admits = shortage >= unused;
        partition->AdmissionShortage = (short)(admits ? 0 : shortage);
        return admits;
    }

    private static void CountAdmission(PartitionBlock* partition) =>
        partition->AdmissionShortage =
            (short)Math.Clamp(partition->AdmissionShortage - UnusedPerAdmission, LeastShortage, MostShortage);
}
