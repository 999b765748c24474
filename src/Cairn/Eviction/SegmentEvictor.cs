using Cairn.Collections;
using Cairn.Concurrency;
using Cairn.Indexing;
using Cairn.Leasing;
using Cairn.Recovering;
using Cairn.Segments;
using Cairn.Steps;

namespace Cairn.Eviction;

/// <summary>The result of a request for one of a partition's segments.</summary>
internal enum YieldOutcome
{
    /// <summary>The segment is pinned or does not belong to this partition any more.</summary>
    Refused,

    /// <summary>The partition has too few segments, and no free one was found to replace this one.</summary>
    NeedsReplacement,

    Yielded,

    /// <summary>The segment is the head of a run that was used. It went to the end of its queue.</summary>
    Kept,
}

/// <summary>How the entries of an evicted segment are treated. Stored in the file.</summary>
internal enum VictimMode : uint
{
    /// <summary>Entries that were used survive.</summary>
    Evict = 0,

    /// <summary>All live entries survive.</summary>
    Clean = 1,

    /// <summary>No entry survives.</summary>
    Drop = 2,

    /// <summary>No entry survives, and any partition can use the segment afterwards.</summary>
    Yield = 3,
}

// Eviction by segment: the mechanism. An EvictionPolicy decides which segment is next and which of its entries survive.
//
// Each put evicts a few entries of a segment, the victim, so that no put waits for a whole segment. The victim is:
//   - a segment whose entries have all expired or been cleared: every slot is cleared;
//   - else a segment that is mostly garbage (overwritten or removed entries): its live entries are copied, used or not;
//   - else the segment that the policy chooses: the entries that the policy calls used are copied.
//
//   I1  Two segments are kept in reserve, because a victim's survivors may need a new main segment before the victim is free.
//   I2  Survivors of one victim take at most seven eighths of a segment, so that eviction always gains room.
//       The kept region never loses an entry; SegmentEvictor.Keep describes it.
//   I3  Before a segment is recycled, every slot that named it is cleared, then a full fence is executed, then every hazard cell is read.
//   I4  Without eviction (EvictsEntries), victims are only segments without live entries, and segments that are at least a quarter garbage.
//       Their live entries fit into the rest of the open segment and one spare, which nothing else opens.
internal sealed unsafe partial class SegmentEvictor
{
    private const int SpareTarget = 2;

    private const int BatchEntries = 16;
    private const int BatchBytes = 2048;
    private const int MostLookedAt = 128;
    private const int MostPassed = 128;

    // The entries of a victim are seldom in a cache. Each tells where the next one begins, so the processor cannot load them ahead by itself.
    private const int PrefetchDistance = 1024;

    // The puts that fill a segment evict four. One segment of room can need more (I2); the put that needs the segment then does the rest.
    private const int WorkPerAppendedByte = 4;

    private readonly StoreMemory _memory;
    private readonly SegmentPool _pool;
    private readonly SegmentLog _log;
    private readonly EvictionPolicy _policy;
    private readonly OwnerTable _owners;
    private readonly OwnerCleanup _cleanup;
    private readonly PartitionRecovery _recovery;
    private readonly StoreClock _clock;
    private readonly LeaseSignal _leases;
    private readonly CollectionBudgets _budgets;
    private readonly StoreGrowth _growth;
    private readonly EntryDepartures _departures;

    public SegmentEvictor(
        StoreMemory memory, SegmentPool pool, SegmentLog log, EvictionPolicy policy, OwnerTable owners, OwnerCleanup cleanup,
        PartitionRecovery recovery, StoreClock clock, LeaseSignal leases, CollectionBudgets budgets, StoreGrowth growth,
        EntryDepartures departures)
    {
        _memory = memory;
        _pool = pool;
        _log = log;
        _policy = policy;
        _owners = owners;
        _cleanup = cleanup;
        _recovery = recovery;
        _clock = clock;
        _leases = leases;
        _budgets = budgets;
        _growth = growth;
        _departures = departures;
        _groups = new Lazy<DeadlineGroups?[]>(() => new DeadlineGroups?[memory.Layout.MaxSegments]);
    }

