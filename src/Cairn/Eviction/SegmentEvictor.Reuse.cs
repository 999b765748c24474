using Cairn.Segments;

namespace Cairn.Eviction;

// Reuse before new room: while there are free segments, or the file can grow, a partition first reuses segments that are mostly garbage. So a store whose
// entries are overwritten uses less of its file, and a store that can grow grows less.
//
//   U1  No live entry is lost: cleaning begins only if as many spares exist as in an eviction, and the survivors of the segment fit into them.
//   U2  A cleaning ends before the next one begins. Puts do its work in batches, as in an eviction; the put that opens the next segment does the rest.
//
// In a store that can grow, a segment is mostly garbage if less than half of it is live, as in an eviction. In a store of a fixed size, copying must gain
// more, because an unused segment costs only memory: less than an eighth.
internal sealed unsafe partial class SegmentEvictor
{
    /// <summary>Gets or sets whether segments are reused before new room is taken. A new file that is filled once has no garbage, only segments that were sealed early.</summary>
    public bool Reuses { get; set; } = true;

    private bool HasUnusedRoom => Superblock.FreeSegments(_memory.Super) > 0 || _growth.MayGrow;

    private int MostLiveToReuse => _growth.MayGrow ? _memory.SegmentBytes / 2 : _memory.SegmentBytes / 8;

    /// <summary>Continues the cleaning that the partition has begun, up to <paramref name="budgetBytes"/> bytes.</summary>
    private void ContinueReuse(PartitionBlock* partition, int number, long budgetBytes)
    {
        while (budgetBytes > 0 && IsReusing(partition))
        {
            budgetBytes -= EvictBatch(partition, number);
        }
    }

    /// <summary>Returns a segment for which no live entry is evicted, or <see cref="SegmentPool.None"/> if there is none.</summary>
    private int TakeWithoutEviction(PartitionBlock* partition, int number)
    {
        ContinueReuse(partition, number, long.MaxValue);
        int segment = _pool.PopSpare(partition, reserve: SpareGoal(partition));
        if (segment == SegmentPool.None && TryFillSpares(partition, number, ReserveOf(partition)))
        {
            segment = TakeFreeOrGrow(number);
        }

        if (Reuses && segment != SegmentPool.None && partition->Victim == 0)
        {
            BeginReuse(partition, number);
        }

        return segment;
    }

    private void BeginReuse(PartitionBlock* partition, int number)
    {
        long until = _clock.NowMs() - ExpiredRetentionMs;
        int segment = PickGarbage(partition, partition->SealSequence, until, MostLiveToReuse, out VictimMode mode);
        if (segment != SegmentPool.None && !IsPinned(segment, _memory.RunLengthOf(segment))
            && TryFillSpares(partition, number, SpareGoal(partition))) // U1
        {
            _pool.Unlink(partition, segment);
            BeginVictim(partition, segment, mode);
        }
    }

    private static bool IsReusing(PartitionBlock* partition) =>
        partition->Victim != 0 && (VictimMode)partition->VictimMode is VictimMode.Clean or VictimMode.Drop;
}
