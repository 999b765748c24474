using Cairn.Collections;
using Cairn.Concurrency;
using Cairn.Platform;

namespace Cairn.Offline;

// Reads all of a store and compares the parts that must agree. The file is opened for reading, and no lock is taken.
//
//   superblock   collections   owners   partitions and segment headers, each at a moment at which no process holds the lock
//   then, for each partition, its index and its segments (PartitionWalk), and its counters against the entries that were counted; last the log (LogCheck)
//
// The verification distinguishes three cases. A slot and its entry must agree at every moment, so a disagreement is damage, even if the store is in use
// (EntryValidator). Lists and counters agree only while no process holds the partition's lock. So they are read between two equal reads of the lock word, epoch
// included. If the owner of the lock has died, they can be half changed. That is a leftover, which recovery repairs.
internal sealed unsafe class Verifier : IPartitionVisitor, IDisposable
{
    // The maximum number of attempts for a partition in use. After them it is left out.
    private const int Rounds = 100;

    private const long ProgressStepBytes = 1 << 20;

    private readonly StoreImage _image;
    private readonly FindingList _findings;
    private readonly IProgress<StoreProgress>? _progress;
    private readonly CancellationToken _cancellationToken;
    private readonly PartitionWalk _walk;
    private readonly NativeBuffer _headerBytes = new();
    private readonly NativeBuffer _blockBytes = new();
    private readonly HashSet<long> _deadAndDamaged = [];
    private readonly Dictionary<uint, bool> _regions = [];
    private readonly bool _isInUse;
    private bool _hasOverflow;
    private long _bytesDone;
    private long _bytesTold;
    private long[] _liveBytes = [];
    private PartitionCount _count = new();
    private Totals _totals;
    private int _changingSegments;

    private Verifier(
        StoreImage image, FindingList findings, VerifyOptions options, bool isInUse, IProgress<StoreProgress>? progress,
        CancellationToken cancellationToken)
    {
        _image = image;
        _findings = findings;
        _isInUse = isInUse;
        _progress = progress;
        _cancellationToken = cancellationToken;
        _walk = new PartitionWalk(image, options.TimeProvider);
    }

    private bool IsInUse => _isInUse || OwnerCheck.HasOpeningOrGate(_image);

    private SegmentHeader* Headers => (SegmentHeader*)_headerBytes.Start;

    public static VerifyReport Verify(
        string path, VerifyOptions options, IProgress<StoreProgress>? progress, CancellationToken cancellationToken)
    {
        long started = Stopwatch.GetTimestamp();
        StorePlatform platform = HostPlatform.Current;
        using StoreFile file = platform.OpenReadOnly(path);
        using var page = new NativeBuffer();
        var findings = new FindingList(options.MaxFindings);
        var report = new VerifyReport { Path = file.Path, FileBytes = file.Length, Findings = [] };
        StoreImage? image = SuperblockCheck.Read(file, page, findings);
        if (image is not null)
        {
            bool wasInUse = OwnerCheck.HasOpeningOrGate(image);
            using var verifier = new Verifier(image, findings, options, wasInUse, progress, cancellationToken);
            report = verifier.Run((Superblock*)page.Start, platform.BootId, report);
            LogCheck.Check(platform, image, file.Path, (Superblock*)page.Start, findings, cancellationToken);
            if (image.DiskError is { } error && findings.Count(VerifySeverity.Damage) == 0)
            {
                findings.Damage(VerifyArea.File, 0, $"The disk failed to read a part of the file once. Check the disk: {error}.");
            }
        }

        return report with
        {
            Duration = Stopwatch.GetElapsedTime(started),
            Findings = findings.Listed,
            DamageCount = findings.Count(VerifySeverity.Damage),
            LeftoverCount = findings.Count(VerifySeverity.Leftover),
            NoteCount = findings.Count(VerifySeverity.Note),
        };
    }

    public void Dispose()
    {
        _walk.Dispose();
        _headerBytes.Dispose();
        _blockBytes.Dispose();
    }

