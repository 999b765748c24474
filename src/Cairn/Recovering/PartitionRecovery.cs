using Cairn.Eviction;
using Cairn.Leasing;
using Cairn.Segments;
using Cairn.Steps;
using Cairn.WriteAhead;

namespace Cairn.Recovering;

// Repairs a partition after its lock's holder died, or after an exception left the partition partly changed.
//
// The state that readers see needs no repair: slots are published last and one at a time, so the index is correct after every step.
// Only the bookkeeping can be wrong, and all of it follows from the segment headers and the index:
//
//   1  queues, spares, counts   <- state words and seal orders of the partition's segments
//   2  open segments            <- a log's segment is open exactly if its header says so; its tail is the partition's
//   3  slots                    <- a slot is cleared if it names no entry in a segment of this partition below its tail; slots of damaged
//                                  kept entries stay
//   4  logged writes            <- a record that exists is redone (LogRedo)
//   5  entries, bytes, live     <- counted from the slots
//   6  watermarks               <- a pair that is not plausible counts as "everything is cleared"
//   7  overrun                  <- raised: caches drop the keys of this partition
//
//   I1  Idempotent, and runs under the lock: if the recovering process dies, another one takes over the lock and starts again.
//   I2  It never makes an entry readable that was not readable before.
internal sealed unsafe class PartitionRecovery(StoreMemory memory, SegmentPool pool, LogRedo redo)
{
    // More than the number of versions that removed entries may have had.
    private const ulong VersionsToSkip = 1 << 30;

    public void Run(int number)
    {
        ProtocolHook.Reach(ProtocolStep.RecoveryStarted);
        PartitionBlock* partition = memory.Partition(number);
        memory.RefreshSegmentsEnd();
        bool isVersionLost = partition->Version > PartitionBlock.HighestVersion;
        if (isVersionLost)
        {
            // Near its maximum, the version would soon be exhausted. Watermarks and entries determine the lowest possible version.
            partition->Version = 0;
        }

        DropDistrusted(partition, number);
        RepairWatermarks(partition);
        RebuildQueues(partition, number);
        pool.RevealFree();
        ProtocolHook.Reach(ProtocolStep.RecoveryQueuesRebuilt);
        redo.Run(partition, number);
        RecountEntries(partition, number);
        partition->Version += isVersionLost ? VersionsToSkip : 0;
        partition->Magic = PartitionBlock.ExpectedMagic;
        partition->Recoveries++;

        // Changes may have been published without their ring cells.
        Interlocked.Increment(ref partition->Overrun);
        LeaseSignal.RaiseSilently(partition);
        ProtocolHook.Reach(ProtocolStep.RecoveryFinished);
    }

    /// <summary>
    /// Returns whether the bookkeeping of the partition is plausible, while no thread changes it. Otherwise it needs <see cref="Run"/>. Reads
    /// every segment header.
    /// </summary>
    public bool IsPlausible(int number)
    {
        memory.RefreshSegmentsEnd();
        Span<SegmentSums> sums = stackalloc SegmentSums[StoreLayout.MaxPartitions];
        sums.Clear();
        SumSegments(sums);
        return IsPlausible(number, sums[number]);
    }

    /// <summary>Like the other overload, for a partition whose segments have been counted.</summary>
    public bool IsPlausible(int number, SegmentSums sums)
    {
        PartitionBlock* partition = memory.Partition(number);
        if (partition->Magic != PartitionBlock.ExpectedMagic || partition->OpenCount is < 0 or > PartitionBlock.LogCount
            || partition->Version > PartitionBlock.HighestVersion || partition->SegmentCount != sums.Segments || partition->LiveBytes > sums.LiveBytes)
        {
            return false;
        }

        for (uint collection = 0; collection < StoreLayout.MaxCollections; collection++)
        {
            ulong* pair = PartitionBlock.Watermark(partition, collection);
            if (pair[0] != ~pair[1] || pair[0] > partition->Version)
            {
                return false;
            }
        }

        for (int log = 0; log < PartitionBlock.LogCount; log++)
        {
            int segment = partition->ActiveSegment[log] - 1;
            if (segment == SegmentPool.None)
            {
                continue;
            }

            // With a tail that is too low, new entries would overwrite published ones. With a tail that is not a multiple of 8, no slot could name them.
            int tail = partition->ActiveTail[log];
            if (!pool.IsSegment(segment) || tail < 0 || tail > memory.SegmentBytes || tail % EntryView.Alignment != 0
                || memory.Header(segment)->StateWord != SegmentHeader.Word(SegmentState.Open, log, number)
                || memory.Header(segment)->Tail != tail)
            {
                return false;
            }
        }

        return AreListsPlausible(partition, number);
    }

