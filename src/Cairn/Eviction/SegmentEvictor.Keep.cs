using Cairn.Indexing;
using Cairn.Segments;

namespace Cairn.Eviction;

// The kept region: entries that are never evicted, in their own segments. The segments are cleaned of garbage so that they do not fill up.
//
//   room for a kept entry   1  clean a segment that is half garbage or more
//                           2  take a free segment; else grow the file; else evict entries that are not kept from a segment
//                           3  clean any segment that is at least one sixteenth garbage, including expired entries
//                           none: the write fails and nothing has changed
//
//   K1  A kept entry leaves its segment only if it was removed, replaced or cleared, or has expired. Otherwise its slot first names a complete copy.
//   K2  A partition with kept entries has a spare that only cleaning can open. Without it, no kept entry is appended. So the live entries
//       of one segment always find room: in the rest of the open segment and in the spare. If a thread dies during a cleaning, the rest of
//       its segment is not longer than the rest of the opened spare. Cleaning then continues before anything else is appended.
//   K3  A segment is cleaned without interruption. Between two steps, other entries could take the room that K2 relies on.
internal sealed unsafe partial class SegmentEvictor
{
    private const int MostCleanings = 32;

    /// <summary>Makes room for an entry in the keep log's open segment, or opens a new one. Returns false if the region is full.</summary>
    public bool TryMakeRoomToKeep(PartitionBlock* partition, int number, long bytes)
    {
        RecycleRetired(partition, number);
        for (int i = 0; i < MostCleanings && TryClean(partition, number, _memory.SegmentBytes / 2); i++)
        {
            if (HasRoomToKeep(partition, bytes))
            {
                return true;
            }
        }

        if (TryOpenToKeep(partition, number))
        {
            return true;
        }

        SweepAll(partition, number);
        for (int i = 0; i < MostCleanings && TryClean(partition, number, _memory.SegmentBytes - (_memory.SegmentBytes / 16)); i++)
        {
            if (HasRoomToKeep(partition, bytes) || TryOpenToKeep(partition, number))
            {
                return true;
            }
        }

        return HasRoomToKeep(partition, bytes);
    }

    /// <summary>Returns whether an entry can be appended to the keep log's open segment.</summary>
    public bool HasRoomToKeep(PartitionBlock* partition, long bytes) =>
        partition->SpareCount > 0 && _log.TryReserve(partition, PartitionBlock.LogKeep, bytes) is not null; // K2

    /// <summary>Removes expired and cleared entries from the partition's keep segments. Returns true if there were any.</summary>
    public bool SweepAll(PartitionBlock* partition, int number)
    {
        long now = _clock.NowMs();
        bool isAny = SweepIfDue(partition, number, partition->ActiveSegment[PartitionBlock.LogKeep] - 1, now);
        int segment = partition->KeepHead - 1;
        for (int i = 0; i < _memory.SegmentCount && _pool.IsSegment(segment); i++)
        {
            isAny |= SweepIfDue(partition, number, segment, now);
            segment = _memory.Header(segment)->Next - 1;
        }

        return isAny;
    }

    /// <summary>Removes expired entries and cleans segments that are mostly garbage, so that others have room. Returns true if there were any.</summary>
    public bool SweepAndClean(PartitionBlock* partition, int number)
    {
        bool isAny = SweepAll(partition, number);
        for (int i = 0; i < MostCleanings && TryClean(partition, number, _memory.SegmentBytes / 2); i++)
        {
            isAny = true;
        }

        return isAny;
    }

    /// <summary>Makes every keep segment due for its next sweep, because some of its entries were cleared.</summary>
    public void LetSweep(PartitionBlock* partition)
    {
        int open = partition->ActiveSegment[PartitionBlock.LogKeep] - 1;
        if (_pool.IsSegment(open))
        {
            _log.LowerMinDeadline(partition, open, removableAt: 1);
        }

        int segment = partition->KeepHead - 1;
        for (int i = 0; i < _memory.SegmentCount && _pool.IsSegment(segment); i++)
        {
            _log.LowerMinDeadline(partition, segment, removableAt: 1);
            segment = _memory.Header(segment)->Next - 1;
        }
    }