    void IPartitionVisitor.OnEntry(
        in EntryView entry, in SlotPlace at, int frequency, in SegmentHeader header, int segment, in EntryValidation validation)
    {
        switch (validation.Validity)
        {
            case EntryValidity.Damaged:
                _totals.Damaged++;
                _findings.Damage(validation.Area, validation.Offset, validation.Problem);
                break;
            case EntryValidity.Cleared:
                _totals.Cleared++;
                break;
            case EntryValidity.Expired:
                _totals.Expired++;
                break;
            case EntryValidity.Lease:
                _totals.Leases++;
                break;
            case EntryValidity.Live:
                _totals.Live++;
                break;
            default:
                _findings.Note(
                    VerifyArea.Entries, validation.Offset, $"The entry is of type {(byte)entry.Type}, which this version of Cairn does not know.");
                break;
        }

        if (validation.Validity != EntryValidity.Damaged)
        {
            CheckRegion(entry, at, header, segment);
        }

        _liveBytes[segment] += entry.PaddedBytes;
        if (entry.Collection < StoreLayout.MaxCollections && entry.Version > *PartitionBlock.Watermark(_walk.Block, entry.Collection))
        {
            _count.Add(entry.Collection, entry.PaddedBytes);
        }
    }

    // The eviction of a segment must not remove kept entries, and the cleaning of another segment must not keep entries that can be evicted.
    private void CheckRegion(in EntryView entry, in SlotPlace at, in SegmentHeader header, int segment)
    {
        bool isInKeepLog = header.Log == PartitionBlock.LogKeep;
        bool isKept = entry.Type != EntryType.Lease && IsKept(entry.Collection);
        if (isKept != isInKeepLog)
        {
            _findings.Damage(
                VerifyArea.Segments, _image.HeaderOffset(segment),
                $"Segment {segment} is in log {header.Log}, but holds an entry of collection {entry.Collection}, whose entries {(isKept ? "are kept" : "may be evicted")}.");
        }

        if (at.Bucket >= _image.Layout.HomeBuckets && !_hasOverflow)
        {
            // The flag is read again. It is stored before the first slot of an overflow bucket.
            _hasOverflow = !_image.TryReadUInt32(OffsetOfOverflow, out uint flag) || flag != 0;
            if (!_hasOverflow)
            {
                _findings.Damage(
                    VerifyArea.Superblock, OffsetOfOverflow, $"{at}, an overflow bucket, is in use, but the superblock says that none is. Readers do not search there.");
                _hasOverflow = true; // One finding is enough.
            }
        }

        if (isInKeepLog && !_isInUse && header.MinDeadline > entry.RemovableAt)
        {
            _findings.Leftover(
                VerifyArea.Segments, _image.HeaderOffset(segment),
                $"The header of segment {segment} says that nothing in it expires before {header.MinDeadline}; an entry does, at {entry.RemovableAt}.");
        }
    }

    private bool IsKept(uint collection)
    {
        if (collection == 0)
        {
            return false;
        }

        if (!_regions.TryGetValue(collection, out bool isKept))
        {
            var record = default(CollectionRecord);
            isKept = _image.TryRead(
                _image.Layout.CollectionsOffset + ((long)collection * StoreLayout.CollectionRecordBytes), &record, StoreLayout.CollectionRecordBytes)
                && record.Region == StoreRegion.Keep;
            _regions.Add(collection, isKept);
        }

        return isKept;
    }

    private static long OffsetOfOverflow { get; } =
        System.Runtime.InteropServices.Marshal.OffsetOf<Superblock>(nameof(Superblock.HasOverflow));

    void IPartitionVisitor.OnBadSlot(in SlotPlace at, in EntryValidation validation)
    {
        _totals.Damaged++;
        _deadAndDamaged.Remove(validation.Offset);
        _findings.Damage(validation.Area, validation.Offset, validation.Problem);
    }

