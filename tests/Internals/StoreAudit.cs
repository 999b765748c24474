using System.Globalization;
using Cairn.Concurrency;
using Cairn.Segments;
using Cairn.Storage;

namespace Cairn.Testing;

/// <summary>
/// Reads every structure of a store at rest and returns the faults. Each segment must be in exactly one place, each slot must name a whole entry of
/// its bucket, and each count must be right. The death of a process can leave deviations until the next writer corrects them. They are reported
/// separately.
/// </summary>
internal sealed unsafe class StoreAudit
{
    private readonly StoreMemory _memory;
    private readonly OwnerTable _owners;
    private readonly List<string> _faults = [];

    private StoreAudit(CairnStore store)
    {
        _memory = store.Engine.Memory;
        _owners = store.Engine.Owners;
        _memory.RefreshSegmentsEnd();
    }

    /// <summary>Returns every fault of a store that is not in use during the call.</summary>
    /// <param name="store">The store.</param>
    /// <param name="areBooksExact">False if operations without the lock can have left counts too high.</param>
    public static IReadOnlyList<string> FindFaults(CairnStore store, bool areBooksExact = true)
    {
        var audit = new StoreAudit(store);
        for (int number = 0; number < audit._memory.PartitionCount; number++)
        {
            audit.CheckPartition(number, areBooksExact);
        }

        audit.CheckFree(areBooksExact);
        GC.KeepAlive(store);
        return audit._faults;
    }

    public static void Check(CairnStore store, bool areBooksExact = true) =>
        Assert.Empty(FindFaults(store, areBooksExact));

    private void CheckPartition(int number, bool areBooksExact)
    {
        PartitionBlock* partition = _memory.Partition(number);
        string name = $"partition {number}";
        Expect(PartitionBlock.ExpectedMagic, partition->Magic, $"{name}: magic");
        Expect(0, PartitionLock.OwnerOf(partition->LockWord), $"{name}: owner of the lock");
        for (uint collection = 0; collection < StoreLayout.MaxCollections; collection++)
        {
            ulong* pair = PartitionBlock.Watermark(partition, collection);
            Expect(~pair[0], pair[1], $"{name}: complement of watermark {collection}");
            if (pair[0] > partition->Version)
            {
                _faults.Add($"{name}: watermark {collection} is above the version");
            }
        }

        CheckSegments(partition, number, name);
        CheckEntries(partition, number, name, areBooksExact);
    }

    private void CheckSegments(PartitionBlock* partition, int number, string name)
    {
        var placed = new HashSet<int>();
        int spares = 0;
        for (int segment = partition->SpareHead - 1; Place(placed, segment, SegmentState.Spare, number, $"{name}: spares");)
        {
            spares++;
            segment = _memory.Header(segment)->Next - 1;
        }

        Expect(spares, partition->SpareCount, $"{name}: spares");
        for (int segment = partition->RetiredHead - 1; Place(placed, segment, SegmentState.Retired, number, $"{name}: retired");)
        {
            PlaceBodies(placed, segment, number, $"{name}: retired");
            segment = _memory.Header(segment)->Next - 1;
        }

        CheckQueue(placed, partition->SmallHead, partition->SmallTail, partition->SmallCount, number, $"{name}: small log");
        CheckQueue(placed, partition->MainHead, partition->MainTail, partition->MainCount, number, $"{name}: main log");
        CheckQueue(placed, partition->KeepHead, partition->KeepTail, partition->KeepCount, number, $"{name}: keep log");
        if (partition->Victim != 0 && Place(placed, partition->Victim - 1, SegmentState.Sealed, number, $"{name}: victim"))
        {
            PlaceBodies(placed, partition->Victim - 1, number, $"{name}: victim");
        }

        int open = 0;
        for (int log = 0; log < PartitionBlock.LogCount; log++)
        {
            int segment = partition->ActiveSegment[log] - 1;
            if (segment >= 0 && Place(placed, segment, SegmentState.Open, number, $"{name}: log {log}"))
            {
                open++;
                Expect(log, _memory.Header(segment)->Log, $"{name}: log of open segment {segment}");
                Expect(partition->ActiveTail[log], _memory.Header(segment)->Tail, $"{name}: tail of open segment {segment}");
            }
        }

        Expect(open, partition->OpenCount, $"{name}: open segments");
        Expect(placed.Count, partition->SegmentCount, $"{name}: segments");
        for (int segment = 0; segment < _memory.SegmentCount; segment++)
        {
            SegmentHeader* header = _memory.Header(segment);
            bool isOwned = header->State is not (SegmentState.Free or SegmentState.Reserved) && header->Partition == number;
            if (isOwned && !placed.Contains(segment))
            {
                _faults.Add($"{name}: segment {segment}, {header->State}, is in no list");
            }
        }
    }