    /// <summary>Gets or sets whether this opening of the store evicts live entries to make room. If not, a write that finds no room fails.</summary>
    public bool EvictsEntries { get; set; } = true;

    /// <summary>Does the eviction work for a put of <paramref name="appendedBytes"/>.</summary>
    public void Advance(PartitionBlock* partition, int number, long appendedBytes)
    {
        // The counters that all partitions share are read last.
        bool isReusing = IsReusing(partition);
        bool hasSpares = partition->SpareCount > SpareTarget || partition->SpareCount >= SpareGoal(partition);
        if (hasSpares && !isReusing)
        {
            return;
        }

        bool hasUnusedRoom = HasUnusedRoom;
        if (hasUnusedRoom ? !isReusing : hasSpares)
        {
            return;
        }

        // The work is done in batches, because the buckets of a batch are prefetched together.
        partition->EvictionCredit += appendedBytes * WorkPerAppendedByte;
        if (partition->EvictionCredit < BatchBytes)
        {
            return;
        }

        long credit = partition->EvictionCredit;
        partition->EvictionCredit = 0;
        if (hasUnusedRoom)
        {
            ContinueReuse(partition, number, credit);
        }
        else
        {
            Work(partition, number, credit);
        }
    }

    /// <summary>Returns a segment to open, or <see cref="SegmentPool.None"/> if all remaining segments are pinned.</summary>
    public int TakeSegment(PartitionBlock* partition, int number)
    {
        if (HasUnusedRoom && TakeWithoutEviction(partition, number) is var unused && unused != SegmentPool.None)
        {
            return unused;
        }

        // Bounded: each round evicts one victim, and each victim gains an eighth of a segment or more (I2).
        for (int round = 0; partition->SpareCount < SpareGoal(partition) && round < 16; round++)
        {
            if (!Work(partition, number, long.MaxValue))
            {
                break;
            }
        }

        return _pool.PopSpare(partition, ReserveOf(partition));
    }

    // Returns false if there are too few free segments.
    private bool TryFillSpares(PartitionBlock* partition, int number, int goal)
    {
        while (partition->SpareCount < goal)
        {
            int free = TakeFreeOrGrow(number);
            if (free == SegmentPool.None)
            {
                return false;
            }

            _pool.PushSpare(partition, number, free);
        }

        return true;
    }

    private int TakeFreeOrGrow(int number)
    {
        int free = _pool.TakeFree(number);
        return free == SegmentPool.None && _growth.TryGrow(1) ? _pool.TakeFree(number) : free;
    }

