using Cairn.Indexing;
using Cairn.Platform;

namespace Cairn.Offline;

// A store's file, read piece by piece. It is not mapped. An access to a mapped page ends the process if the disk cannot read the page, or if another
// process has shortened the file. A failed read only returns an error.
//
//   I1  Bytes are copied into memory of this process before they are checked, so a checked number cannot change before it is used.
//   I2  Only complete ranges are read. A range that is cut short counts as unreadable.
internal sealed unsafe class StoreImage
{
    // A long read can be cancelled between two pieces.
    private const int PieceBytes = 8 << 20;

    private readonly StoreFile _file;
    private readonly int _partitionShift;

    public StoreImage(StoreFile file, StoreLayout layout, ulong hashSeed)
    {
        _file = file;
        Layout = layout;
        KeySeed = KeyHash.KeySeedOf(hashSeed);
        ChecksumSeed = KeyHash.ChecksumSeedOf(hashSeed);
        _partitionShift = KeyPlacement.PartitionShift(layout.PartitionCount);
        RefreshSegmentCount();
    }

    public StoreFile File => _file;

    public StoreLayout Layout { get; }

    public ulong KeySeed { get; }

    public ulong ChecksumSeed { get; }

    /// <summary>Gets the number of segments that the superblock counts and that fit into the file. It grows with the store.</summary>
    public int SegmentCount { get; private set; }

    public long BytesRead { get; private set; }

    /// <summary>Gets the reason why the last read failed.</summary>
    public string? Failure { get; private set; }

    /// <summary>Gets the first error of the disk, even if another attempt has read the same bytes since.</summary>
    public string? DiskError { get; private set; }

    public long PartitionOffset(int partition) => Layout.PartitionsOffset + ((long)partition * Layout.PartitionBlockBytes);

    public long OwnerOffset(int slot) => Layout.OwnersOffset + ((long)(slot - 1) * Layout.OwnerRecordBytes);

    public long HeaderOffset(int segment) => Layout.SegmentHeadersOffset + ((long)segment * StoreLayout.SegmentHeaderBytes);

    public long BucketOffset(int partition, long bucket) =>
        Layout.IndexOffset + ((((long)partition * Layout.BucketsPerPartition) + bucket) * StoreLayout.BucketBytes);

    public long SlotOffset(int partition, long bucket, int slot) => BucketOffset(partition, bucket) + ((1 + slot) * sizeof(ulong));

    public long SegmentOffset(int segment) => Layout.SegmentsOffset + ((long)segment * Layout.SegmentBytes);

    /// <summary>Returns the segment of a byte. If the byte is outside all segments, the result is not a segment of the store.</summary>
    public long SegmentAt(long offset) => (offset - Layout.SegmentsOffset) / Layout.SegmentBytes;

    public KeyPlacement Place(ulong hash) => new(hash, _partitionShift, Layout.HomeBuckets);

    public ulong HashKey(in EntryView entry) => KeyHash.OfKey(entry.Key, entry.KeyLength, entry.Collection, KeySeed);

    /// <summary>
    /// Copies a range of the file to <paramref name="target"/>, which must have room for it. Returns false if a part of it cannot be read.
    /// </summary>
    public bool TryRead(long offset, void* target, long bytes, CancellationToken cancellationToken = default)
    {
        try
        {
            for (long done = 0; done < bytes;)
            {
                cancellationToken.ThrowIfCancellationRequested();
                var piece = new Span<byte>((byte*)target + done, (int)Math.Min(PieceBytes, bytes - done));
                int read = _file.Read(offset + done, piece);
                BytesRead += read;
                if (read < piece.Length)
                {
                    Failure = $"the file ends at byte {offset + done + read:N0}";
                    return false;
                }

                done += read;
            }

            return true;
        }
        catch (StoreException failure)
        {
            Failure = failure.Message.TrimEnd('.');
            DiskError ??= Failure;
            return false;
        }
    }

    public bool TryReadHeader(int segment, out SegmentHeader header)
    {
        fixed (SegmentHeader* target = &header)
        {
            *target = default;
            return TryRead(HeaderOffset(segment), target, sizeof(SegmentHeader));
        }
    }

    public bool TryReadUInt64(long offset, out ulong value)
    {
        fixed (ulong* target = &value)
        {
            *target = 0;
            return TryRead(offset, target, sizeof(ulong));
        }
    }

    public bool TryReadUInt32(long offset, out uint value)
    {
        fixed (uint* target = &value)
        {
            *target = 0;
            return TryRead(offset, target, sizeof(uint));
        }
    }

    /// <summary>Notices that the store has grown, as far as the file has grown (StoreLayout I3).</summary>
    public void RefreshSegmentCount()
    {
        if (TryReadUInt32(OffsetOfSegmentCount, out uint counted))
        {
            int within = Layout.SegmentsWithin(_file.Length);
            SegmentCount = Math.Max(SegmentCount, (int)Math.Min(counted, (uint)within));
        }
    }

    private static long OffsetOfSegmentCount { get; } =
        System.Runtime.InteropServices.Marshal.OffsetOf<Superblock>(nameof(Superblock.SegmentCount));
}