    void IPartitionVisitor.OnDeadEntry(in EntryView entry, long offset, bool isWhole)
    {
        _totals.Dead++;
        if (!isWhole)
        {
            _deadAndDamaged.Add(offset);
        }
    }

    void IPartitionVisitor.OnUnparseable(int segment, long offset, string problem) =>
        _findings.Damage(VerifyArea.Entries, offset, problem);

    void IPartitionVisitor.OnUnreadable(VerifyArea area, long offset, string problem) => _findings.Damage(area, offset, problem);

    void IPartitionVisitor.OnChanging(int segment) => _changingSegments++;

    void IPartitionVisitor.OnSegmentDone(long bytes)
    {
        _bytesDone += bytes;
        if (_bytesDone - _bytesTold >= ProgressStepBytes)
        {
            Tell();
        }
    }

    private VerifyReport Run(Superblock* super, string bootId, VerifyReport report)
    {
        SuperblockCheck.CheckState(super, _image, bootId, _findings, _cancellationToken);
        CollectionCheck.Check(_image, super->CollectionCount, _findings);
        OwnerCheck.Check(_image, _findings);
        int segments = _image.SegmentCount;
        _liveBytes = new long[_image.Layout.MaxSegments];
        if (CheckHeaders(super, segments))
        {
            CheckLists(segments);
            for (int partition = 0; partition < _image.Layout.PartitionCount; partition++)
            {
                CheckEntries(partition, segments);
            }

            Tell();
        }

        int openings = OwnerCheck.Check(_image, new FindingList(0));
        if (_changingSegments > 0)
        {
            _findings.Note(
                VerifyArea.Entries, _image.Layout.SegmentsOffset,
                $"{_changingSegments} segments changed each time they were read; their entries were looked at one by one.");
        }

        return report with
        {
            WasInUse = _isInUse || openings > 0,
            Openings = openings,
            Partitions = _image.Layout.PartitionCount,
            Segments = segments,
            Collections = Math.Clamp(super->CollectionCount, 0, StoreLayout.MaxCollections - 1),
            IndexSlots = (long)_image.Layout.PartitionCount * _image.Layout.BucketsPerPartition * StoreLayout.SlotsPerBucket,
            Entries = _totals.Live,
            ExpiredEntries = _totals.Expired,
            ClearedEntries = _totals.Cleared,
            Leases = _totals.Leases,
            DamagedEntries = _totals.Damaged,
            DeadEntries = _totals.Dead,
            BytesRead = _image.BytesRead,
        };
    }

    // Checks the headers one by one, even if processes change them: a state word is changed in one step.
    private bool CheckHeaders(Superblock* super, int segments)
    {
        if (!TryReadHeaders(segments))
        {
            return false;
        }

        int free = 0;
        for (int segment = 0; segment < segments; segment++)
        {
            SegmentHeader header = Headers[segment];
            free += header.State == SegmentState.Free ? 1 : 0;
            bool belongsToPartition = header.State is not (SegmentState.Free or SegmentState.Reserved);
            if (header.State > SegmentState.RunBody || (belongsToPartition && header.Partition >= _image.Layout.PartitionCount))
            {
                _findings.Damage(
                    VerifyArea.Segments, _image.HeaderOffset(segment),
                    $"The state of segment {segment} is 0x{header.StateWord:X8}: state {(byte)header.State} of partition {header.Partition}, which does not exist.");
            }
            else if (header.State == SegmentState.Reserved && !OwnerCheck.IsAlive(_image, header.Owner) && IsStillThere(segment, header))
            {
                _findings.Leftover(
                    VerifyArea.Segments, _image.HeaderOffset(segment),
                    $"Segment {segment} is reserved by owner slot {header.Owner}, whose process died. The next holder of the slot frees it.");
            }
        }

        if (Superblock.FreeSegments(super) != free && !IsInUse)
        {
            _findings.Leftover(
                VerifyArea.Superblock, System.Runtime.InteropServices.Marshal.OffsetOf<Superblock>(nameof(Superblock.FreeWord)),
                $"The superblock counts {Superblock.FreeSegments(super)} free segments; there are {free}. The next opening counts them again.");
        }

        return true;
    }