    /// <summary>
    /// Frees one of the partition's segments for all partitions, because a large value needs its place. Drops its entries, or moves them if
    /// they are kept. With <paramref name="keepsUsed"/>, used entries survive as in an eviction; but no spare is added for them.
    /// A partition that cannot give up a segment gets a free one from outside the range in exchange.
    /// </summary>
    public YieldOutcome TryYield(PartitionBlock* partition, int number, int segment, int windowFirst, int windowLength, bool keepsUsed)
    {
        if (partition->Victim == segment + 1)
        {
            FinishVictim(partition, number);
        }

        SegmentHeader* header = _memory.Header(segment);
        if (header->State == SegmentState.Open && header->Partition == number && header->Log < PartitionBlock.LogCount
            && partition->ActiveSegment[header->Log] == segment + 1)
        {
            _log.Seal(partition, number, header->Log);
        }

        // Read once: a free segment, which names partition 0, can join another partition between two reads.
        uint word = Volatile.Read(ref header->StateWord);
        if (SegmentHeader.PartitionOf(word) != number
            || SegmentHeader.StateOf(word) is not (SegmentState.Spare or SegmentState.Sealed)
            || IsPinned(segment, _memory.RunLengthOf(segment)))
        {
            return YieldOutcome.Refused;
        }

        // A spare is handed over, or receives the kept entries. One spare must remain (K2).
        bool isSpare = SegmentHeader.StateOf(word) == SegmentState.Spare;
        bool isKept = !isSpare && SegmentHeader.LogOf(word) == PartitionBlock.LogKeep;
        bool needsSpare = isSpare || (isKept && header->LiveBytes > 0);
        if (isKept && header->LiveBytes > 0 && header->RunLength > 1)
        {
            return YieldOutcome.Refused;
        }

        while (partition->SegmentCount - _memory.RunLengthOf(segment) < StoreLayout.ReservedSegmentsPerPartition
            || (needsSpare && partition->SpareCount <= ReserveOf(partition)))
        {
            int replacement = _pool.TakeFree(number, windowFirst, windowLength);
            if (replacement == SegmentPool.None)
            {
                return YieldOutcome.NeedsReplacement;
            }

            _pool.PushSpare(partition, number, replacement);
        }

        if (isSpare)
        {
            if (!_pool.TryRemoveSpare(partition, segment))
            {
                return YieldOutcome.Refused;
            }

            _pool.GiveBack(partition, segment);
            return YieldOutcome.Yielded;
        }

        FinishVictim(partition, number);
        if (header->State != SegmentState.Sealed)
        {
            return YieldOutcome.Refused;
        }

        if (keepsUsed && !isKept)
        {
            return YieldUnused(partition, number, segment, windowFirst, windowLength);
        }

        _pool.Unlink(partition, segment);
        BeginVictim(partition, segment, VictimMode.Yield);
        FinishVictim(partition, number);
        return IsPutBack(partition, segment) ? YieldOutcome.Refused : YieldOutcome.Yielded;
    }

    private YieldOutcome YieldUnused(PartitionBlock* partition, int number, int segment, int windowFirst, int windowLength)
    {
        int end = Math.Min(segment + _memory.RunLengthOf(segment), windowFirst + windowLength);
        _policy.OnYield(partition, segment);
        _pool.Unlink(partition, segment);
        BeginVictim(partition, segment, VictimMode.Evict);
        FinishVictim(partition, number);
        if (_memory.Header(segment)->State == SegmentState.Sealed)
        {
            return YieldOutcome.Kept;
        }

        // An eviction leaves the partition the segments that it needs as spares. Those of the range are given up nevertheless.
        for (int each = Math.Max(segment, windowFirst); each < end; each++)
        {
            uint word = Volatile.Read(ref _memory.Header(each)->StateWord);
            if (word == SegmentHeader.Word(SegmentState.Spare, 0, number) && _pool.TryRemoveSpare(partition, each))
            {
                _pool.GiveBack(partition, each);
            }
        }

        return YieldOutcome.Yielded;
    }

    /// <summary>Evicts the partition's oldest victims, up to <paramref name="budgetBytes"/> bytes. Returns false if there is no victim.</summary>
    private bool Work(PartitionBlock* partition, int number, long budgetBytes)
    {
        RecycleRetired(partition, number);
        int victims = 0;
        while (budgetBytes > 0 && partition->SpareCount < SpareGoal(partition))
        {
            // Bounded: in a damaged queue, or with readers that use every large value repeatedly, no victim gains room.
            if (partition->Victim == 0 && (victims++ > _memory.SegmentCount || !ChooseVictim(partition, number)))
            {
                return false;
            }

            budgetBytes -= EvictBatch(partition, number);
        }

        return true;
    }

    private void FinishVictim(PartitionBlock* partition, int number)
    {
        while (partition->Victim != 0)
        {
            EvictBatch(partition, number);
        }
    }

