using Cairn.Steps;
using Cairn.Storage;

namespace Cairn.Segments;

// Which segments a partition has, and in which order they were sealed; and the segments that nobody has yet.
//
//   I1  A segment is linked into at most one list: spare, retired, or the queue of its log, oldest first.
//   I2  A list says nothing that segment headers do not say: recovery rebuilds every list from them.
//   I3  Free segments are taken by compare-and-swap of the state word, which records the partition: a process that dies
//       right after leaves a segment that the partition's recovery finds.
//   I4  The count of free segments is a hint. It is raised after a segment became free and lowered before one is taken. A
//       death in between leaves it too low, which recovery corrects; recovery may leave it too high, which is corrected
//       by whoever then finds no segment while the word stays the same. Its other half tells that a segment became free.
//
// Links are segment number + 1. Each is read once and checked before use, and no list is followed for more steps than there
// are segments: a damaged link ends the list or leads in a circle, and costs room, until a recovery.
internal sealed unsafe class SegmentPool(StoreMemory memory)
{
    public const int None = -1;

    /// <summary>Takes a free segment for a partition, or <see cref="None"/>; none of the <paramref name="exceptCount"/> from
    /// <paramref name="exceptFirst"/> on.</summary>
    public int TakeFree(int partition, int exceptFirst = 0, int exceptCount = 0)
    {
        // Counted off first: of the segments that were free by then, as many stay free as are counted to those who seek them.
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
                && Interlocked.CompareExchange(
                    ref header->StateWord, SegmentHeader.Word(SegmentState.Spare, 0, partition), word) == word)
            {
                super->FreeHint = segment + 1;
                ProtocolHook.Reach(ProtocolStep.SegmentTaken);
                memory.Partition(partition)->SegmentCount++;
                return segment;
            }
        }

        // If nobody counted meanwhile, the count was wrong, whatever it was, and there is none (I4). Else a large value took what was ours.
        long left = counted - 1;
        if (exceptCount != 0 || Interlocked.CompareExchange(ref super->FreeWord, left - (int)left, left) != left)
        {
            Interlocked.Increment(ref super->FreeWord);
        }

        return None;
    }

    /// <summary>Gives a segment of a partition, named by no slot and pinned by nobody, back to all.</summary>
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

    /// <summary>One of the partition's spares, or <see cref="None"/> if it has no more than <paramref name="reserve"/>.</summary>
    public int PopSpare(PartitionBlock* partition, int reserve)
    {
        int segment = partition->SpareHead - 1;
        if (!IsSegment(segment) || partition->SpareCount <= reserve || memory.Header(segment)->State != SegmentState.Spare)
        {
            return None;
        }

        partition->SpareHead = memory.Header(segment)->Next;
        partition->SpareCount--;
        return segment;
    }

    /// <summary>Takes one certain segment out of the partition's spares.</summary>
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
        header->SealOrder = ++partition->SealSequence;
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

    /// <summary>Takes a sealed segment out of the queue of its log.</summary>
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

    /// <summary>Counts the free segments anew, while nobody else has the store open.</summary>
    public void RecountFree() => Volatile.Write(ref memory.Super->FreeWord, CountFree());

    /// <summary>Raises the count of free segments if there are more of them, while others take and free segments (I4).</summary>
    public void RevealFree()
    {
        long counted = Volatile.Read(ref memory.Super->FreeWord);
        int missing = CountFree() - (int)counted;
        if (missing > 0)
        {
            Interlocked.CompareExchange(ref memory.Super->FreeWord, counted + missing, counted);
        }
    }

    // Another process may have grown the file and linked the new segments already.
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
            partition->Sweep = 0; // Its cursor is that of other bytes.
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