    /// <summary>Sums up the segment headers by partition. Each word is read once, because other threads can take free segments meanwhile.</summary>
    public void SumSegments(Span<SegmentSums> sums)
    {
        for (int segment = 0; segment < memory.SegmentCount; segment++)
        {
            SegmentHeader* header = memory.Header(segment);
            uint word = Volatile.Read(ref header->StateWord);
            int number = SegmentHeader.PartitionOf(word);
            if (number < memory.PartitionCount && SegmentHeader.StateOf(word) is not (SegmentState.Free or SegmentState.Reserved))
            {
                sums[number].Segments++;
                sums[number].LiveBytes += header->LiveBytes;
            }
        }
    }

    // Checks that every segment of the partition is in one list. Then no link leads to a wrong segment or in a circle.
    private bool AreListsPlausible(PartitionBlock* partition, int number)
    {
        int open = 0;
        for (int log = 0; log < PartitionBlock.LogCount; log++)
        {
            open += partition->ActiveSegment[log] != 0 ? 1 : 0;
        }

        int victims = 0;
        if (partition->Victim != 0)
        {
            int victim = partition->Victim - 1;
            if (!pool.IsSegment(victim) || memory.Header(victim)->State != SegmentState.Sealed || memory.Header(victim)->Partition != number
                || partition->VictimMode > (uint)VictimMode.Yield)
            {
                return false;
            }

            victims = memory.RunLengthOf(victim);
        }

        int spares = CountLinked(partition->SpareHead, SegmentState.Spare, number);
        int retired = CountLinked(partition->RetiredHead, SegmentState.Retired, number);
        int small = CountQueued(partition, partition->SmallHead, partition->SmallTail, PartitionBlock.LogSmall, number);
        int main = CountQueued(partition, partition->MainHead, partition->MainTail, PartitionBlock.LogMain, number);
        int kept = CountQueued(partition, partition->KeepHead, partition->KeepTail, PartitionBlock.LogKeep, number);
        return spares == partition->SpareCount && retired >= 0 && small == partition->SmallCount && main == partition->MainCount
            && kept == partition->KeepCount && open == partition->OpenCount
            && spares + retired + small + main + kept + open + victims == partition->SegmentCount;
    }

    /// <summary>Counts the segments of a list, with all segments of each run; -1 if a link leads to a wrong segment or in a circle.</summary>
    private int CountLinked(int head, SegmentState state, int number)
    {
        int linked = 0;
        for (int link = head; link != 0;)
        {
            if (!TryRead(link, state, number, linked, out SegmentHeader header))
            {
                return -1;
            }

            linked += header.RunLength;
            link = header.Next;
        }

        return linked;
    }

    // Also checks the seal orders, because the evictor stops at a segment that seems younger than the youngest.
    private int CountQueued(PartitionBlock* partition, int head, int tail, int log, int number)
    {
        int queued = 0;
        int last = 0;
        ulong order = 0;
        for (int link = head; link != 0;)
        {
            if (!TryRead(link, SegmentState.Sealed, number, queued, out SegmentHeader header)
                || header.Log != log || header.Previous != last || header.SealOrder <= order || header.SealOrder > partition->SealSequence)
            {
                return -1;
            }

            queued += header.RunLength;
            last = link;
            order = header.SealOrder;
            link = header.Next;
        }

        return last == tail ? queued : -1;
    }

