using System.Runtime.ConstrainedExecution;
using Cairn.Platform;

namespace Cairn.Storage;

// The mapped file, seen through its layout. This is the only place that turns numbers from the file into addresses.
//
//   I1  An address is formed only from a number that was checked against the layout. So a damaged file, or another process that writes garbage into
//       it, causes misses and never a fault.
//   I2  The mapping outlives every operation. Only the finalizer releases it, when no operation can reach this object any more; Dispose never does. So
//       operations need no reference count; each ends with GC.KeepAlive. The finalizer is a critical one, which runs after the finalizers of pinned
//       values that were not disposed.
internal sealed unsafe class StoreMemory : CriticalFinalizerObject
{
    private readonly MappedRegion _region;
    private readonly StoreFile _file;
    private readonly bool _ownsFile;
    private readonly byte* _partitions;
    private readonly byte* _owners;
    private readonly SegmentHeader* _segmentHeaders;
    private readonly byte* _ghosts;
    private readonly byte* _index;
    private readonly byte* _base;
    private readonly int _partitionBlockBytes;
    private readonly int _partitionShift;
    private readonly int _bucketsPerPartition;
    private readonly int _homeBuckets;
    private readonly long _segmentsStart;
    private readonly int _segmentShift;

    // A hint for the garbage collector that an abandoned mapping is worth a collection.
    private const long AbandonedPressureBytes = 16L << 20;

    // Null if all of the file has its space.
    private readonly FileBacking? _backing;

    private bool _isAbandoned;

    // One bit for each collection whose entries are kept.
    private ulong _keptLow;
    private ulong _keptHigh;

    // It only grows. It is read without a lock: a stale value costs one call of RefreshSegmentsEnd.
    private long _segmentsEnd;

    /// <summary>Creates the view of a file through a mapping.</summary>
    /// <param name="file">The store's file.</param>
    /// <param name="region">A mapping of the file. This object owns it.</param>
    /// <param name="layout">The layout of the file.</param>
    /// <param name="ownsFile">True if this object also closes the file.</param>
    public StoreMemory(StoreFile file, MappedRegion region, StoreLayout layout, bool ownsFile = true)
    {
        _ownsFile = ownsFile;
        _file = file;
        _region = region;
        Layout = layout;
        _base = region.Address;
        _partitions = _base + layout.PartitionsOffset;
        _owners = _base + layout.OwnersOffset;
        _segmentHeaders = (SegmentHeader*)(_base + layout.SegmentHeadersOffset);
        _ghosts = _base + layout.GhostsOffset;
        _index = _base + layout.IndexOffset;
        _partitionBlockBytes = layout.PartitionBlockBytes;
        _partitionShift = KeyPlacement.PartitionShift(layout.PartitionCount);
        _bucketsPerPartition = layout.BucketsPerPartition;
        _homeBuckets = layout.HomeBuckets;
        _segmentsStart = layout.SegmentsOffset;
        _segmentShift = System.Numerics.BitOperations.Log2((uint)layout.SegmentBytes);
        KeySeed = KeyHash.KeySeedOf(Super->HashSeed);
        ChecksumSeed = KeyHash.ChecksumSeedOf(Super->HashSeed);
        MaxValueBytes = layout.MaxValueBytes;
        RefreshSegmentsEnd();
        if (_segmentsEnd < layout.FewestSegmentsEnd)
        {
            // The opening has seen a valid number, so another process is overwriting the file. Without any segment no bound would hold (I1).
            throw layout.WrongSegmentCount(file.Path, Super->SegmentCount);
        }

        _backing = file.HasHoles ? new FileBacking(file, region, layout) : null;
        RefreshRegions();
    }

    ~StoreMemory()
    {
        _region.Dispose();
        if (_ownsFile)
        {
            _file.Dispose();
        }

        if (_isAbandoned)
        {
            GC.RemoveMemoryPressure(AbandonedPressureBytes);
        }
    }

    public StoreLayout Layout { get; }

    public StoreFile File => _file;

    public MappedRegion Region => _region;

    public byte* Base => _base;

    public Superblock* Super => (Superblock*)_base;

    public ulong KeySeed { get; }

    public ulong ChecksumSeed { get; }

    public int MaxValueBytes { get; }

    public int PartitionCount => Layout.PartitionCount;

    public int SegmentBytes => Layout.SegmentBytes;

    /// <summary>Gets the number of segments that exist now. It is never larger than the file's length allows.</summary>
    public int SegmentCount => (int)((Volatile.Read(ref _segmentsEnd) - _segmentsStart) >> _segmentShift);

    public SegmentHeader* Headers => _segmentHeaders;

    /// <summary>Gets whether the file takes its space as it fills, and the disk had no room when space was needed last.</summary>
    public bool IsDiskFull => _backing is { IsDiskFull: true };