    private bool ChooseVictim(PartitionBlock* partition, int number)
    {
        SealExpiredLogs(partition, number);
        if (TryClean(partition, number, _memory.SegmentBytes / 2))
        {
            return true;
        }

        ulong youngest = partition->SealSequence;
        long attempts = Math.Min((long)partition->SmallCount + partition->MainCount, _memory.SegmentCount);
        for (; attempts > 0; attempts--)
        {
            int segment = PickVictim(partition, youngest, out VictimMode mode);
            if (segment == SegmentPool.None)
            {
                return false;
            }

            _pool.Unlink(partition, segment);
            if (IsPinned(segment, _memory.RunLengthOf(segment)))
            {
                // A live process reads it or still writes into it. It becomes the youngest, and another segment is tried.
                _pool.Enqueue(partition, segment);
                continue;
            }

            BeginVictim(partition, segment, mode);
            return true;
        }

        return false;
    }

    private static void BeginVictim(PartitionBlock* partition, int segment, VictimMode mode)
    {
        partition->VictimCursor = 0;
        partition->VictimSurvivorBytes = 0;
        partition->VictimMode = (uint)mode;
        partition->Victim = segment + 1;
        ProtocolHook.Reach(ProtocolStep.VictimChosen);
    }

    // Segments younger than `youngest` were found to be pinned a moment ago.
    private int PickVictim(PartitionBlock* partition, ulong youngest, out VictimMode mode)
    {
        int mostLive = EvictsEntries ? _memory.SegmentBytes / 2 : _memory.SegmentBytes * 3 / 4;
        int garbage = PickGarbage(partition, youngest, _clock.NowMs(), mostLive, out mode);
        if (garbage != SegmentPool.None)
        {
            return garbage;
        }

        mode = VictimMode.Evict;
        return EvictsEntries ? _policy.NextVictim(partition, youngest) : SegmentPool.None; // I4
    }

    // A segment of which everything has expired until then or was removed; else the one with the fewest live bytes, if they are fewer than `mostLive`.
    private int PickGarbage(PartitionBlock* partition, ulong youngest, long until, int mostLive, out VictimMode mode)
    {
        int garbage = SegmentPool.None;

        // The number of segments that a partition usually has. In a huge store, only the oldest of each queue are examined, unless all entries of
        // one segment may have expired.
        int most = partition->MinWholeDeadline <= until ? _memory.SegmentCount : MostLookedAt;
        bool isAll = true;
        long earliestWhole = long.MaxValue;
        for (int queue = 0; queue < 2; queue++)
        {
            int segment = (queue == 0 ? partition->SmallHead : partition->MainHead) - 1;
            for (int i = 0; _pool.IsSegment(segment); i++)
            {
                SegmentHeader* header = _memory.Header(segment);
                if (i == most || header->SealOrder > youngest)
                {
                    isAll = false;
                    break;
                }

                earliestWhole = Math.Min(earliestWhole, header->MaxDeadline);
                if (header->MaxDeadline <= until || header->LiveBytes <= 0)
                {
                    mode = VictimMode.Drop;
                    return segment;
                }

                if (header->LiveBytes < mostLive && header->RunLength == 1)
                {
                    mostLive = header->LiveBytes;
                    garbage = segment;
                }

                segment = header->Next - 1;
            }
        }

        if (isAll)
        {
            partition->MinWholeDeadline = earliestWhole;
        }

        mode = VictimMode.Clean;
        return garbage;
    }

    // Cleans up after each dead owner that pins the segment, because a live owner that also pins it may follow.
    private bool IsPinned(int segment, int runLength)
    {
        int pinOwner;
        while ((pinOwner = _owners.FindPinOwner(segment, runLength)) != 0)
        {
            if (!_cleanup.TryCleanUpDead(pinOwner))
            {
                return true;
            }
        }

        return false;
    }

    // A TTL log without new entries would keep its segment open without limit.
    private void SealExpiredLogs(PartitionBlock* partition, int number)
    {
        long now = 0;
        for (int log = PartitionBlock.FirstTtlLog; log < PartitionBlock.LogKeep; log++)
        {
            int segment = partition->ActiveSegment[log] - 1;
            if (_pool.IsSegment(segment))
            {
                now = now == 0 ? _clock.NowMs() : now;
                if (_memory.Header(segment)->MaxDeadline <= now)
                {
                    _log.Seal(partition, number, log);
                }
            }
        }
    }

