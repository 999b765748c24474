using Cairn.Concurrency;
using Cairn.Engine;
using Cairn.Storage;

namespace Cairn.Eviction;

// Room for values longer than a segment: a run of consecutive segments, taken from whatever partitions have them.
//
//   Free --CAS--> Reserved(owner slot) --value copied, published--> Sealed head, RunBody, RunBody ...
//
//   I1  Reserved segments belong to the process that reserved them; if it dies, the clean-up of its slot frees them.
//   I2  Bodies are marked before the head: a run that is not complete has no head, and recovery frees its bodies.
//   I3  No two partition locks are held at once.
internal sealed unsafe class LargeRuns(
    StoreMemory memory, OwnerTable owners, StoreEngine engine, SegmentEvictor evictor, StoreGrowth growth)
{
    private const int Attempts = 4;
    private const int Impossible = 1 << 20;

    /// <summary>Reserves <paramref name="length"/> consecutive segments. <see cref="SegmentPool.None"/> if that cannot be done now.</summary>
    public int TryReserve(int length)
    {
        for (int attempt = 0; attempt < Attempts; attempt++)
        {
            int first = FindCheapest(length, out int cost);
            if (cost > 0 && growth.TryGrow(length))
            {
                first = FindCheapest(length, out cost);
            }

            if (cost >= Impossible)
            {
                return SegmentPool.None;
            }

            if (TryReserve(first, length))
            {
                return first;
            }
        }

        return SegmentPool.None;
    }

    /// <summary>Gives up a reservation.</summary>
    public void Release(int first, int length)
    {
        for (int segment = first; segment < first + length; segment++)
        {
            Volatile.Write(ref memory.Header(segment)->StateWord, SegmentHeader.Word(SegmentState.Free, 0, 0));
            Interlocked.Increment(ref memory.Super->FreeSegments);
        }
    }

    /// <summary>Makes a reserved run part of a partition whose lock the caller holds.</summary>
    public void Adopt(PartitionBlock* partition, int number, int first, int length)
    {
        for (int segment = first + length - 1; segment > first; segment--)
        {
            SegmentHeader* body = memory.Header(segment);
            body->Next = first + 1;
            body->RunLength = 1;
            body->LiveBytes = 0;
            body->Tail = 0;
            Volatile.Write(ref body->StateWord, SegmentHeader.Word(SegmentState.RunBody, PartitionBlock.LogSmall, number));
        }

        SegmentHeader* head = memory.Header(first);
        head->RunLength = length;
        head->LiveBytes = 0;
        head->Tail = memory.SegmentBytes;
        head->Next = 0;
        head->Previous = 0;
        Volatile.Write(ref head->StateWord, SegmentHeader.Word(SegmentState.Sealed, PartitionBlock.LogSmall, number));
        partition->SegmentCount += length;
        ProtocolHook.Reach(ProtocolStep.RunPublished);
    }

    // The window of segments that costs least to empty. Its segments may change before they are taken; then TryReserve fails.
    private int FindCheapest(int length, out int cost)
    {
        memory.RefreshSegmentsEnd();
        int count = memory.SegmentCount;
        cost = Impossible;
        int best = SegmentPool.None;
        long sum = 0;
        for (int segment = 0; segment < count; segment++)
        {
            sum += CostOf(segment);
            if (segment >= length)
            {
                sum -= CostOf(segment - length);
            }

            if (segment >= length - 1 && sum < cost)
            {
                cost = (int)sum;
                best = segment - length + 1;
            }
        }

        return best;
    }

    private int CostOf(int segment)
    {
        SegmentHeader* header = memory.Header(segment);
        return header->State switch
        {
            SegmentState.Free => 0,
            SegmentState.RunBody => 2,
            SegmentState.Spare or SegmentState.Open or SegmentState.Sealed when IsScarce(header) => Impossible,
            SegmentState.Sealed => header->Log == PartitionBlock.LogMain ? 3 : 2,
            SegmentState.Open or SegmentState.Spare => 4,
            _ => Impossible,
        };
    }

    // A partition must keep enough to open a segment in each log and to evict.
    private bool IsScarce(SegmentHeader* header) =>
        memory.Partition(header->Partition % memory.PartitionCount)->SegmentCount
            <= StoreLayout.ReservedSegmentsPerPartition + header->RunLength;

    private bool TryReserve(int first, int length)
    {
        uint reserved = SegmentHeader.Word(SegmentState.Reserved, 0, 0, owners.Slot);
        for (int segment = first; segment < first + length; segment++)
        {
            SegmentHeader* header = memory.Header(segment);
            uint word = Volatile.Read(ref header->StateWord);
            if ((SegmentState)(byte)word is not (SegmentState.Free or SegmentState.Reserved))
            {
                Evict(segment);
                word = Volatile.Read(ref header->StateWord);
            }

            if ((SegmentState)(byte)word != SegmentState.Free
                || Interlocked.CompareExchange(ref header->StateWord, reserved, word) != word)
            {
                Release(first, segment - first);
                return false;
            }

            Interlocked.Decrement(ref memory.Super->FreeSegments);
            ProtocolHook.Reach(ProtocolStep.RunSegmentReserved);
        }

        return true;
    }

    private void Evict(int segment)
    {
        SegmentHeader* header = memory.Header(segment);
        int head = header->State == SegmentState.RunBody ? header->Next - 1 : segment;
        int number = header->Partition;
        if ((uint)head >= (uint)memory.SegmentCount || number >= memory.PartitionCount)
        {
            return;
        }

        PartitionBlock* partition = engine.Enter(number);
        if (partition is null)
        {
            return;
        }

        try
        {
            evictor.TryYield(partition, number, head);
            engine.Leave(partition);
        }
        catch
        {
            engine.LeaveBroken(partition, number);
            throw;
        }
    }
}