    /// <summary>Gives segments their space before they are used (FileBacking I1). Returns false if the disk has no room.</summary>
    public bool TryBackSegments(int first, int count = 1) =>
        _backing is not { } backing || backing.TryBack(_segmentsStart + ((long)first << _segmentShift), (long)count << _segmentShift);

    /// <summary>Gives a bucket of the index or of the ghosts its space before it is first written (FileBacking I1).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryBackBucket(void* bucket) => _backing is not { } backing || backing.TryBack((byte*)bucket - _base, StoreLayout.BucketBytes);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public PartitionBlock* Partition(int partition) =>
        (PartitionBlock*)(_partitions + ((long)partition * _partitionBlockBytes));

    public OwnerRecord* Owner(int slot) => (OwnerRecord*)(_owners + ((long)(slot - 1) * Layout.OwnerRecordBytes));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public SegmentHeader* Header(int segment) => _segmentHeaders + segment;

    public byte* SegmentStart(int segment) => _base + _segmentsStart + ((long)segment << _segmentShift);

    public byte* CollectionRecord(int collection) =>
        _base + Layout.CollectionsOffset + ((long)collection * StoreLayout.CollectionRecordBytes);

    /// <summary>
    /// Returns whether the collection's entries are kept. The answer is known for every collection that was opened through this object. A collection's
    /// region never changes, so an answer that was read once stays right, even if the record is damaged later.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool IsKept(uint collection) =>
        collection != 0 && collection < StoreLayout.MaxCollections
        && (((collection < 64 ? _keptLow : _keptHigh) >> (int)(collection & 63)) & 1) != 0;

    /// <summary>Returns whether the slot leads to a segment of the keep log. The entry there need not be valid.</summary>
    public bool IsKeptSlot(ulong slot)
    {
        int segment = SegmentOf(slot);
        if (Bucket.LocationOf(slot) < _segmentsStart || (uint)segment >= (uint)SegmentCount)
        {
            return false;
        }

        uint word = Volatile.Read(ref Header(segment)->StateWord);
        if (SegmentHeader.StateOf(word) == SegmentState.RunBody)
        {
            return false; // Slots lead to the head of a run.
        }

        return SegmentHeader.LogOf(word) == PartitionBlock.LogKeep
            && SegmentHeader.StateOf(word) is SegmentState.Open or SegmentState.Sealed;
    }

    /// <summary>Returns the region in the collection's record.</summary>
    public StoreRegion RegionOf(uint collection) => ((CollectionRecord*)CollectionRecord((int)collection))->Region;

    /// <summary>Reads the regions of the present collections.</summary>
    public void RefreshRegions()
    {
        ulong low = 0;
        ulong high = 0;
        int count = Math.Clamp(Volatile.Read(ref Super->CollectionCount), 0, StoreLayout.MaxCollections - 1);
        for (int number = 1; number <= count; number++)
        {
            bool isKept = RegionOf((uint)number) == StoreRegion.Keep;
            (number < 64 ? ref low : ref high) |= (isKept ? 1UL : 0) << (number & 63);
        }

        _keptLow = low;
        _keptHigh = high;
    }