    /// <summary>Evicts up to sixteen entries of the victim, and passes those that are marked as garbage. Returns the number of bytes processed.</summary>
    private long EvictBatch(PartitionBlock* partition, int number)
    {
        int segment = partition->Victim - 1;
        if (!_pool.IsSegment(segment))
        {
            partition->Victim = 0;
            return BatchBytes;
        }

        SegmentHeader* header = _memory.Header(segment);
        int runLength = _memory.RunLengthOf(segment);
        bool isRun = runLength > 1;
        long end = isRun ? (long)runLength * _memory.SegmentBytes : Math.Clamp(header->Tail, 0, _memory.SegmentBytes);
        byte* start = _memory.SegmentStart(segment);
        long cursor = Math.Clamp(partition->VictimCursor, 0, end);
        long first = cursor;
        bool isKept = header->Log == PartitionBlock.LogKeep;
        if (header->LiveBytes == 0 && !isKept)
        {
            // No slot names an entry in the segment: LiveBytes can be too high, never too low (EntryAccounting I1).
            cursor = end;
        }

        KeyPlacement* places = stackalloc KeyPlacement[BatchEntries];
        EntryView* entries = stackalloc EntryView[BatchEntries];
        int count = 0;
        bool isDamaged = false;
        for (int passed = 0; count < BatchEntries && passed < MostPassed && cursor + EntryView.HeaderBytes < end; passed++)
        {
            HashIndex.Prefetch(start + cursor + PrefetchDistance);
            var entry = new EntryView(start + cursor);
            if (!entry.IsWithin(end - cursor))
            {
                isDamaged = true;
                break;
            }

            cursor += entry.PaddedBytes;
            if (entry.Type != EntryType.None)
            {
                entries[count] = entry;
                places[count] = _memory.Place(_memory.HashKey(entry.Key, entry.KeyLength, entry.Collection));
                HashIndex.Prefetch(_memory.BucketAt(places[count].Partition, places[count].Primary));
                count++;
            }

            if (isRun)
            {
                cursor = end;
            }
        }

        for (int i = 0; i < count; i++)
        {
            if (places[i].Partition != number)
            {
                continue;
            }

            if (!isKept)
            {
                EvictEntry(partition, number, header, entries[i], places[i]);
            }
            else if (!TryKeepEntry(partition, number, entries[i], places[i]))
            {
                PutBack(partition, segment);
                break;
            }
        }

        // A run that survives was put back into a queue as a whole. So was a segment whose kept entries found no room elsewhere.
        if (partition->Victim == 0)
        {
            return cursor - first;
        }

        partition->VictimCursor = (int)Math.Min(cursor, int.MaxValue);
        if (isDamaged || cursor + EntryView.HeaderBytes >= end)
        {
            ProtocolHook.Reach(ProtocolStep.VictimCleared);
            if ((isDamaged || header->LiveBytes != 0) && isKept && IsNamed(partition, number, segment, runLength))
            {
                // Damaged entries, which only the application may discard (K1). From now on the count shows that cleaning the segment gains no room.
                header->LiveBytes = _memory.SegmentBytes;
                PutBack(partition, segment);
                return Math.Max(cursor - first, EntryView.HeaderBytes);
            }

            if (isDamaged || header->LiveBytes != 0)
            {
                // The segment is damaged, or an operation without the lock removed an entry. The counts of the segment and the partition are wrong.
                ClearSlotsOf(partition, number, segment, runLength);
                _recovery.RecountEntries(partition, number);
            }

            partition->Victim = 0;
            Retire(partition, number, segment);
        }

        return Math.Max(cursor - first, EntryView.HeaderBytes);
    }

