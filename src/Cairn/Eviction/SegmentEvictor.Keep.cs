using Cairn.Indexing;
using Cairn.Segments;
using Cairn.Storage;

namespace Cairn.Eviction;

// The keep region: entries that are never evicted, in segments of their own, and cleaned of garbage so that these do not fill up.
//
//   room for a kept entry   1  a segment that is half garbage or more, cleaned
//                           2  a free segment; one more of the file; one that evicting others' entries empties
//                           3  any segment a sixteenth of which is garbage, what has expired included, cleaned
//                           none: the write fails and nothing has changed
//
//   K1  A kept entry leaves its segment only when it was removed, replaced or cleared, or has expired; else its slot names a whole copy first.
//   K2  A partition with kept entries has a spare that only cleaning may open, and no kept entry is appended while it has not. So what lives in
//       one segment always finds room: in what is left of the open one and the spare. A thread that dies in the middle leaves the rest of
//       the segment no longer than what is left of the spare it had opened; then cleaning goes on before anything else is appended.
//   K3  A segment is cleaned in one go: between two steps, other entries could take the room that K2 counts on.
internal sealed unsafe partial class SegmentEvictor
{
    private const int MostCleanings = 32;

    /// <summary>Lets the keep log's open segment have room for an entry, or a new one be opened. False if the region is full.</summary>
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

    /// <summary>True if an entry may be appended to the keep log's open segment.</summary>
    public bool HasRoomToKeep(PartitionBlock* partition, long bytes) =>
        partition->SpareCount > 0 && _log.TryReserve(partition, PartitionBlock.LogKeep, bytes) is not null; // K2

    /// <summary>Takes expired and cleared entries out of the partition's keep segments. True if there were any.</summary>
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

    /// <summary>Takes out what has expired and empties what is garbage for the most part, so that others have room. True if there was any.</summary>
    public bool SweepAndClean(PartitionBlock* partition, int number)
    {
        bool isAny = SweepAll(partition, number);
        for (int i = 0; i < MostCleanings && TryClean(partition, number, _memory.SegmentBytes / 2); i++)
        {
            isAny = true;
        }

        return isAny;
    }

    /// <summary>Lets every keep segment be swept when it is next looked at, because some of its entries were cleared.</summary>
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

    // Spares that evicting and the kept region's cleaning want to find.
    private static int SpareGoal(PartitionBlock* partition) => SpareTarget + ReserveOf(partition);

    private static int ReserveOf(PartitionBlock* partition) => PartitionBlock.HasKept(partition) ? 1 : 0;

    private bool TryOpenToKeep(PartitionBlock* partition, int number)
    {
        const int Needed = 2; // One to open, one to be left (K2).
        while (partition->SpareCount < Needed && TakeFreeOrGrow(number) is var free && free != SegmentPool.None)
        {
            _pool.PushSpare(partition, number, free);
        }

        for (int round = 0; partition->SpareCount < Needed && round < 2; round++)
        {
            while (partition->SpareCount < Needed && Work(partition, number, long.MaxValue))
            {
                // Each round of work gains room or fails.
            }

            // What is open can be evicted once it is sealed.
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

    /// <summary>Cleans the sealed keep segment with the least that lives, if that is no more than <paramref name="mostLive"/>.</summary>
    private bool TryClean(PartitionBlock* partition, int number, int mostLive)
    {
        if (partition->KeepHead == 0)
        {
            return false;
        }

        // Those younger were found to be pinned, or could not be cleaned, a moment ago.
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

        // One with each choice: going over a segment costs no more than filling one.
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

    // All of it at once: what is kept needs the room.
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

    // False if the entry is garbage already.
    private bool TakeOut(PartitionBlock* partition, int number, in EntryView entry, in KeyPlacement place)
    {
        if (place.Partition != number
            || !HashIndex.FindByLocation(_memory, place, _memory.OffsetOf(entry.Start), out Bucket* bucket, out int slotIndex, out _))
        {
            return false;
        }

        if (!EntryLedger.IsCleared(_memory, partition, entry.Version, entry.Collection))
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

    // False if it lives and there is no room to copy it to (K1).
    private bool TryKeepEntry(PartitionBlock* partition, int number, in EntryView entry, in KeyPlacement place)
    {
        if (!HashIndex.FindByLocation(_memory, place, _memory.OffsetOf(entry.Start), out Bucket* bucket, out int slotIndex, out ulong slot))
        {
            return true;
        }

        if (entry.RemovableAt <= _clock.NowMs() || EntryLedger.IsCleared(_memory, partition, entry.Version, entry.Collection))
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

    // Asked right after the victim was finished: what was put back is the youngest of the queue.
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