    private void CheckQueue(HashSet<int> placed, int head, int tail, int count, int number, string name)
    {
        int segments = 0;
        int previous = 0;
        ulong order = 0;
        for (int link = head; link != 0 && Place(placed, link - 1, SegmentState.Sealed, number, name);)
        {
            SegmentHeader* header = _memory.Header(link - 1);
            Expect(previous, header->Previous, $"{name}: link back of segment {link - 1}");
            if (header->SealOrder <= order)
            {
                _faults.Add($"{name}: segment {link - 1} is older than the one before it");
            }

            order = header->SealOrder;
            segments += header->RunLength;
            PlaceBodies(placed, link - 1, number, name);
            previous = link;
            link = header->Next;
        }

        Expect(previous, tail, $"{name}: tail");
        Expect(segments, count, $"{name}: segments");
    }

    private void PlaceBodies(HashSet<int> placed, int head, int number, string name)
    {
        for (int segment = head + 1; segment < head + _memory.Header(head)->RunLength; segment++)
        {
            if (Place(placed, segment, SegmentState.RunBody, number, name))
            {
                Expect(head + 1, _memory.Header(segment)->Next, $"{name}: head of run segment {segment}");
            }
        }
    }

    private bool Place(HashSet<int> placed, int segment, SegmentState state, int number, string name)
    {
        if (segment < 0)
        {
            return false;
        }

        if (segment >= _memory.SegmentCount || !placed.Add(segment))
        {
            _faults.Add($"{name}: segment {segment} is beyond the file or linked twice");
            return false;
        }

        SegmentHeader* header = _memory.Header(segment);
        Expect((state, number), (header->State, header->Partition), $"{name}: state and partition of segment {segment}");
        return true;
    }

    private void CheckEntries(PartitionBlock* partition, int number, string name, bool areBooksExact)
    {
        var keys = new HashSet<(string Key, uint Collection)>();
        var liveBytes = new Dictionary<int, long>();
        var entries = new long[StoreLayout.MaxCollections];
        var bytes = new long[StoreLayout.MaxCollections];
        for (int bucketNumber = 0; bucketNumber < _memory.Layout.BucketsPerPartition; bucketNumber++)
        {
            for (int slotIndex = 0; slotIndex < Bucket.Slots; slotIndex++)
            {
                ulong slot = *Bucket.SlotAt(_memory.BucketAt(number, bucketNumber), slotIndex);
                if (slot == 0)
                {
                    continue;
                }

                if (FaultOf(slot, number, bucketNumber, out EntryView entry) is { } fault)
                {
                    _faults.Add($"{name}: bucket {bucketNumber}, slot {slotIndex}: {fault}");
                    continue;
                }

                if (!keys.Add((Convert.ToHexString(new Span<byte>(entry.Key, entry.KeyLength)), entry.Collection)))
                {
                    _faults.Add($"{name}: bucket {bucketNumber}, slot {slotIndex}: the key has two slots");
                }

                int segment = _memory.SegmentOf(slot);
                liveBytes[segment] = liveBytes.GetValueOrDefault(segment) + entry.PaddedBytes;
                if (!EntryAccounting.IsCleared(_memory, partition, entry.Version, entry.Collection))
                {
                    entries[entry.Collection]++;
                    bytes[entry.Collection] += entry.PaddedBytes;
                }
            }
        }

        ExpectCount(entries.Sum(), partition->Entries, areBooksExact, $"{name}: entries");
        ExpectCount(bytes.Sum(), partition->LiveBytes, areBooksExact, $"{name}: bytes");
        for (uint collection = 1; collection < StoreLayout.MaxCollections; collection++)
        {
            long* counters = PartitionBlock.CollectionCounters(partition, collection);
            ExpectCount(entries[collection], counters[0], areBooksExact, $"{name}: entries of collection {collection}");
            ExpectCount(bytes[collection], counters[1], areBooksExact, $"{name}: bytes of collection {collection}");
        }

        for (int segment = 0; segment < _memory.SegmentCount; segment++)
        {
            SegmentHeader* header = _memory.Header(segment);
            if (header->Partition == number && header->State is (SegmentState.Open or SegmentState.Sealed))
            {
                ExpectCount(
                    liveBytes.GetValueOrDefault(segment), header->LiveBytes, areBooksExact, $"{name}: live bytes of segment {segment}");
            }
        }
    }