    // Copies the header, so that the checked values are the used ones even if a process overwrites the file.
    private bool TryRead(int link, SegmentState state, int number, int before, out SegmentHeader header)
    {
        int segment = link - 1;
        if (!pool.IsSegment(segment))
        {
            header = default;
            return false;
        }

        header = *memory.Header(segment);
        return header.State == state && header.Partition == number && before < memory.SegmentCount
            && header.RunLength >= 1 && header.RunLength <= memory.SegmentCount - segment;
    }

    // A pair is torn if its writer died between the two stores. Then the first is new and the second old, and neither is above the
    // version. A consistent pair is whole, even if it is above the version, because the version may be damaged. The exception is a
    // pair above the highest possible version: it comes from a clearing after the version was damaged.
    private static bool IsBelievable(PartitionBlock* partition, uint collection)
    {
        ulong* pair = PartitionBlock.Watermark(partition, collection);
        return IsWhole(pair) || Math.Max(pair[0], ~pair[1]) <= partition->Version;
    }

    private static bool IsWhole(ulong* pair) => pair[0] == ~pair[1] && pair[0] <= PartitionBlock.HighestVersion;

    // The slots are cleared before the pair is repaired. If the process dies in between, the next recovery still sees the damaged pair
    // (I1). A new watermark would not suffice, because it depends on the version, which may be damaged too.
    private void DropDistrusted(PartitionBlock* partition, int number)
    {
        bool isAnyDistrusted = false;
        for (uint collection = 0; collection < StoreLayout.MaxCollections; collection++)
        {
            isAnyDistrusted |= !IsBelievable(partition, collection);
        }

        for (int i = 0; isAnyDistrusted && i < memory.Layout.BucketsPerPartition; i++)
        {
            Bucket* bucket = memory.BucketAt(number, i);
            for (int slotIndex = 0; slotIndex < Bucket.Slots; slotIndex++)
            {
                ulong slot = *Bucket.SlotAt(bucket, slotIndex);
                if (slot != 0 && memory.TryView(slot, out EntryView entry) && entry.Collection is var collection
                    && (collection >= StoreLayout.MaxCollections || !IsBelievable(partition, collection)))
                {
                    Bucket.Store(bucket, slotIndex, 0);
                }
            }
        }
    }

    private static void RepairWatermarks(PartitionBlock* partition)
    {
        for (uint collection = 0; collection < StoreLayout.MaxCollections; collection++)
        {
            ulong* pair = PartitionBlock.Watermark(partition, collection);
            if (IsWhole(pair))
            {
                partition->Version = Math.Max(partition->Version, pair[0]);
                continue;
            }

            ulong watermark = IsBelievable(partition, collection) ? Math.Max(pair[0], ~pair[1]) : partition->Version;
            Volatile.Write(ref pair[0], watermark);
            pair[1] = ~watermark;
        }
    }

