using Cairn.Collections;
using Cairn.Segments;

namespace Cairn.Eviction.SegmentedFifo;

// S3-FIFO (Yang, Zhang, Qiu, Yue and Vigfusson, "FIFO Queues are All You Need for Cache Eviction", SOSP 2023), with logs instead of queues of
// objects, and with two rules that adapt it to loops and to changes of the workload.
//
//   new key --> small log --used since--> main log --used since, repeatedly--> main log
//                  |                         |
//                  +--not used--> ghost      +--not used--> evicted
//                                   |
//   returning key <-----------------+ --> main log
//
// The victim is the oldest segment of the small log if this log has more than a twentieth of the segments; else the oldest of the main log. The rules:
//
//   A1  If the oldest segment of the main log is in use (MainProbe), the segment goes to the end of the queue as it is, and the small log has the
//       victim. Until a probe finds another answer, no returning key enters the main log. Otherwise the keys of a loop would displace each other there.
//   A2  One of 32 unused entries of the small log enters the main log, unless used and returning entries are that many already. In a loop over
//       more keys than the ghost table remembers, no key is used or returns. Without this rule, each key would be evicted just before it is
//       requested, and the main log would keep entries that are not used any more.
//
// The state of A1 and A2 is in the partition's block, so that all processes share it. It is a hint: any value is valid (EvictionPolicy P2).
internal sealed unsafe class SegmentedFifoPolicy(StoreMemory memory, SegmentPool pool, CollectionBudgets budgets)
    : EvictionPolicy(memory, pool)
{
    // One use each: measured hit ratios are in docs/benchmarks.md.
    private const int UsesToLeaveSmall = 1;
    private const int UsesToStayInMain = 1;

    // The small log has at most one of so many segments.
    private const int SmallShare = 20;

    // A2. The shortage is the number of unused entries since one last entered the main log, less 32 for each used or returning entry.
    private const int UnusedPerAdmission = 32;
    private const int LeastShortage = -8 * UnusedPerAdmission;

    private readonly GhostTable _ghosts = new(memory);
    private readonly MainProbe _probe = new(memory, budgets);

    public override bool BeginsInMain(PartitionBlock* partition, in KeyPlacement place)
    {
        if (!_ghosts.Remove(place, partition->Entries))
        {
            return false;
        }

        partition->GhostHits++;
        CountAdmission(partition);
        return partition->IsMainInUse == 0; // A1
    }

    public override int NextVictim(PartitionBlock* partition, ulong youngest)
    {
        bool isSmallNext = partition->SmallCount > Math.Max(1, partition->SegmentCount / SmallShare);
        if (!isSmallNext || partition->IsMainInUse != 0)
        {
            isSmallNext |= TryKeepOldestOfMain(partition, youngest);
        }

        int first = isSmallNext ? PartitionBlock.LogSmall : PartitionBlock.LogMain;
        int second = isSmallNext ? PartitionBlock.LogMain : PartitionBlock.LogSmall;
        int segment = OldestOf(partition, first, youngest);
        return segment != SegmentPool.None ? segment : OldestOf(partition, second, youngest);
    }

    public override bool IsUsed(PartitionBlock* partition, in EvictionCandidate candidate)
    {
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
        int frequency = isCleaning ? candidate.Frequency : candidate.IsMain ? Math.Max(0, candidate.Frequency - 1) : 0;
        return new Promotion(staysInSmall ? PartitionBlock.LogSmall : PartitionBlock.LogMain, frequency);
    }

    public override void OnEvicted(PartitionBlock* partition, in EvictionCandidate candidate)
    {
        if (!candidate.IsMain)
        {
            _ghosts.Add(candidate.Place, partition->Entries);
        }
    }

    // A1
    private bool TryKeepOldestOfMain(PartitionBlock* partition, ulong youngest)
    {
        int oldest = OldestOf(partition, PartitionBlock.LogMain, youngest);
        bool isInUse = oldest != SegmentPool.None && _probe.IsInUse(partition, oldest);
        partition->IsMainInUse = isInUse ? (byte)1 : (byte)0;
        if (isInUse)
        {
            Pool.Unlink(partition, oldest);
            Pool.Enqueue(partition, oldest);
        }

        return isInUse;
    }

    // A2
    private static bool AdmitsUnused(PartitionBlock* partition)
    {
        if (partition->IsMainInUse != 0)
        {
            return false;
        }

        int shortage = Math.Max((int)partition->AdmissionShortage, LeastShortage) + 1;
        bool admits = shortage >= UnusedPerAdmission;
        partition->AdmissionShortage = (short)(admits ? 0 : shortage);
        return admits;
    }

    private static void CountAdmission(PartitionBlock* partition) =>
        partition->AdmissionShortage =
            (short)Math.Clamp(partition->AdmissionShortage - UnusedPerAdmission, LeastShortage, UnusedPerAdmission);
}