    private string? FaultOf(ulong slot, int number, int bucketNumber, out EntryView entry)
    {
        if (!_memory.TryView(slot, out entry))
        {
            return "names no place in the file";
        }

        if (entry.Type == EntryType.None || !Bucket.StampMatches(slot, entry.Version))
        {
            return "names no entry";
        }

        int segment = _memory.SegmentOf(slot);
        SegmentHeader* header = _memory.Header(segment);
        bool isKeptValue = entry.Type != EntryType.Lease && _memory.IsKept(entry.Collection);
        if (isKeptValue != (header->Log == PartitionBlock.LogKeep))
        {
            return $"names segment {segment} of log {header->Log} for {(isKeptValue ? "a kept entry" : "one that may be evicted")}";
        }

        long deadline = entry.RemovableAt;
        if (header->MinDeadline > deadline)
        {
            return $"names an entry that is gone at {deadline} in segment {segment}, which says none is before {header->MinDeadline}";
        }

        if (header->Partition != number || header->State is not (SegmentState.Open or SegmentState.Sealed))
        {
            return $"names segment {segment}, {header->State} of partition {header->Partition}";
        }

        long end = header->RunLength > 1 ? (long)header->RunLength * _memory.SegmentBytes : header->Tail;
        if (entry.Start - _memory.SegmentStart(segment) + entry.PaddedBytes > end)
        {
            return "names an entry beyond its segment's tail";
        }

        KeyPlacement place = _memory.Place(_memory.HashKey(entry.Key, entry.KeyLength, entry.Collection));
        if (place.Partition != number || !place.IsAmong(bucketNumber, _memory.Layout.HomeBuckets, _memory.Layout.OverflowBuckets)
            || place.Tag != Bucket.TagOf(slot))
        {
            return "names an entry of another bucket";
        }

        if (bucketNumber >= _memory.Layout.HomeBuckets && !_memory.HasOverflow)
        {
            return "names an entry in an overflow bucket, where no reader looks";
        }

        return entry.ComputeChecksum(place.Hash, _memory.ChecksumSeed) == entry.Checksum ? null : "names a damaged entry";
    }

    private void CheckFree(bool isExact)
    {
        int free = 0;
        for (int segment = 0; segment < _memory.SegmentCount; segment++)
        {
            SegmentHeader* header = _memory.Header(segment);
            free += header->State == SegmentState.Free ? 1 : 0;
            if (header->State == SegmentState.Reserved)
            {
                _faults.Add(
                    $"segment {segment} is reserved by owner {header->Owner}, " +
                    (_owners.IsAlive(header->Owner) ? "who writes no large value" : "who is dead"));
            }
            else if (header->State != SegmentState.Free && header->Partition >= _memory.PartitionCount)
            {
                _faults.Add($"segment {segment}, {header->State}, belongs to partition {header->Partition}");
            }
        }

        ExpectCount(free, Superblock.FreeSegments(_memory.Super), isExact, "free segments");
    }

    // The next writer that relies on a count corrects it if it is too high. A count that is too low would hide something.
    private void ExpectCount(long expected, long found, bool isExact, string what)
    {
        if (found < expected || (isExact && found != expected))
        {
            Expect(expected, found, what);
        }
    }

    private void Expect<T>(T expected, T found, string what)
    {
        if (!EqualityComparer<T>.Default.Equals(expected, found))
        {
            _faults.Add(string.Create(CultureInfo.InvariantCulture, $"{what}: expected {expected}, found {found}"));
        }
    }
}
