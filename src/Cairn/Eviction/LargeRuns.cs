using Cairn.Concurrency;
using Cairn.Segments;
using Cairn.Steps;

namespace Cairn.Eviction;

// Room for values longer than a segment: a run of consecutive segments, taken from any partitions.
//
//   Free --CAS--> Reserved(owner slot) --value copied, published--> Sealed head, RunBody, RunBody ...
//
//   I1  Reserved segments belong to the process that reserved them. If it dies, the clean-up of its slot frees them.
//   I2  Bodies are marked before the head. An incomplete run has no head, and recovery frees its bodies.
//   I3  A thread never holds two partition locks at the same time.
//
// A run takes free segments. If there are too few, it takes segments without live entries: overwritten, removed, expired or cleared. If
// there are still too few, the file grows. Only if it cannot grow, live entries are lost. The headers are hints for this choice. They
// decide which entries are lost, never whether a step is safe.
internal sealed unsafe class LargeRuns(
    StoreMemory memory, OwnerTable owners, IPartitionGate gate, SegmentEvictor evictor, StoreGrowth growth, StoreClock clock)
{
    private const int Attempts = 4;

    // The costs of one segment. The longest possible run has about 130 segments. It costs less than Alive if it contains nothing alive,
    // and less than Impossible if it can be reserved at all.
    private const int Dead = 1;
    private const int DeadButScarce = 2;
    private const int InReserve = 8;
    private const int Alive = 4096;
    private const int Impossible = 1 << 24;
    private const int Pinned = Impossible + 1;

    /// <summary>Reserves <paramref name="length"/> consecutive segments. Returns <see cref="SegmentPool.None"/> if this is impossible now.</summary>
    public int TryReserve(int length)
    {
        for (int attempt = 0; attempt < Attempts; attempt++)
        {
            int first = FindCheapest(length, out int cost);
            if (cost >= Alive && growth.TryGrow(length))
            {
                first = FindCheapest(length, out cost);
            }

            if (cost >= Impossible)
            {
                return SegmentPool.None;
            }

            // The first attempt does not evict a segment that was counted as dead and has live entries again. Later attempts do.
            bool mayLose = cost >= Alive || attempt > 0;
            if (TryReserve(first, length, mayLose))
            {
                return first;
            }
        }

        return SegmentPool.None;
    }

    /// <summary>Releases a reservation.</summary>
    public void Release(int first, int length)
    {
        for (int segment = first; segment < first + length; segment++)
        {
            Volatile.Write(ref memory.Header(segment)->StateWord, SegmentHeader.Word(SegmentState.Free, 0, 0));
            Interlocked.Add(ref memory.Super->FreeWord, Superblock.OneFreed);
        }
    }

    /// <summary>Adds a reserved run to a partition whose lock the caller holds.</summary>
    public void Adopt(PartitionBlock* partition, int number, int log, int first, int length)
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
        head->MinDeadline = long.MaxValue;
        head->SweptAtSeconds = 0;
        head->ExpiredBytes = 0;
        head->Tail = memory.SegmentBytes;
        head->Next = 0;
        head->Previous = 0;
        Volatile.Write(ref head->StateWord, SegmentHeader.Word(SegmentState.Sealed, log, number));
        partition->SegmentCount += length;
        ProtocolHook.Reach(ProtocolStep.RunPublished);
    }

    // Finds the range of segments that costs least to empty. If its segments change before they are taken, TryReserve fails.
    private int FindCheapest(int length, out int cost)
    {
        memory.RefreshSegmentsEnd();
        int count = memory.SegmentCount;
        int[] costs = ArrayPool<int>.Shared.Rent(count);
        FindCosts(costs.AsSpan(0, count), length);
        cost = Impossible;
        int best = SegmentPool.None;
        long sum = 0;
        for (int segment = 0; segment < count; segment++)
        {
            sum += costs[segment];
            if (segment >= length)
            {
                sum -= costs[segment - length];
            }

            if (segment >= length - 1 && sum < cost)
            {
                cost = (int)sum;
                best = segment - length + 1;
            }
        }

        ArrayPool<int>.Shared.Return(costs);
        return best;
    }

    // A pin names the head of a run and protects the whole run. If pins were ignored, a range with a pinned value could repeatedly seem the
    // cheapest.
    private void FindCosts(Span<int> costs, int length)
    {
        costs.Clear();
        owners.MarkPinned(costs, Pinned);
        long now = clock.NowMs();

        // A partition that cannot give up a segment gets a free one in exchange, from outside the range. This many suffice for all partitions.
        int exchanged = memory.PartitionCount * StoreLayout.ReservedSegmentsPerPartition;
        bool canExchange = Superblock.FreeSegments(memory.Super) >= length + exchanged;
        for (int segment = 0; segment < costs.Length; segment++)
        {
            SegmentHeader* header = memory.Header(segment);
            bool isBody = header->State == SegmentState.RunBody;
            int head = isBody ? header->Next - 1 : segment;
            bool isHeadKnown = (uint)head <= (uint)segment;
            if (isHeadKnown && costs[head] == Pinned)
            {
                costs[segment] = Pinned;
            }
            else if (isBody && !(isHeadKnown && memory.Header(head)->State == SegmentState.Sealed))
            {
                costs[segment] = Impossible; // Part of a run that is being created or that waits for its readers.
            }
            else
            {
                costs[segment] = CostOf(isBody ? memory.Header(head) : header, now, canExchange);
            }
        }
    }

    private int CostOf(SegmentHeader* header, long now, bool canExchange)
    {
        SegmentState state = header->State;
        if (state is not (SegmentState.Spare or SegmentState.Open or SegmentState.Sealed))
        {
            return state == SegmentState.Free ? 0 : Impossible;
        }

        if (header->Log == PartitionBlock.LogKeep && header->LiveBytes > 0 && header->RunLength > 1)
        {
            return Impossible;
        }

        bool isScarce = IsScarce(header);
        bool isAlive = IsAlive(header, now);
        if (isAlive || (isScarce && !canExchange))
        {
            return Alive * state switch
            {
                _ when header->RunLength > 1 => 2,
                _ when isScarce => 6,
                _ when header->Log == PartitionBlock.LogKeep => 5, // Its entries move to another segment, which must be emptied for them.
                SegmentState.Sealed => header->Log == PartitionBlock.LogMain ? 3 : 2,
                _ => 4,
            };
        }

        if (state == SegmentState.Spare)
        {
            return canExchange ? InReserve : 4 * Alive;
        }

        return isScarce ? DeadButScarce : Dead;
    }

    // Uses the same test as the evictor when it chooses a victim to be dropped whole.
    private static bool IsAlive(SegmentHeader* header, long now) =>
        header->State is SegmentState.Open or SegmentState.Sealed && header->LiveBytes > 0 && header->MaxDeadline > now;

    // A partition must keep enough segments to open one in each log and to evict. Such a segment is available only in exchange.
    private bool IsScarce(SegmentHeader* header) =>
        memory.Partition(header->Partition % memory.PartitionCount)->SegmentCount
            < StoreLayout.ReservedSegmentsPerPartition + header->RunLength;

    private bool TryReserve(int first, int length, bool mayLose)
    {
        if (!memory.TryBackSegments(first, length))
        {
            return false;
        }

        uint reserved = SegmentHeader.Word(SegmentState.Reserved, 0, 0, owners.Slot);
        for (int segment = first; segment < first + length; segment++)
        {
            SegmentHeader* header = memory.Header(segment);
            uint word = Volatile.Read(ref header->StateWord);
            if ((SegmentState)(byte)word is not (SegmentState.Free or SegmentState.Reserved))
            {
                EvictInExchange(segment, first, length, mayLose);
                word = Volatile.Read(ref header->StateWord);
            }

            Interlocked.Decrement(ref memory.Super->FreeWord); // Before it is taken (SegmentPool I4).
            if ((SegmentState)(byte)word != SegmentState.Free
                || Interlocked.CompareExchange(ref header->StateWord, reserved, word) != word)
            {
                Interlocked.Increment(ref memory.Super->FreeWord);
                Release(first, segment - first);
                return false;
            }

            ProtocolHook.Reach(ProtocolStep.RunSegmentReserved);
        }

        return true;
    }

    // A run may be the partition's only segments. Then the partition needs as many in exchange as it must keep.
    private void EvictInExchange(int segment, int windowFirst, int windowLength, bool mayLose)
    {
        int replacements = 0;
        while (Evict(segment, windowFirst, windowLength, mayLose) == YieldOutcome.NeedsReplacement
            && replacements < StoreLayout.ReservedSegmentsPerPartition
            && TryFreeOutside(windowFirst, windowLength, mayLose))
        {
            replacements++;
        }
    }

    // Frees a segment outside the range, for a partition that cannot give one up.
    private bool TryFreeOutside(int first, int length, bool mayLose) =>
        TryEvictOutside(first, length, mayLose: false)
        || growth.TryGrow(1)
        || (mayLose && TryEvictOutside(first, length, mayLose: true));

    private bool TryEvictOutside(int first, int length, bool mayLose)
    {
        int count = memory.SegmentCount;
        for (int i = 0; i < count - length; i++)
        {
            int segment = (first + length + i) % count;
            SegmentHeader* header = memory.Header(segment);
            if (header->State == SegmentState.Free
                || (header->State == SegmentState.Sealed && !IsScarce(header)
                    && Evict(segment, first, length, mayLose) == YieldOutcome.Yielded))
            {
                return true;
            }
        }

        return false;
    }

    private YieldOutcome Evict(int segment, int windowFirst, int windowLength, bool mayLose)
    {
        SegmentHeader* header = memory.Header(segment);
        int head = header->State == SegmentState.RunBody ? header->Next - 1 : segment;
        int number = header->Partition;
        if ((uint)head >= (uint)memory.SegmentCount || number >= memory.PartitionCount)
        {
            return YieldOutcome.Refused;
        }

        PartitionBlock* partition = gate.Enter(number);
        if (partition is null)
        {
            return YieldOutcome.Refused;
        }

        try
        {
            YieldOutcome outcome = (mayLose && evictor.EvictsEntries) || !IsAlive(memory.Header(head), clock.NowMs())
                ? evictor.TryYield(partition, number, head, windowFirst, windowLength)
                : YieldOutcome.Refused;
            gate.Leave(partition);
            return outcome;
        }
        catch
        {
            gate.LeaveBroken(partition, number);
            throw;
        }
    }
}
