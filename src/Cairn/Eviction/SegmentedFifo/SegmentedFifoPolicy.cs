using Cairn.Segments;
using Cairn.Storage;

namespace Cairn.Eviction.SegmentedFifo;

// S3-FIFO (Yang, Zhang, Qiu, Yue and Vigfusson, "FIFO Queues are All You Need for Cache Eviction", SOSP 2023), with logs instead of queues of
// objects.
//
//   new key --> small log --used since--> main log --used since, repeatedly--> main log
//                  |                         |
//                  +--not used--> ghost      +--not used--> evicted
//                                   |
//   returning key <-----------------+ --> main log
//
// The victim is the oldest segment of the small log if this log has more than a tenth of the segments; else the oldest of the main log.
internal sealed unsafe class SegmentedFifoPolicy(StoreMemory memory, SegmentPool pool) : EvictionPolicy(memory, pool)
{
    // Two, because an entry that is used once soon after its write is often not used again. (For traces of large, popular objects one would be
    // better: measured hit ratios are in docs/benchmarks.md.)
    private const int UsesToLeaveSmall = 2;
    private const int UsesToStayInMain = 1;

    // The small log has at most one of so many segments.
    private const int SmallShare = 10;

    private readonly GhostTable _ghosts = new(memory);

    public override bool BeginsInMain(PartitionBlock* partition, in KeyPlacement place)
    {
        if (!_ghosts.Remove(place))
        {
            return false;
        }

        partition->GhostHits++;
        return true;
    }

    public override int NextVictim(PartitionBlock* partition, ulong youngest)
    {
        bool isSmallFull = partition->SmallCount > Math.Max(1, partition->SegmentCount / SmallShare);
        int first = isSmallFull ? PartitionBlock.LogSmall : PartitionBlock.LogMain;
        int second = isSmallFull ? PartitionBlock.LogMain : PartitionBlock.LogSmall;
        int segment = OldestOf(partition, first, youngest);
        return segment != SegmentPool.None ? segment : OldestOf(partition, second, youngest);
    }

    public override bool IsUsed(PartitionBlock* partition, in EvictionCandidate candidate) =>
        candidate.IsMain
            ? candidate.Frequency >= UsesToStayInMain
            : candidate.Frequency >= UsesToLeaveSmall
                || candidate.Entry.Type == EntryType.Lease; // It counts as used, because callers may wait for the lease.

    public override Promotion Promote(in EvictionCandidate candidate, bool isCleaning)
    {
        bool isUnusedSmall = !candidate.IsMain && candidate.Frequency == 0;
        int frequency = isCleaning ? candidate.Frequency : candidate.IsMain ? Math.Max(0, candidate.Frequency - 1) : 0;
        return new Promotion(isUnusedSmall ? PartitionBlock.LogSmall : PartitionBlock.LogMain, frequency);
    }

    public override void OnEvicted(PartitionBlock* partition, in EvictionCandidate candidate)
    {
        if (!candidate.IsMain)
        {
            _ghosts.Add(candidate.Place);
        }
    }
}
