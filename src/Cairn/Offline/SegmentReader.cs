namespace Cairn.Offline;

internal enum SegmentReading
{
    Loaded,

    /// <summary>The segment was recycled during each attempt to read it.</summary>
    Changing,

    Unreadable,
}

/// <summary>A segment's header and the seal sequence of its partition. Together they show whether the segment was recycled since.</summary>
internal readonly record struct SegmentMoment(SegmentHeader Header, ulong SealSequence)
{
    public bool IsSameLifeAs(in SegmentMoment other) =>
        Header.StateWord == other.Header.StateWord && Header.SealOrder == other.Header.SealOrder
        && (Header.State != SegmentState.Open || SealSequence == other.SealSequence);
}

// Reads a segment, or a run of segments, as it was at one moment.
//
//   Bytes below a segment's tail do not change until it is recycled (SegmentHeader I2). A sealed segment that was recycled has another seal order.
//   An open segment cannot have been recycled unless its partition has sealed a segment. So if neither value changed during the read, the bytes
//   belong to the segment.
internal sealed unsafe class SegmentReader(StoreImage image) : IDisposable
{
    private const int Attempts = 8;

    private readonly NativeBuffer _buffer = new();

    /// <summary>Gets the header that belongs to the bytes.</summary>
    public SegmentMoment Moment { get; private set; }

    /// <summary>Gets the bytes below the tail.</summary>
    public byte* Start => _buffer.Start;

    /// <summary>Gets the number of these bytes.</summary>
    public long Length { get; private set; }

    public SegmentReading Read(int segment, CancellationToken cancellationToken)
    {
        for (int attempt = 0; attempt < Attempts; attempt++)
        {
            if (!TryReadMoment(segment, out SegmentMoment before))
            {
                return SegmentReading.Unreadable;
            }

            Length = LengthOf(image, segment, before.Header);
            byte* target = _buffer.Reserve(Math.Max(Length, image.Layout.SegmentBytes));
            if (!image.TryRead(image.SegmentOffset(segment), target, Length, cancellationToken)
                || !TryReadMoment(segment, out SegmentMoment after))
            {
                return SegmentReading.Unreadable;
            }

            if (after.IsSameLifeAs(before))
            {
                Moment = before;
                return SegmentReading.Loaded;
            }
        }

        return SegmentReading.Changing;
    }

    /// <summary>
    /// Returns the number of bytes of entries and gaps in a segment or a run, according to the header. It is never more than the file has.
    /// </summary>
    public static long LengthOf(StoreImage image, int segment, in SegmentHeader header) =>
        header.RunLength > 1
            ? (long)Math.Min(header.RunLength, image.SegmentCount - segment) * image.Layout.SegmentBytes
            : Math.Clamp(header.Tail, 0, image.Layout.SegmentBytes);

    public void Dispose() => _buffer.Dispose();

    private bool TryReadMoment(int segment, out SegmentMoment moment)
    {
        bool isRead = image.TryReadHeader(segment, out SegmentHeader header);
        int partition = Math.Min(header.Partition, image.Layout.PartitionCount - 1);
        isRead &= image.TryReadUInt64(image.PartitionOffset(partition) + OffsetOfSealSequence, out ulong sequence);
        moment = new SegmentMoment(header, sequence);
        return isRead;
    }

    private static long OffsetOfSealSequence { get; } =
        System.Runtime.InteropServices.Marshal.OffsetOf<PartitionBlock>(nameof(PartitionBlock.SealSequence));
}
