using Cairn.Segments;

namespace Cairn.Eviction;

// Reuse before new room: while a partition can still have free segments, or the file can grow, it first reuses segments that are mostly garbage. So a
// store whose entries are overwritten uses as much of its file as its live entries need, and a store that can grow does not grow for garbage.
//
//   U1  No live entry is lost: cleaning begins only if as many spares exist as in an eviction, and the survivors of the segment fit into them.
//   U2  A cleaning ends before the next one begins. Puts do its work in batches, as in an eviction; the put that opens the next segment does the rest.
//
// A segment gains room for at least as many bytes as are copied. Before the whole file is in use, copying has to gain more: an unused
// segment costs nothing but the memory that it is about to take.
internal sealed unsafe partial class SegmentEvictor
{
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
        int goal = SpareGoal(partition);
        int segment = _pool.PopSpare(partition, reserve: goal);
        int reserve = ReserveOf(partition);
        while (segment == SegmentPool.None && TakeFreeOrGrow(number) is var free && free != SegmentPool.None)
        {
            if (partition->SpareCount >= reserve)
            {
                segment = free;
            }
            else
            {
                _pool.PushSpare(partition, number, free);
            }
        }

        if (segment != SegmentPool.None && partition->Victim == 0)
        {
            BeginReuse(partition, number);
        }

        return segment;
    }

    private void BeginReuse(PartitionBlock* partition, int number)
    {
        long until = _clock.NowMs() - ExpiredRetentionMs;
        int segment = PickGarbage(partition, partition->SealSequence, until, MostLiveToReuse, out VictimMode mode);
        if (segment == SegmentPool.None || IsPinned(segment, _memory.RunLengthOf(segment)))
        {
            return;
        }

        while (partition->SpareCount < SpareGoal(partition))
        {
            int free = TakeFreeOrGrow(number);
            if (free == SegmentPool.None)
            {
                return; // U1
            }

            _pool.PushSpare(partition, number, free);
        }

        _pool.Unlink(partition, segment);
        BeginVictim(partition, segment, mode);
    }

    private static bool IsReusing(PartitionBlock* partition) =>
        partition->Victim != 0 && (VictimMode)partition->VictimMode is VictimMode.Clean or VictimMode.Drop;
}