    private bool IsStillThere(int segment, SegmentHeader header) =>
        _image.TryReadHeader(segment, out SegmentHeader again) && again.StateWord == header.StateWord;

    private bool TryReadHeaders(int segments)
    {
        long bytes = (long)segments * StoreLayout.SegmentHeaderBytes;
        if (_image.TryRead(_image.Layout.SegmentHeadersOffset, _headerBytes.Reserve(bytes), bytes, _cancellationToken))
        {
            return true;
        }

        _findings.Damage(VerifyArea.Segments, _image.Layout.SegmentHeadersOffset, $"The segment headers cannot be read: {_image.Failure}.");
        return false;
    }

    private void CheckLists(int segments)
    {
        var check = new SegmentListCheck(_image);
        var left = new List<int>(Enumerable.Range(0, _image.Layout.PartitionCount));
        for (int round = 0; round < Rounds && left.Count > 0; round++)
        {
            _cancellationToken.ThrowIfCancellationRequested();
            if (round > 0)
            {
                Thread.Yield();
            }

            left.RemoveAll(partition => TryCheckLists(check, partition, segments));
        }

        foreach (int partition in left)
        {
            _findings.Note(
                VerifyArea.Partitions, _image.PartitionOffset(partition),
                $"Partition {partition} was written to each of the {Rounds} times it was looked at; its lists were not compared.");
        }
    }

    // Returns true if the partition is done: it was read at one moment, or it cannot be read.
    private bool TryCheckLists(SegmentListCheck check, int partition, int segments)
    {
        if (!_image.TryReadUInt32(LockOffset(partition), out uint before))
        {
            return true; // The walk will report it.
        }

        var block = (PartitionBlock*)_blockBytes.Reserve(PartitionBlock.RingOffset);
        if (!_image.TryRead(_image.PartitionOffset(partition), block, PartitionBlock.RingOffset) || !TryReadHeaders(segments))
        {
            return true;
        }

        if (!IsQuiet(partition, before, out bool isHalfChanged))
        {
            return false;
        }

        if (block->Magic != PartitionBlock.ExpectedMagic)
        {
            _findings.Damage(
                VerifyArea.Partitions, _image.PartitionOffset(partition),
                $"Partition {partition} does not begin with its mark: 0x{block->Magic:X8} instead of 0x{PartitionBlock.ExpectedMagic:X8}.");
        }

        if (isHalfChanged)
        {
            _findings.Leftover(
                VerifyArea.Partitions, LockOffset(partition),
                $"Partition {partition} is locked by owner slot {PartitionLock.OwnerOf(before)}, whose process died. The next writer recovers it.");
        }

        foreach ((VerifyArea area, long offset, string text) in check.Check(block, Headers, segments, partition))
        {
            _findings.Add(isHalfChanged ? VerifySeverity.Leftover : VerifySeverity.Damage, area, offset, text);
        }

        return true;
    }

    /// <summary>Returns whether no process has held the partition's lock since its word was <paramref name="before"/>.</summary>
    private bool IsQuiet(int partition, uint before, out bool isHalfChanged)
    {
        int owner = PartitionLock.OwnerOf(before);
        isHalfChanged = owner != 0;
        return (owner == 0 || !OwnerCheck.IsAlive(_image, owner))
            && _image.TryReadUInt32(LockOffset(partition), out uint after) && after == before;
    }

    private long LockOffset(int partition) =>
        _image.PartitionOffset(partition) + System.Runtime.InteropServices.Marshal.OffsetOf<PartitionBlock>(nameof(PartitionBlock.LockWord));