    private void EvictEntry(PartitionBlock* partition, int number, SegmentHeader* header, in EntryView entry, in KeyPlacement place)
    {
        long offset = _memory.OffsetOf(entry.Start);
        if (!HashIndex.FindByLocation(_memory, place, offset, out Bucket* bucket, out int slotIndex, out ulong slot))
        {
            return;
        }

        var mode = (VictimMode)partition->VictimMode;
        bool isCleared = EntryAccounting.IsCleared(_memory, partition, entry.Version, entry.Collection);
        bool isExpired = !isCleared && entry.HasDeadline && _clock.HasPassed(entry.Deadline, agoMs: HasUnusedRoom ? ExpiredRetentionMs : 0);
        if (!isCleared && !isExpired && mode < VictimMode.Drop)
        {
            var candidate = new EvictionCandidate(
                entry, place, Bucket.Frequency(bucket, slotIndex), isMain: header->Log == PartitionBlock.LogMain);
            bool isWanted = mode == VictimMode.Clean
                || (_policy.IsUsed(partition, candidate) && !_budgets.IsOver(partition, entry.Collection));
            if (isWanted && TryMove(partition, number, header, candidate, bucket, slotIndex, slot, mode == VictimMode.Clean))
            {
                return;
            }

            _policy.OnEvicted(partition, candidate);
        }

        if (isExpired)
        {
            _departures.OnExpired(partition, entry, Bucket.WasRead(bucket, slotIndex));
        }
        else if (!isCleared)
        {
            _departures.OnEvicted(partition, entry, Bucket.WasRead(bucket, slotIndex));
        }

        Drop(partition, entry, bucket, slotIndex);
    }

    /// <summary>Like Drop, for callers that must know whether they retracted the entry. Returns false if an operation without the lock did.</summary>
    public bool TryDrop(PartitionBlock* partition, in Located located)
    {
        bool isDropped = Bucket.TryReplace(located.Bucket, located.SlotIndex, located.Slot, 0);
        _departures.OnRetracted(partition, located.Entry);
        Bucket.Forget(located.Bucket, located.SlotIndex);
        EntryAccounting.TakeOut(_memory, partition, located.Entry);
        _leases.OnRetracted(partition, located.Entry);
        return isDropped;
    }

    /// <summary>Clears the slot of an entry and subtracts the entry from the counts.</summary>
    public void Drop(PartitionBlock* partition, in EntryView entry, Bucket* bucket, int slotIndex)
    {
        Bucket.Store(bucket, slotIndex, 0);
        Bucket.Forget(bucket, slotIndex);
        EntryAccounting.TakeOut(_memory, partition, entry);
        _leases.OnRetracted(partition, entry);
    }

    // Copies a surviving entry to another segment. The version does not change, because the value does not.
    private bool TryMove(
        PartitionBlock* partition, int number, SegmentHeader* header, in EvictionCandidate candidate, Bucket* bucket, int slotIndex,
        ulong slot, bool isCleaning)
    {
        Promotion promotion = _policy.Promote(candidate, isCleaning);
        if (header->RunLength > 1)
        {
            KeepRun(partition, number, bucket, slotIndex, promotion);
            return true;
        }

        return partition->VictimSurvivorBytes + candidate.Entry.PaddedBytes <= _memory.SegmentBytes / 8 * 7L // I2
            && TryCopy(
                partition, number, candidate.Entry, bucket, slotIndex, slot, promotion.Log, promotion.Frequency, ReserveToKeep(partition));
    }