    private void RebuildQueues(PartitionBlock* partition, int number)
    {
        var sealedSegments = new List<int>();
        partition->SpareHead = 0;
        partition->SpareCount = 0;
        partition->RetiredHead = 0;
        partition->SmallHead = 0;
        partition->SmallTail = 0;
        partition->SmallCount = 0;
        partition->MainHead = 0;
        partition->MainTail = 0;
        partition->MainCount = 0;
        partition->KeepHead = 0;
        partition->KeepTail = 0;
        partition->KeepCount = 0;
        partition->Victim = 0;
        partition->VictimCursor = 0;
        partition->OpenCount = 0;
        partition->SegmentCount = 0;
        partition->Sweep = 0;
        partition->MinWholeDeadline = 0;

        for (int log = 0; log < PartitionBlock.LogCount; log++)
        {
            int segment = partition->ActiveSegment[log] - 1;
            bool isOpen = pool.IsSegment(segment)
                && Volatile.Read(ref memory.Header(segment)->StateWord) == SegmentHeader.Word(SegmentState.Open, log, number);
            if (!isOpen)
            {
                partition->ActiveSegment[log] = 0;
                partition->ActiveTail[log] = 0;
                continue;
            }

            partition->OpenCount++;
            partition->ActiveTail[log] = Math.Clamp(partition->ActiveTail[log], 0, memory.SegmentBytes) & ~(EntryView.Alignment - 1);
            memory.Header(segment)->Tail = partition->ActiveTail[log];
        }

        int count = memory.SegmentCount;
        for (int segment = 0; segment < count; segment++)
        {
            // Read once: a free segment, which names partition 0, can join another partition between two reads.
            SegmentHeader* header = memory.Header(segment);
            uint word = Volatile.Read(ref header->StateWord);
            SegmentState state = SegmentHeader.StateOf(word);
            if (SegmentHeader.PartitionOf(word) != number || state is SegmentState.Free or SegmentState.Reserved)
            {
                continue;
            }

            partition->SegmentCount++;
            switch (state)
            {
                case SegmentState.Open when header->Log < PartitionBlock.LogCount && partition->ActiveSegment[header->Log] == segment + 1:
                    break;

                case SegmentState.Sealed:
                case SegmentState.Open:
                    // An open segment that belongs to no log was being opened or sealed. None or all of its entries were published.
                    header->RunLength = RunLengthByBodies(segment, number);
                    header->Tail = Math.Clamp(header->Tail, 0, memory.SegmentBytes);
                    sealedSegments.Add(segment);
                    break;

                case SegmentState.Spare:
                    pool.PushSpare(partition, number, segment);
                    break;

                case SegmentState.Retired:
                    header->RunLength = RunLengthByBodies(segment, number);
                    header->Next = partition->RetiredHead;
                    partition->RetiredHead = segment + 1;
                    break;

                case SegmentState.RunBody:
                    if (!IsInRun(segment, number))
                    {
                        pool.PushSpare(partition, number, segment);
                    }

                    break;

                default:
                    pool.PushSpare(partition, number, segment);
                    break;
            }
        }

        foreach (int segment in sealedSegments.OrderBy(s => memory.Header(s)->SealOrder))
        {
            SegmentHeader* header = memory.Header(segment);
            header->StateWord = SegmentHeader.Word(SegmentState.Sealed, SegmentLog.QueuedLog(header->Log), number);
            pool.Enqueue(partition, segment);
        }
    }

    // Each body names its head, so the bodies determine the length. A single number could be damaged.
    private int RunLengthByBodies(int head, int number)
    {
        int end = head + 1;
        while (end < memory.SegmentCount && memory.Header(end)->Next == head + 1
            && memory.Header(end)->StateWord == SegmentHeader.Word(SegmentState.RunBody, PartitionBlock.LogSmall, number))
        {
            end++;
        }

        return end - head;
    }

    private bool IsInRun(int segment, int number)
    {
        int head = memory.Header(segment)->Next - 1;
        if (!pool.IsSegment(head) || head >= segment)
        {
            return false;
        }

        SegmentHeader* header = memory.Header(head);
        return header->State is SegmentState.Sealed or SegmentState.Retired && header->Partition == number
            && head + RunLengthByBodies(head, number) > segment;
    }

    /// <summary>Counts the entries that slots name, and clears slots that name none. The caller holds the partition's lock.</summary>
    public void RecountEntries(PartitionBlock* partition, int number)
    {
        partition->ExpiredBytes = 0;
        for (int segment = 0; segment < memory.SegmentCount; segment++)
        {
            uint word = Volatile.Read(ref memory.Header(segment)->StateWord);
            if (SegmentHeader.PartitionOf(word) == number && SegmentHeader.StateOf(word) is not (SegmentState.Free or SegmentState.Reserved))
            {
                partition->ExpiredBytes += memory.Header(segment)->ExpiredBytes;
                memory.Header(segment)->LiveBytes = 0;
                memory.Header(segment)->MinDeadline = long.MaxValue;
            }
        }

        partition->Entries = 0;
        partition->LiveBytes = 0;
        partition->OwnSliding = 0;
        new Span<long>(PartitionBlock.CollectionCounters(partition, 0), 2 * StoreLayout.MaxCollections).Clear();
        for (int i = 0; i < memory.Layout.BucketsPerPartition; i++)
        {
            Bucket* bucket = memory.BucketAt(number, i);
            for (int slotIndex = 0; slotIndex < Bucket.Slots; slotIndex++)
            {
                ulong slot = *Bucket.SlotAt(bucket, slotIndex);
                if (slot == 0)
                {
                    continue;
                }

                bool isEntry = NamesEntry(slot, number, out EntryView entry);
                if (!isEntry || !IsVersionPlausible(partition, entry))
                {
                    if (memory.IsKeptSlot(slot) && IsBelowTail(slot, number))
                    {
                        // A damaged kept entry, which only the application may discard (SegmentEvictor.Keep K1).
                        CountDamaged(partition, slot, isEntry, entry);
                        continue;
                    }

                    Bucket.Store(bucket, slotIndex, 0);
                    partition->Corrupt++;
                    continue;
                }

                Count(partition, entry);
                if (i >= memory.Layout.HomeBuckets)
                {
                    memory.RaiseOverflow(); // In case the mark was damaged.
                }
            }

            ProtocolHook.Reach(ProtocolStep.RecoveryBucketChecked);
        }
    }

