using Cairn.Eviction;
using Cairn.Indexing;
using Cairn.Steps;

namespace Cairn.Segments;

// The logs of a partition. Each log appends to one open segment, and seals it when the next entry does not fit.
//
//   small   new keys                                 main   keys that were used again or came back soon
//   keep    entries of collections that are never evicted
//   TTL     new keys with a time to live, one log for each order of magnitude, so that whole segments expire together
//
// TTL logs are opened only while at most a sixteenth of the partition's segments are open. In a small store they would keep too
// many segments half empty. Their sealed segments join the small log's queue.
internal sealed unsafe class SegmentLog(StoreMemory memory, SegmentPool pool)
{
    private static ReadOnlySpan<long> TtlLimitsMs =>
        [10_000, 60_000, 600_000, 3_600_000, 6 * 3_600_000, 24 * 3_600_000, 7 * 24 * 3_600_000L];

    /// <summary>Chooses the log for a new key, by its time to live if the log for that is open or can be opened.</summary>
    public int ChooseLog(PartitionBlock* partition, long deadline, long now)
    {
        if (deadline == long.MaxValue)
        {
            return PartitionBlock.LogSmall;
        }

        long timeToLive = deadline - now;
        int group = 0;
        while (group < TtlLimitsMs.Length && timeToLive > TtlLimitsMs[group])
        {
            group++;
        }

        int log = PartitionBlock.FirstTtlLog + group;
        bool isOpen = partition->ActiveSegment[log] != 0;
        return isOpen || (partition->OpenCount + 1) * 16 <= partition->SegmentCount ? log : PartitionBlock.LogSmall;
    }

    /// <summary>Returns room for <paramref name="bytes"/> (padded) in the log's open segment; null if there is not enough.</summary>
    public byte* TryReserve(PartitionBlock* partition, int log, long bytes)
    {
        int segment = partition->ActiveSegment[log] - 1;
        if (!pool.IsSegment(segment))
        {
            return null;
        }

        int tail = partition->ActiveTail[log];
        return tail >= 0 && tail + bytes <= memory.SegmentBytes ? memory.SegmentStart(segment) + tail : null;
    }

    /// <summary>
    /// Adds <paramref name="bytes"/> at <paramref name="target"/>, the log's tail, to the segment. The tail is stored before a slot names them: a recovery
    /// that finds the slot must find the entry below the tail (PartitionBlock I4).
    /// </summary>
    /// <param name="partition">The partition, locked.</param>
    /// <param name="log">The log.</param>
    /// <param name="target">The result of <see cref="TryReserve"/>.</param>
    /// <param name="bytes">The padded number of bytes.</param>
    /// <param name="removableAt">The earliest time at which the entry can be removed.</param>
    /// <param name="deadline">The latest time at which it expires.</param>
    public void Commit(PartitionBlock* partition, int log, byte* target, long bytes, long removableAt, long deadline)
    {
        // From the address, which was checked. The partition's value could be overwritten after the check.
        int segment = memory.SegmentAt(target);
        SegmentHeader* header = memory.Header(segment);
        if (deadline > header->MaxDeadline)
        {
            header->MaxDeadline = deadline;
        }

        LowerMinDeadline(partition, segment, removableAt);
        int tail = (int)(target - memory.SegmentStart(segment) + bytes);
        header->Tail = tail;

        // Prefetches the lines of the next entry while the caller does other work.
        byte* next = memory.SegmentStart(partition->ActiveSegment[log] - 1) + tail;
        HashIndex.Prefetch(next + 64);
        HashIndex.Prefetch(next + 128);
        HashIndex.Prefetch(next + 192);
        Volatile.Write(ref partition->ActiveTail[log], tail);
        ProtocolHook.Reach(ProtocolStep.TailStored);
    }

    /// <summary>Records when an entry of a segment can be removed, before a slot names the entry (SegmentEvictor.Sweep S2).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void LowerMinDeadline(PartitionBlock* partition, int segment, long removableAt)
    {
        SegmentHeader* header = memory.Header(segment);
        if (removableAt < header->MinDeadline)
        {
            header->MinDeadline = Math.Max(1, removableAt);
        }

        // A sweep may have passed the entry's place already, if a long value was reserved earlier.
        if (partition->Sweep == segment + 1 && removableAt < partition->SweepEarliest)
        {
            partition->SweepEarliest = Math.Max(1, removableAt);
        }
    }

    /// <summary>Returns the log whose queue a sealed segment of a log joins.</summary>
    public static int QueuedLog(int log) =>
        log is PartitionBlock.LogMain or PartitionBlock.LogKeep ? log : PartitionBlock.LogSmall;

    public void Open(PartitionBlock* partition, int number, int log, int segment)
    {
        SegmentHeader* header = memory.Header(segment);
        header->Tail = 0;
        header->LiveBytes = 0;
        header->MaxDeadline = 0;
        header->MinDeadline = long.MaxValue;
        header->SweptAtSeconds = 0;
        header->ExpiredBytes = 0;
        header->SampledUses = 0;
        header->RunLength = 1;
        header->Next = 0;
        header->Previous = 0;
        Volatile.Write(ref header->StateWord, SegmentHeader.Word(SegmentState.Open, log, number));
        partition->ActiveTail[log] = 0;
        Volatile.Write(ref partition->ActiveSegment[log], segment + 1);
        partition->OpenCount++;
        ProtocolHook.Reach(ProtocolStep.SegmentOpened);
    }

    public void Seal(PartitionBlock* partition, int number, int log)
    {
        int segment = partition->ActiveSegment[log] - 1;
        if (!pool.IsSegment(segment))
        {
            return;
        }

        SegmentHeader* header = memory.Header(segment);
        header->Tail = partition->ActiveTail[log];
        header->StateWord = SegmentHeader.Word(SegmentState.Sealed, QueuedLog(log), number);
        pool.Enqueue(partition, segment);
        partition->ActiveSegment[log] = 0;
        partition->ActiveTail[log] = 0;
        partition->OpenCount--;
        ProtocolHook.Reach(ProtocolStep.SegmentSealed);
    }
}