    private void CheckEntries(int partition, int segments)
    {
        _image.TryReadUInt32(LockOffset(partition), out uint before);
        if (!TryReadHeaders(segments) || !_walk.TryBegin(partition, this, _cancellationToken))
        {
            return;
        }

        _count = new PartitionCount();
        _deadAndDamaged.Clear();

        // If the store is in use, a segment can have belonged to another partition during that partition's walk.
        _liveBytes.AsSpan().Clear();
        for (int segment = 0; segment < segments; segment++)
        {
            SegmentHeader header = Headers[segment];
            if (header.Partition == partition && header.State is SegmentState.Open or SegmentState.Sealed or SegmentState.Retired)
            {
                _walk.Walk(partition, segment, this, _cancellationToken);
            }
        }

        _walk.WalkRest(partition, this, _cancellationToken);
        if (!IsInUse)
        {
            foreach (long offset in _deadAndDamaged)
            {
                _findings.Leftover(
                    VerifyArea.Entries, offset,
                    "An entry that no slot names has a wrong checksum: an unfinished write, or damage to garbage. It disappears when its segment is used again.");
            }
        }

        if (IsQuiet(partition, before, out bool isHalfChanged))
        {
            CheckCounters(partition, segments, isHalfChanged);
        }
        else
        {
            _findings.Note(
                VerifyArea.Partitions, _image.PartitionOffset(partition),
                $"Partition {partition} was written to while it was read; its counters were not compared.");
        }
    }

    // An operation without the lock retracts an entry and does not change the counters (EntryAccounting I1). Then the counters are too high. The difference is
    // at most the number of such operations and damaged entries.
    private void CheckCounters(int partition, int segments, bool isHalfChanged)
    {
        PartitionBlock* block = _walk.Block;
        long excused = block->Dropped + block->Corrupt;
        Compare("entries", block->Entries, _count.Entries);
        Compare("bytes", block->LiveBytes, _count.Bytes);
        for (uint collection = 1; collection < StoreLayout.MaxCollections; collection++)
        {
            long* counters = PartitionBlock.CollectionCounters(block, collection);
            Compare($"entries in collection {collection}", counters[0], _count.EntriesOf(collection));
            Compare($"bytes in collection {collection}", counters[1], _count.BytesOf(collection));
        }

        for (int segment = 0; segment < segments; segment++)
        {
            SegmentHeader header = Headers[segment];
            if (header.Partition == partition && header.State is SegmentState.Open or SegmentState.Sealed)
            {
                Compare($"live bytes in segment {segment}", header.LiveBytes, _liveBytes[segment]);
            }
        }

        void Compare(string what, long recorded, long counted)
        {
            if (recorded != counted)
            {
                bool isExcused = isHalfChanged || (recorded > counted && excused > 0);
                _findings.Add(
                    isExcused ? VerifySeverity.Leftover : VerifySeverity.Damage, VerifyArea.Partitions, _image.PartitionOffset(partition),
                    $"Partition {partition} records {recorded:N0} {what}; there are {counted:N0}.");
            }
        }
    }

    private void Tell()
    {
        _bytesTold = _bytesDone;
        long total = (long)_image.SegmentCount * _image.Layout.SegmentBytes;
        _progress?.Report(new StoreProgress("reading", Math.Min(_bytesDone, total), total));
    }

    private struct Totals
    {
        public long Live;
        public long Expired;
        public long Cleared;
        public long Leases;
        public long Damaged;
        public long Dead;
    }

    /// <summary>The counts of one partition's entries.</summary>
    private sealed class PartitionCount
    {
        private readonly long[] _counts = new long[2 * StoreLayout.MaxCollections];

        public long Entries { get; private set; }

        public long Bytes { get; private set; }

        public long EntriesOf(uint collection) => _counts[2 * collection];

        public long BytesOf(uint collection) => _counts[(2 * collection) + 1];

        public void Add(uint collection, long bytes)
        {
            Entries++;
            Bytes += bytes;
            if (collection < StoreLayout.MaxCollections)
            {
                _counts[2 * collection]++;
                _counts[(2 * collection) + 1] += bytes;
            }
        }
    }
}