    // The number of spares that eviction and the cleaning of the kept region try to have.
    private int SpareGoal(PartitionBlock* partition) => SpareTarget + ReserveOf(partition);

    // Spares that only cleaning can open: one for kept entries (K2), and one if nothing is evicted (I4).
    private int ReserveOf(PartitionBlock* partition) => ReserveToKeep(partition) + (EvictsEntries ? 0 : 1);

    private static int ReserveToKeep(PartitionBlock* partition) => PartitionBlock.HasKept(partition) ? 1 : 0;

    private bool TryOpenToKeep(PartitionBlock* partition, int number)
    {
        const int Needed = 2; // One to open, one that stays (K2).
        TryFillSpares(partition, number, Needed);
        for (int round = 0; partition->SpareCount < Needed && round < 2; round++)
        {
            while (partition->SpareCount < Needed && Work(partition, number, long.MaxValue))
            {
                // Each round of work gains room or fails.
            }

            // An open segment can be evicted once it is sealed.
            for (int log = 0; partition->SpareCount < Needed && log < PartitionBlock.LogKeep; log++)
            {
                _log.Seal(partition, number, log);
            }
        }

        int segment = _pool.PopSpare(partition, reserve: 1);
        if (segment == SegmentPool.None)
        {
            return false;
        }

        _log.Seal(partition, number, PartitionBlock.LogKeep);
        _log.Open(partition, number, PartitionBlock.LogKeep, segment);
        return true;
    }

    /// <summary>Cleans the sealed keep segment with the fewest live bytes, if it has at most <paramref name="mostLive"/>.</summary>
    private bool TryClean(PartitionBlock* partition, int number, int mostLive)
    {
        if (partition->KeepHead == 0)
        {
            return false;
        }

        FinishVictim(partition, number); // A partition has one victim. Its end can leave less room, so it comes first.

        // Younger segments were found to be pinned, or could not be cleaned, a moment ago.
        ulong youngest = partition->SealSequence;
        int segment;
        while ((segment = PickKept(partition, number, youngest, mostLive)) != SegmentPool.None)
        {
            _pool.Unlink(partition, segment);
            if (IsPinned(segment, _memory.RunLengthOf(segment)))
            {
                _pool.Enqueue(partition, segment);
                continue;
            }

            BeginVictim(partition, segment, VictimMode.Clean);
            FinishVictim(partition, number); // K3
            if (!IsPutBack(partition, segment))
            {
                return true;
            }
        }

        return false;
    }

    private int PickKept(PartitionBlock* partition, int number, ulong youngest, int mostLive)
    {
        long now = _clock.NowMs();
        int picked = SegmentPool.None;
        int due = SegmentPool.None;
        int leastLive = partition->SpareCount > 0 ? mostLive : Math.Min(mostLive, RoomLeftToKeep(partition)); // K2
        int segment = partition->KeepHead - 1;
        for (int i = 0; i < _memory.SegmentCount && _pool.IsSegment(segment); i++)
        {
            SegmentHeader* header = _memory.Header(segment);
            if (header->SealOrder > youngest)
            {
                break;
            }

            if (header->MinDeadline <= now && (due == SegmentPool.None || header->MinDeadline < _memory.Header(due)->MinDeadline))
            {
                due = segment;
            }

            if (header->LiveBytes <= leastLive && (header->RunLength == 1 || header->LiveBytes <= 0))
            {
                leastLive = header->LiveBytes;
                picked = segment;
            }

            segment = header->Next - 1;
        }

        // Each choice also sweeps one due segment. This costs no more than filling a segment.
        if (due != SegmentPool.None && SweepIfDue(partition, number, due, now)
            && _memory.Header(due)->LiveBytes <= leastLive
            && (_memory.Header(due)->RunLength == 1 || _memory.Header(due)->LiveBytes <= 0))
        {
            picked = due;
        }

        return picked;
    }