    /// <summary>
    /// Returns the number of segments in the run that starts here, never more than there are (I1). 1 for an ordinary segment.
    /// </summary>
    public int RunLengthOf(int segment)
    {
        int length = Header(segment)->RunLength;
        if (length > SegmentCount - segment)
        {
            RefreshSegmentsEnd(); // The run can reach into segments that another process has just added.
        }

        return Math.Clamp(length, 1, Math.Max(1, SegmentCount - segment));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public KeyPlacement Place(ulong hash) => new(hash, _partitionShift, _homeBuckets);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Bucket* BucketAt(int partition, int bucket) =>
        (Bucket*)(_index + ((((long)partition * _bucketsPerPartition) + bucket) * StoreLayout.BucketBytes));

    /// <summary>Gets whether overflow buckets can contain entries. Acquire; pairs with <see cref="RaiseOverflow"/>.</summary>
    public bool HasOverflow => Volatile.Read(ref Super->HasOverflow) != 0;

    /// <summary>
    /// Sets HasOverflow before the first entry is put into an overflow bucket, so that readers search there. A reader that does not see it yet misses an
    /// entry. The writer of that entry still holds the lock, so its write has not returned.
    /// </summary>
    public void RaiseOverflow()
    {
        if (!HasOverflow)
        {
            Volatile.Write(ref Super->HasOverflow, 1);
        }
    }

    /// <summary>Gets whether a client has chosen the version of an entry. Acquire; pairs with <see cref="RaiseChosenVersions"/>.</summary>
    public bool HasChosenVersions => Volatile.Read(ref Super->HasChosenVersions) != 0;

    /// <summary>Sets HasChosenVersions before the first entry with a version that a client chose is written.</summary>
    public void RaiseChosenVersions()
    {
        if (!HasChosenVersions)
        {
            Volatile.Write(ref Super->HasChosenVersions, 1);
        }
    }

    /// <summary>Returns one of the two overflow buckets of a key.</summary>
    public Bucket* OverflowBucket(in KeyPlacement place, int choice) =>
        BucketAt(place.Partition, place.OverflowBucket(choice, _homeBuckets, _bucketsPerPartition - _homeBuckets));

    public ushort* GhostBucket(int partition, int bucket) =>
        (ushort*)(_ghosts + ((((long)partition * Layout.GhostBucketsPerPartition) + bucket) * StoreLayout.GhostBucketBytes));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong HashKey(byte* key, int length, uint collection) => KeyHash.OfKey(key, length, collection, KeySeed);

    /// <summary>
    /// Returns the entry to which a slot leads, if its location is in the segments and the entry ends within them (I1).
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryView(ulong slot, out EntryView entry)
    {
        long offset = Bucket.LocationOf(slot);
        long end = _segmentsEnd;

        // The comparison is unsigned: an offset below the segments wraps to a huge number. The smallest entry is padded to 24 bytes.
        if ((ulong)(offset - _segmentsStart) > (ulong)(end - _segmentsStart - 24))
        {
            return TryViewSlow(offset, out entry);
        }

        // The slow path is also needed for an entry that ends beyond the known segments. It can be a run in segments that another process has added.
        entry = new EntryView(_base + offset);
        return entry.IsWithin(end - offset) || TryViewSlow(offset, out entry);
    }

    /// <summary>
    /// Returns the start of a slot's entry, and the number of bytes up to the end of the segments. Null if the slow path is needed.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public byte* TryLocate(ulong slot, out long available)
    {
        long offset = Bucket.LocationOf(slot);
        available = _segmentsEnd - offset;
        return (ulong)(offset - _segmentsStart) > (ulong)(_segmentsEnd - _segmentsStart - 24) ? null : _base + offset;
    }

    public long OffsetOf(byte* address) => address - _base;

    public int SegmentOf(ulong slot) => (int)((Bucket.LocationOf(slot) - _segmentsStart) >> _segmentShift);

    public int SegmentAt(byte* address) => (int)((address - _base - _segmentsStart) >> _segmentShift);

    /// <summary>Notices segments that another process has added. It checks the file's length and does not trust the superblock alone.</summary>
    public void RefreshSegmentsEnd()
    {
        int counted = Math.Clamp(Volatile.Read(ref Super->SegmentCount), 0, Layout.MaxSegments);
        long end = _segmentsStart + ((long)counted << _segmentShift);
        if (end > Volatile.Read(ref _segmentsEnd) && end + StoreLayout.GuardBytes <= _file.Length)
        {
            Volatile.Write(ref _segmentsEnd, end);
        }
    }

    /// <summary>Flushes the first bytes of a store's file to the disk, and also its length if the file is given.</summary>
    /// <exception cref="StoreException">
    /// The disk has failed. The system then takes the pages for written, and a later flush would succeed, although the disk does not have them. So this is
    /// recorded, and the closing of the store writes every page again.
    /// </exception>
    public static void Flush(MappedRegion region, long bytes, StoreFile? file = null)
    {
        try
        {
            region.Flush(0, bytes);
            file?.FlushData();
        }
        catch (StoreException)
        {
            Volatile.Write(ref ((Superblock*)region.Address)->HasUnwrittenPages, 1);
            throw;
        }
    }

    /// <summary>Flushes the first page, which has the state of the store and the marks of the log.</summary>
    public void FlushSuperblock() => Flush(_region, StoreLayout.SuperblockBytes);

    /// <summary>Closes the file and leaves the mapping to the finalizer (I2).</summary>
    public void Abandon()
    {
        _isAbandoned = true;
        GC.AddMemoryPressure(AbandonedPressureBytes);
        _file.CloseKeepingMappings();
    }

    public ulong WatermarkOf(PartitionBlock* partition, uint collection) =>
        Volatile.Read(ref *PartitionBlock.Watermark(partition, collection));

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryViewSlow(long offset, out EntryView entry)
    {
        if (Super->SegmentCount > SegmentCount)
        {
            RefreshSegmentsEnd();
        }

        long end = Volatile.Read(ref _segmentsEnd);
        if ((ulong)(offset - _segmentsStart) > (ulong)(end - _segmentsStart - 24))
        {
            entry = default;
            return false;
        }

        entry = new EntryView(_base + offset);
        return entry.IsWithin(end - offset);
    }
}