    private void Count(PartitionBlock* partition, in EntryView entry)
    {
        long bytes = entry.PaddedBytes;
        SegmentHeader* header = memory.Header(memory.SegmentAt(entry.Start));
        header->LiveBytes += (int)bytes;
        uint collection = entry.Collection;
        bool isCleared = EntryAccounting.IsCleared(memory, partition, entry.Version, collection);
        long removableAt = isCleared && header->Log == PartitionBlock.LogKeep ? 1 : entry.RemovableAt;
        header->MinDeadline = Math.Min(header->MinDeadline, Math.Max(1, removableAt));

        if (isCleared)
        {
            return;
        }

        EntryAccounting.Count(partition, entry, bytes, collection, sign: 1);
    }

    // Counts a damaged entry in its segment, so that the segment does not seem empty. An entry that cannot be parsed is counted nowhere else.
    private void CountDamaged(PartitionBlock* partition, ulong slot, bool isEntry, in EntryView entry)
    {
        partition->Corrupt++;
        if (isEntry)
        {
            Count(partition, entry);
        }
        else
        {
            memory.Header(memory.SegmentOf(slot))->LiveBytes += EntryView.Alignment;
        }
    }

    private bool IsBelowTail(ulong slot, int number)
    {
        int segment = memory.SegmentOf(slot);
        SegmentHeader* header = memory.Header(segment);
        long end = memory.RunLengthOf(segment) > 1 ? memory.SegmentBytes : Math.Clamp(header->Tail, 0, memory.SegmentBytes);
        return header->Partition == number && memory.Base + Bucket.LocationOf(slot) < memory.SegmentStart(segment) + end;
    }

    // A version above the partition's was never assigned, so one of the two is damaged. The entry's checksum shows which one.
    private bool IsVersionPlausible(PartitionBlock* partition, in EntryView entry)
    {
        if (entry.Version <= partition->Version)
        {
            return true;
        }

        if (entry.ValueLength > (uint)memory.MaxValueBytes
            || entry.ComputeChecksum(memory.HashKey(entry.Key, entry.KeyLength, entry.Collection), memory.ChecksumSeed) != entry.Checksum)
        {
            return false;
        }

        partition->Version = entry.Version;
        return true;
    }

    private bool NamesEntry(ulong slot, int number, out EntryView entry)
    {
        if (!memory.TryView(slot, out entry) || entry.Type == EntryType.None)
        {
            return false;
        }

        int segment = memory.SegmentOf(slot);
        SegmentHeader* header = memory.Header(segment);
        uint word = Volatile.Read(ref header->StateWord);
        if (SegmentHeader.PartitionOf(word) != number || SegmentHeader.StateOf(word) is not (SegmentState.Open or SegmentState.Sealed))
        {
            return false;
        }

        int runLength = memory.RunLengthOf(segment);
        long end = runLength > 1
            ? (long)runLength * memory.SegmentBytes
            : Math.Clamp(header->Tail, 0, memory.SegmentBytes);
        return entry.Start - memory.SegmentStart(segment) + entry.PaddedBytes <= end
            && Bucket.StampMatches(slot, entry.Version);
    }
}

/// <summary>The sums of a partition's segment headers.</summary>
internal struct SegmentSums
{
    public int Segments;
    public long LiveBytes;
}
