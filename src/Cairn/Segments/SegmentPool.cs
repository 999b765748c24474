using Cairn.Steps;

namespace Cairn.Segments;

// The segments of each partition, in the order in which they were sealed, and the free segments.
//
//   I1  A segment is linked into at most one list: spare, retired, or the queue of its log, oldest first.
//   I2  A list contains no information that segment headers do not contain: recovery rebuilds every list from them.
//   I3  Free segments are taken by compare-and-swap of the state word, which records the partition. If a process dies directly
//       afterwards, the partition's recovery finds the segment.
//   I4  The count of free segments is a hint. It is raised after a segment became free and lowered before one is taken. A death in
//       between leaves it too low, and recovery corrects it. Recovery can leave it too high. A thread corrects this if it finds no
//       free segment while the word does not change. The other half of the word changes when a segment becomes free.
//
// Links are segment number + 1. Each link is read once and checked before use. No list is followed for more steps than there are
// segments. A damaged link ends the list or leads in a circle, which costs room until a recovery.
internal sealed unsafe class SegmentPool(StoreMemory memory)
{
    public const int None = -1;

    /// <summary>Takes a free segment for a partition; <see cref="None"/> if there is none. Never takes one of the
    /// <paramref name="exceptCount"/> segments from <paramref name="exceptFirst"/> on.</summary>
    public int TakeFree(int partition, int exceptFirst = 0, int exceptCount = 0)
    {
        // Lowered first, so that there is a free segment for every thread that has lowered the count.
        Superblock* super = memory.Super;
        long counted;
        do
        {
            counted = Volatile.Read(ref super->FreeWord);
            if ((int)counted <= 0)
            {
                return None;
            }
        }
        while (Interlocked.CompareExchange(ref super->FreeWord, counted - 1, counted) != counted);

        memory.RefreshSegmentsEnd();
        int count = memory.SegmentCount;
        int hint = Volatile.Read(ref super->FreeHint);
        for (int i = 0; i < count; i++)
        {
            int segment = (int)(((uint)hint + (uint)i) % (uint)count);
            SegmentHeader* header = memory.Header(segment);
            uint word = Volatile.Read(ref header->StateWord);
            if ((SegmentState)(byte)word == SegmentState.Free
                && (uint)(segment - exceptFirst) >= (uint)exceptCount
                && memory.TryBackSegments(segment)
                && Interlocked.CompareExchange(
                    ref header->StateWord, SegmentHeader.Word(SegmentState.Spare, 0, partition), word) == word)
            {
                super->FreeHint = segment + 1;
                ProtocolHook.Reach(ProtocolStep.SegmentTaken);
                memory.Partition(partition)->SegmentCount++;
                return segment;
            }
        }

        // If no other thread has changed the count meanwhile, it was wrong, and no segment is free (I4). Otherwise a large value took this one.
        long left = counted - 1;
        if (exceptCount != 0 || Interlocked.CompareExchange(ref super->FreeWord, left - (int)left, left) != left)
        {
            Interlocked.Increment(ref super->FreeWord);
        }

        return None;
    }

    /// <summary>Frees a segment of a partition for all partitions. No slot names it and no process pins it.</summary>
    public void GiveBack(PartitionBlock* partition, int segment)
    {
        SegmentHeader* header = memory.Header(segment);
        partition->SegmentCount--;
        Clear(partition, segment);
        Volatile.Write(ref header->StateWord, SegmentHeader.Word(SegmentState.Free, 0, 0));
        Interlocked.Add(ref memory.Super->FreeWord, Superblock.OneFreed);
    }

    public void PushSpare(PartitionBlock* partition, int number, int segment)
    {
        SegmentHeader* header = memory.Header(segment);
        Clear(partition, segment);
        header->StateWord = SegmentHeader.Word(SegmentState.Spare, 0, number);
        header->Next = partition->SpareHead;
        partition->SpareHead = segment + 1;
        partition->SpareCount++;
    }

    /// <summary>Takes one of the partition's spares; <see cref="None"/> if it has no more than <paramref name="reserve"/>.</summary>
    public int PopSpare(PartitionBlock* partition, int reserve)
    {
        int segment = partition->SpareHead - 1;
        if (!IsSegment(segment) || partition->SpareCount <= reserve || memory.Header(segment)->State != SegmentState.Spare
            || !memory.TryBackSegments(segment))
        {
            return None;
        }

        partition->SpareHead = memory.Header(segment)->Next;
        partition->SpareCount--;
        return segment;
    }