    private bool TryCopy(
        PartitionBlock* partition, int number, in EntryView entry, Bucket* bucket, int slotIndex, ulong slot, int log, int frequency, int reserve)
    {
        long bytes = entry.PaddedBytes;
        byte* target = _log.TryReserve(partition, log, bytes);
        if (target is null)
        {
            int fresh = _pool.PopSpare(partition, reserve);
            if (fresh == SegmentPool.None)
            {
                return false;
            }

            _log.Seal(partition, number, log);
            _log.Open(partition, number, log, fresh);
            target = _log.TryReserve(partition, log, bytes);
            if (target is null)
            {
                return false;
            }
        }

        Buffer.MemoryCopy(entry.Start, target, bytes, bytes);
        ProtocolHook.Reach(ProtocolStep.SurvivorCopied);
        _log.Commit(partition, log, target, bytes, entry.RemovableAt, entry.HasDeadline ? entry.Deadline : long.MaxValue);

        // Compare-and-swap: an operation without the lock can remove the entry at any time, and the copy must not make it readable again.
        ulong moved = Bucket.Pack(Bucket.TagOf(slot), entry.Version, _memory.OffsetOf(target));
        if (Bucket.TryReplace(bucket, slotIndex, slot, moved))
        {
            _memory.Header(_memory.SegmentAt(target))->LiveBytes += (int)bytes;
            Bucket.SetFrequency(bucket, slotIndex, frequency);
        }

        _memory.Header(_memory.SegmentAt(entry.Start))->LiveBytes -= (int)bytes;
        partition->VictimSurvivorBytes += (int)bytes;
        ProtocolHook.Reach(ProtocolStep.SurvivorMoved);
        return true;
    }

    // Moves a large value that was used. Only its place in the queues changes; nothing is copied.
    private void KeepRun(PartitionBlock* partition, int number, Bucket* bucket, int slotIndex, Promotion promotion)
    {
        int segment = partition->Victim - 1;
        Bucket.SetFrequency(bucket, slotIndex, promotion.Frequency);
        _memory.Header(segment)->StateWord = SegmentHeader.Word(SegmentState.Sealed, promotion.Log, number);
        _pool.Enqueue(partition, segment);
        partition->Victim = 0;
    }

    // The slow path after damage to the segment or to keys in it. Clears the slots that the walk of the segment's entries did not find.
    private void ClearSlotsOf(PartitionBlock* partition, int number, int segment, int runLength)
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
                    Bucket.Store(bucket, slotIndex, 0);
                    partition->Corrupt++;
                }
            }
        }

        _memory.Header(segment)->LiveBytes = 0;
    }

    // Every slot that named the segment is clear. Two later steps must not be visible before that. The first is the reading of the hazard
    // cells: a reader pins, fences and validates its slot, so one of the two sees the other. The second is the reuse of the bytes: otherwise a
    // reader on Arm64 could see new bytes and the old slot. Store-load fence; pairs with OwnerTable.Pin and HashIndex.Validate.
    private void Retire(PartitionBlock* partition, int number, int segment)
    {
        Interlocked.MemoryBarrier();
        SegmentHeader* header = _memory.Header(segment);
        if (IsPinned(segment, _memory.RunLengthOf(segment)))
        {
            header->StateWord = SegmentHeader.Word(SegmentState.Retired, header->Log, number);
            header->Next = partition->RetiredHead;
            partition->RetiredHead = segment + 1;
            return;
        }

        Recycle(partition, number, segment);
    }

    private void Recycle(PartitionBlock* partition, int number, int segment)
    {
        int end = segment + _memory.RunLengthOf(segment);
        for (int each = segment; each < end; each++)
        {
            // A damaged run length can include segments that belong to other partitions or runs.
            if (each != segment
                && (_memory.Header(each)->StateWord != SegmentHeader.Word(SegmentState.RunBody, PartitionBlock.LogSmall, number)
                    || _memory.Header(each)->Next != segment + 1))
            {
                break;
            }

            bool isWanted = partition->SpareCount <= SpareGoal(partition)
                || partition->SegmentCount <= StoreLayout.ReservedSegmentsPerPartition;
            if (isWanted && (VictimMode)partition->VictimMode != VictimMode.Yield)
            {
                _pool.PushSpare(partition, number, each);
            }
            else
            {
                _pool.GiveBack(partition, each);
            }
        }

        ProtocolHook.Reach(ProtocolStep.SegmentRecycled);
    }

    private void RecycleRetired(PartitionBlock* partition, int number)
    {
        int segment = partition->RetiredHead - 1;
        partition->RetiredHead = 0;
        for (int i = 0; i < _memory.SegmentCount && _pool.IsSegment(segment); i++)
        {
            int next = _memory.Header(segment)->Next - 1;
            Retire(partition, number, segment);
            segment = next;
        }
    }
}