    private int RoomLeftToKeep(PartitionBlock* partition) =>
        _pool.IsSegment(partition->ActiveSegment[PartitionBlock.LogKeep] - 1)
            ? _memory.SegmentBytes - partition->ActiveTail[PartitionBlock.LogKeep]
            : 0;

    // Sweeps the whole segment at once, because kept entries need the room.
    private bool SweepIfDue(PartitionBlock* partition, int number, int segment, long now)
    {
        if (!_pool.IsSegment(segment) || _memory.Header(segment)->MinDeadline > now)
        {
            return false;
        }

        if (partition->Sweep != segment + 1)
        {
            BeginSweep(partition, segment, now);
        }

        bool isAny = false;
        SweepStep step;
        do
        {
            step = ContinueSweep(partition, number, now);
            isAny |= step.Removed > 0;
        }
        while (!step.IsDone);
        return isAny;
    }

    // Returns false if the entry is already garbage.
    private bool TakeOut(PartitionBlock* partition, int number, in EntryView entry, in KeyPlacement place)
    {
        if (place.Partition != number
            || !HashIndex.FindByLocation(_memory, place, _memory.OffsetOf(entry.Start), out Bucket* bucket, out int slotIndex, out _))
        {
            return false;
        }

        if (!EntryAccounting.IsCleared(_memory, partition, entry.Version, entry.Collection))
        {
            _departures.OnExpired(partition, entry, Bucket.WasRead(bucket, slotIndex));
            if (entry.Type != EntryType.Lease)
            {
                int bytes = (int)entry.PaddedBytes;
                _memory.Header(_memory.SegmentAt(entry.Start))->ExpiredBytes += bytes;
                partition->ExpiredBytes += bytes;
            }
        }

        Drop(partition, entry, bucket, slotIndex);
        return true;
    }

    // Returns false if the entry is live and there is no room for a copy (K1).
    private bool TryKeepEntry(PartitionBlock* partition, int number, in EntryView entry, in KeyPlacement place)
    {
        if (!HashIndex.FindByLocation(_memory, place, _memory.OffsetOf(entry.Start), out Bucket* bucket, out int slotIndex, out ulong slot))
        {
            return true;
        }

        if (entry.RemovableAt <= _clock.NowMs() || EntryAccounting.IsCleared(_memory, partition, entry.Version, entry.Collection))
        {
            TakeOut(partition, number, entry, place);
            return true;
        }

        return _memory.Header(_memory.SegmentAt(entry.Start))->RunLength == 1
            && TryCopy(
                partition, number, entry, bucket, slotIndex, slot, PartitionBlock.LogKeep, Bucket.Frequency(bucket, slotIndex), reserve: 0);
    }

    private void PutBack(PartitionBlock* partition, int segment)
    {
        _pool.Enqueue(partition, segment);
        partition->Victim = 0;
    }

    // Called directly after the victim is finished: a segment that was put back is the youngest of the queue.
    private bool IsPutBack(PartitionBlock* partition, int segment) => partition->KeepTail == segment + 1;

    private bool IsNamed(PartitionBlock* partition, int number, int segment, int runLength)
    {
        for (int i = 0; i < _memory.Layout.BucketsPerPartition; i++)
        {
            Bucket* bucket = _memory.BucketAt(number, i);
            for (int slotIndex = 0; slotIndex < Bucket.Slots; slotIndex++)
            {
                ulong slot = *Bucket.SlotAt(bucket, slotIndex);
                int named = _memory.SegmentOf(slot);
                if (slot != 0 && named >= segment && named < segment + runLength)
                {
                    return true;
                }
            }
        }

        return false;
    }
}