    /// <summary>Removes a given segment from the partition's spares.</summary>
    public bool TryRemoveSpare(PartitionBlock* partition, int segment)
    {
        int* link = &partition->SpareHead;
        for (int i = 0; i < memory.SegmentCount; i++)
        {
            int linked = *link - 1;
            if (!IsSegment(linked))
            {
                return false;
            }

            if (linked == segment)
            {
                *link = memory.Header(segment)->Next;
                partition->SpareCount--;
                return true;
            }

            link = &memory.Header(linked)->Next;
        }

        return false;
    }

    /// <summary>Appends a sealed segment to the queue of its log.</summary>
    public void Enqueue(PartitionBlock* partition, int segment)
    {
        SegmentHeader* header = memory.Header(segment);
        partition->SealSequence += (ulong)memory.RunLengthOf(segment);
        header->SealOrder = partition->SealSequence;
        int* queue = PartitionBlock.Queue(partition, header->Log);
        int last = queue[1];
        header->Next = 0;
        header->Previous = last;
        if (IsSegment(last - 1))
        {
            memory.Header(last - 1)->Next = segment + 1;
        }
        else
        {
            queue[0] = segment + 1;
        }

        queue[1] = segment + 1;
        queue[2] += header->RunLength;
        partition->MinWholeDeadline = Math.Min(partition->MinWholeDeadline, header->MaxDeadline);
    }

    /// <summary>Removes a sealed segment from the queue of its log.</summary>
    public void Unlink(PartitionBlock* partition, int segment)
    {
        SegmentHeader* header = memory.Header(segment);
        int* queue = PartitionBlock.Queue(partition, header->Log);
        int previous = header->Previous;
        int next = header->Next;
        if (IsSegment(previous - 1))
        {
            memory.Header(previous - 1)->Next = next;
        }
        else
        {
            queue[0] = next;
        }

        if (IsSegment(next - 1))
        {
            memory.Header(next - 1)->Previous = previous;
        }
        else
        {
            queue[1] = previous;
        }

        header->Next = 0;
        header->Previous = 0;
        queue[2] -= header->RunLength;
    }

    public bool IsSegment(int segment) => (uint)segment < (uint)memory.SegmentCount || IsNewSegment(segment);

    /// <summary>Counts the free segments again, while no other process has the store open.</summary>
    public void RecountFree() => Volatile.Write(ref memory.Super->FreeWord, CountFree());

    /// <summary>Raises the count of free segments if it is too low, while other threads take and free segments (I4).</summary>
    public void RevealFree()
    {
        long counted = Volatile.Read(ref memory.Super->FreeWord);
        int missing = CountFree() - (int)counted;
        if (missing > 0)
        {
            Interlocked.CompareExchange(ref memory.Super->FreeWord, counted + missing, counted);
        }
    }

    // Another process may have already grown the file and linked the new segments.
    private bool IsNewSegment(int segment)
    {
        if ((uint)segment >= (uint)memory.Layout.MaxSegments)
        {
            return false;
        }

        memory.RefreshSegmentsEnd();
        return segment < memory.SegmentCount;
    }

    private int CountFree()
    {
        int free = 0;
        for (int segment = 0; segment < memory.SegmentCount; segment++)
        {
            free += memory.Header(segment)->State == SegmentState.Free ? 1 : 0;
        }

        return free;
    }

    private void Clear(PartitionBlock* partition, int segment)
    {
        SegmentHeader* header = memory.Header(segment);
        if (partition->Sweep == segment + 1)
        {
            partition->Sweep = 0; // Its cursor is a position in the old entries.
        }

        partition->ExpiredBytes -= header->ExpiredBytes;
        header->Tail = 0;
        header->SweptAtSeconds = 0;
        header->ExpiredBytes = 0;
        header->SealOrder = 0;
        header->MaxDeadline = 0;
        header->MinDeadline = 0;
        header->LiveBytes = 0;
        header->RunLength = 1;
        header->Next = 0;
        header->Previous = 0;
    }
}
