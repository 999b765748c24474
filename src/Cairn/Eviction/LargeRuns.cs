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
//
// The cost of a live segment is how much the eviction policy wants to keep it. A run that was used since it was written or last chosen goes to the end of
// its queue, and other segments are chosen. The used entries of other segments survive as in an eviction.
internal sealed unsafe class LargeRuns(
    StoreMemory memory, OwnerTable owners, IPartitionGate gate, SegmentEvictor evictor, EvictionPolicy policy, StoreGrowth growth, StoreClock clock)
{
    private const int Attempts = 4;

    // So many times the segments that were chosen contain a used run. A further time, it is lost.
    private const int MostKept = 16;

    // The costs of one segment. The longest possible run has about 130 segments. It costs less than Alive if it contains nothing alive,
    // and less than Impossible if it can be reserved at all. A live segment costs Alive and up to Wanted. After a failed attempt, a scarce segment costs
    // more than a range of others.
    private const int Dead = 1;
    private const int DeadButScarce = 2;
    private const int InReserve = 8;
    private const int Alive = 2048;
    private const int Wanted = 16 * Alive;
    private const int Scarce = 130 * (Alive + Wanted);
    private const int Impossible = 1 << 30;
    private const int Pinned = Impossible + 1;

    /// <summary>Reserves <paramref name="length"/> consecutive segments. Returns <see cref="SegmentPool.None"/> if this is impossible now.</summary>
    public int TryReserve(int length)
    {
        int kept = 0;
        for (int attempt = 0; attempt < Attempts;)
        {
            int first = FindCheapest(length, avoidsScarce: attempt > 0, out int cost);
            if (cost >= Alive && growth.TryGrow(length))
            {
                first = FindCheapest(length, avoidsScarce: attempt > 0, out cost);
            }

            if (cost >= Impossible)
            {
                return SegmentPool.None;
            }

            // The first attempt does not evict a segment that was counted as dead and has live entries again. Later attempts do.
            bool mayLose = cost >= Alive || attempt > 0;
            if (TryReserve(first, length, mayLose, keepsUsed: kept < MostKept, out bool isKept))
            {
                return first;
            }

            if (isKept)
            {
                kept++;
            }
            else
            {
                attempt++;
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
    private int FindCheapest(int length, bool avoidsScarce, out int cost)
    {
        memory.RefreshSegmentsEnd();
        int count = memory.SegmentCount;
        int[] costs = ArrayPool<int>.Shared.Rent(count);
        FindCosts(costs.AsSpan(0, count), length, avoidsScarce ? Scarce : 2 * Wanted);
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
    private void FindCosts(Span<int> costs, int length, int scarce)
    {
        costs.Clear();
        owners.MarkPinned(costs, Pinned);
        long now = clock.NowMs();
        OldestAges oldest = policy.FindOldest();
        Span<int> inRuns = stackalloc int[StoreLayout.MaxPartitions];
        CountRuns(inRuns);

        // A partition that cannot give up a segment gets a free one in exchange, from outside the range. This many suffice for all partitions.
        int exchanged = memory.PartitionCount * StoreLayout.ReservedSegmentsPerPartition;
        bool canExchange = Superblock.FreeSegments(memory.Super) >= length + exchanged;
        for (int segment = 0; segment < costs.Length; segment++)
        {
            SegmentHeader* header = memory.Header(segment);
            if (costs[segment] == Pinned)
            {
                continue;
            }

            if (header->State != SegmentState.RunBody)
            {
                costs[segment] = CostOf(header, now, oldest, inRuns, canExchange, scarce);
                continue;
            }

            // If the head is not sealed, the segment is part of a run that is being created or that waits for its readers.
            int head = header->Next - 1;
            bool isHeadKnown = (uint)head < (uint)segment && memory.Header(head)->State == SegmentState.Sealed;
            costs[segment] = isHeadKnown ? costs[head] : Impossible;
        }
    }

    private int CostOf(SegmentHeader* header, long now, OldestAges oldest, ReadOnlySpan<int> inRuns, bool canExchange, int scarce)
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

        bool isScarce = IsScarce(header, inRuns);
        bool isAlive = IsAlive(header, now);
        if (isAlive || (isScarce && !canExchange))
        {
            return Alive + state switch
            {
                _ when isScarce => scarce,
                _ when header->Log == PartitionBlock.LogKeep => 2 * Wanted, // Its entries move to another segment, which must be emptied for them.
                SegmentState.Sealed => (int)(Wanted * policy.WorthOf(header, oldest)),
                _ => Wanted,
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

    // A partition must keep enough segments to open one in each log and to evict. Such a segment is available only in exchange. Its runs do not count,
    // because otherwise they could not be evicted later.
    private bool IsScarce(SegmentHeader* header, ReadOnlySpan<int> inRuns)
    {
        int number = header->Partition % memory.PartitionCount;
        int others = header->RunLength > 1 ? header->RunLength : inRuns[number] + 1;
        return memory.Partition(number)->SegmentCount < StoreLayout.ReservedSegmentsPerPartition + others;
    }

    private void CountRuns(Span<int> inRuns)
    {
        inRuns.Clear();
        for (int segment = 0; segment < memory.SegmentCount; segment++)
        {
            SegmentHeader* header = memory.Header(segment);
            if (header->RunLength > 1 && header->State == SegmentState.Sealed)
            {
                inRuns[header->Partition % memory.PartitionCount] += header->RunLength;
            }
        }
    }

    private bool TryReserve(int first, int length, bool mayLose, bool keepsUsed, out bool isKept)
    {
        isKept = false;
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
                isKept = EvictInExchange(segment, first, length, mayLose, keepsUsed) == YieldOutcome.Kept;
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
    private YieldOutcome EvictInExchange(int segment, int windowFirst, int windowLength, bool mayLose, bool keepsUsed)
    {
        int replacements = 0;
        YieldOutcome outcome;
        while ((outcome = Evict(segment, windowFirst, windowLength, mayLose, keepsUsed)) == YieldOutcome.NeedsReplacement
            && replacements < StoreLayout.ReservedSegmentsPerPartition
            && TryFreeOutside(windowFirst, windowLength, mayLose))
        {
            replacements++;
        }

        return outcome;
    }

    // Frees a segment outside the range, for a partition that cannot give one up.
    private bool TryFreeOutside(int first, int length, bool mayLose) =>
        TryEvictOutside(first, length, mayLose: false)
        || growth.TryGrow(1)
        || (mayLose && TryEvictOutside(first, length, mayLose: true));

    private bool TryEvictOutside(int first, int length, bool mayLose)
    {
        int count = memory.SegmentCount;
        Span<int> inRuns = stackalloc int[StoreLayout.MaxPartitions];
        CountRuns(inRuns);
        for (int i = 0; i < count - length; i++)
        {
            int segment = (first + length + i) % count;
            SegmentHeader* header = memory.Header(segment);
            if (header->State == SegmentState.Free
                || (header->State == SegmentState.Sealed && !IsScarce(header, inRuns)
                    && Evict(segment, first, length, mayLose, keepsUsed: false) == YieldOutcome.Yielded))
            {
                return true;
            }
        }

        return false;
    }

    private YieldOutcome Evict(int segment, int windowFirst, int windowLength, bool mayLose, bool keepsUsed)
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
            bool isAlive = IsAlive(memory.Header(head), clock.NowMs());
            YieldOutcome outcome = (mayLose && evictor.EvictsEntries) || !isAlive
                ? evictor.TryYield(partition, number, head, windowFirst, windowLength, keepsUsed && isAlive)
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
