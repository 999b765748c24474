using Cairn.Indexing;

namespace Cairn.Offline;

/// <summary>Receives the results of a walk through a partition.</summary>
internal unsafe interface IPartitionVisitor
{
    /// <summary>Called with an entry to which a slot leads. It is valid, or damaged but of known length.</summary>
    void OnEntry(in EntryView entry, in SlotPlace at, int frequency, in SegmentHeader header, int segment, in EntryValidation validation);

    /// <summary>Called with a slot that does not lead to an entry.</summary>
    void OnBadSlot(in SlotPlace at, in EntryValidation validation);

    /// <summary>Called with an entry to which no slot leads.</summary>
    void OnDeadEntry(in EntryView entry, long offset, bool isWhole);

    /// <summary>Called if the bytes at a place in a segment are not an entry. The entries after it cannot be separated.</summary>
    void OnUnparseable(int segment, long offset, string problem);

    /// <summary>Called if a part of the file cannot be read.</summary>
    void OnUnreadable(VerifyArea area, long offset, string problem);

    /// <summary>Called if a segment changed too often for a consistent read. The slots that lead to its entries are judged one by one.</summary>
    void OnChanging(int segment);

    /// <summary>Called at the end of each segment with its number of bytes.</summary>
    void OnSegmentDone(long bytes);
}

// Visits everything in a partition. The walk reads the index once. Then it reads the segments one after the other, and looks up each entry in the copy of
// the index. The slots that remain are judged one by one. So the file is read from front to back, independent of the index's order.
//
// Processes can change the partition meanwhile. EntryValidator validates every apparent damage again, and its results are final. Other changes since the index
// was read only make the counts inexact.
internal sealed unsafe class PartitionWalk : IDisposable
{
    // The number of buckets that can contain a key: two home buckets and two overflow buckets.
    private const int Choices = 4;

    private readonly StoreImage _image;
    private readonly EntryValidator _validator;
    private readonly SegmentReader _segments;
    private readonly NativeBuffer _blockBytes = new();
    private readonly NativeBuffer _index = new();
    private readonly NativeBuffer _seen = new();

    public PartitionWalk(StoreImage image, TimeProvider clock)
    {
        _image = image;
        _validator = new EntryValidator(image, clock);
        _segments = new SegmentReader(image);
    }

    /// <summary>Gets the partition's state at the beginning of the walk, without its ring.</summary>
    public PartitionBlock* Block => (PartitionBlock*)_blockBytes.Start;

    public long UsedSlots { get; private set; }

    public void Dispose()
    {
        _validator.Dispose();
        _segments.Dispose();
        _blockBytes.Dispose();
        _index.Dispose();
        _seen.Dispose();
    }

    /// <summary>Reads the partition's state and index. Returns false if they cannot be read.</summary>
    public bool TryBegin(int partition, IPartitionVisitor visitor, CancellationToken cancellationToken)
    {
        byte* block = _blockBytes.Reserve(PartitionBlock.RingOffset);
        if (!_image.TryRead(_image.PartitionOffset(partition), block, PartitionBlock.RingOffset, cancellationToken))
        {
            visitor.OnUnreadable(VerifyArea.Partitions, _image.PartitionOffset(partition), $"Partition {partition} cannot be read: {_image.Failure}.");
            return false;
        }

        int buckets = _image.Layout.BucketsPerPartition;
        long indexBytes = (long)buckets * StoreLayout.BucketBytes;
        if (!_image.TryRead(_image.BucketOffset(partition, 0), _index.Reserve(indexBytes), indexBytes, cancellationToken))
        {
            visitor.OnUnreadable(VerifyArea.Index, _image.BucketOffset(partition, 0), $"The index of partition {partition} cannot be read: {_image.Failure}.");
            return false;
        }

        _seen.ReserveCleared(buckets);
        UsedSlots = 0;
        return true;
    }

    /// <summary>Walks through one segment of the partition, or through the run that begins with it.</summary>
    public void Walk(int partition, int segment, IPartitionVisitor visitor, CancellationToken cancellationToken)
    {
        SegmentReading reading = _segments.Read(segment, cancellationToken);
        SegmentMoment moment = _segments.Moment;
        if (reading == SegmentReading.Loaded && CanHoldEntriesOf(partition, moment.Header))
        {
            long parsed = Walk(partition, segment, 0, visitor, isLastLook: false, cancellationToken);
            if (parsed < _segments.Length)
            {
                // The segment is read again before damage is reported. On some processors the tail can be visible before the entry below it.
                reading = _segments.Read(segment, cancellationToken);
                if (reading == SegmentReading.Loaded && _segments.Moment.IsSameLifeAs(moment))
                {
                    Walk(partition, segment, parsed, visitor, isLastLook: true, cancellationToken);
                }
                else if (reading == SegmentReading.Loaded)
                {
                    reading = SegmentReading.Changing;
                }
            }
        }

        switch (reading)
        {
            case SegmentReading.Unreadable:
                visitor.OnUnreadable(VerifyArea.Entries, _image.SegmentOffset(segment), $"Segment {segment} cannot be read: {_image.Failure}.");
                break;
            case SegmentReading.Changing:
                visitor.OnChanging(segment);
                break;
            default:
                visitor.OnSegmentDone(_segments.Length);
                break;
        }
    }

    /// <summary>Judges the slots that do not lead to any of the visited entries.</summary>
    public void WalkRest(int partition, IPartitionVisitor visitor, CancellationToken cancellationToken)
    {
        for (int bucket = 0; bucket < _image.Layout.BucketsPerPartition; bucket++)
        {
            if (bucket % 65_536 == 0)
            {
                cancellationToken.ThrowIfCancellationRequested();
            }

            ulong* words = BucketWords(bucket);
            for (int slot = 0; slot < Bucket.Slots; slot++)
            {
                if (words[1 + slot] == 0)
                {
                    continue;
                }

                UsedSlots++;
                if ((_seen.Start[bucket] & (1 << slot)) != 0)
                {
                    continue;
                }

                var at = new SlotPlace(partition, bucket, slot);
                if (_validator.ValidateSlot(at, Block, cancellationToken) is not { } validation)
                {
                    continue;
                }

                if (validation.Validity == EntryValidity.Damaged)
                {
                    visitor.OnBadSlot(at, validation);
                }
                else
                {
                    int segment = (int)_image.SegmentAt(validation.Offset);
                    _image.TryReadHeader(segment, out SegmentHeader header);
                    visitor.OnEntry(_validator.Entry, at, Bucket.Frequency((Bucket*)words, slot), header, segment, validation);
                }
            }
        }
    }

    private static bool CanHoldEntriesOf(int partition, in SegmentHeader header) =>
        header.Partition == partition && header.State is (SegmentState.Open or SegmentState.Sealed or SegmentState.Retired);

    // Returns the number of bytes up to which the entries could be separated.
    private long Walk(
        int partition, int segment, long from, IPartitionVisitor visitor, bool isLastLook, CancellationToken cancellationToken)
    {
        byte* start = _segments.Start;
        long length = _segments.Length;
        long cursor = from;
        bool isRun = _segments.Moment.Header.RunLength > 1;

        // The smallest entry takes 24 bytes. The rest after the last entry can be smaller.
        while (cursor + EntryView.HeaderBytes < length)
        {
            var entry = new EntryView(start + cursor);
            long offset = _image.SegmentOffset(segment) + cursor;
            if (!entry.IsWithin(length - cursor))
            {
                if (isLastLook)
                {
                    visitor.OnUnparseable(
                        segment, offset,
                        $"An entry of segment {segment} claims {entry.UnpaddedBytes:N0} bytes and the fields 0x{(byte)entry.Fields:X2} where {length - cursor:N0} bytes are left: the entries after it cannot be separated.");
                }

                return cursor;
            }

            if (entry.Type != EntryType.None)
            {
                Visit(partition, segment, entry, offset, visitor, cancellationToken);
            }
            else if (entry.IsMarked(_image.HashKey(entry), _image.ChecksumSeed))
            {
                visitor.OnDeadEntry(entry, offset, isWhole: true);
            }

            cursor = isRun ? length : cursor + entry.PaddedBytes;
        }

        return length;
    }

    private void Visit(
        int partition, int segment, in EntryView entry, long offset, IPartitionVisitor visitor, CancellationToken cancellationToken)
    {
        ulong keyHash = _image.HashKey(entry);
        KeyPlacement place = _image.Place(keyHash);
        if (place.Partition != partition || !TryFind(place, offset, out int bucket, out int slot))
        {
            // The partition is not checked here. If a key is damaged, its partition is arbitrary, and the slot that leads to it is judged later.
            visitor.OnDeadEntry(entry, offset, entry.ComputeChecksum(keyHash, _image.ChecksumSeed) == entry.Checksum);
            return;
        }

        _seen.Start[bucket] |= (byte)(1 << slot);
        ulong* words = BucketWords(bucket);
        var at = new SlotPlace(partition, bucket, slot);
        EntryValidation validation = _validator.ValidateEntry(entry, offset, at, words[1 + slot], keyHash, Block);
        if (validation.Validity == EntryValidity.Damaged)
        {
            if (_validator.ValidateSlot(at, Block, cancellationToken) is not { Validity: EntryValidity.Damaged } confirmed)
            {
                return; // The entry was changing.
            }

            validation = confirmed;
        }
        else if (FindDuplicate(place, at, entry, cancellationToken) is { } duplicate)
        {
            visitor.OnBadSlot(at, duplicate);
        }

        visitor.OnEntry(entry, at, Bucket.Frequency((Bucket*)words, slot), _segments.Moment.Header, segment, validation);
    }

    private bool TryFind(in KeyPlacement place, long offset, out int bucket, out int slot)
    {
        for (int choice = 0; choice < Choices; choice++)
        {
            bucket = BucketOf(place, choice);
            if (TryFind(bucket, offset, out slot))
            {
                return true;
            }
        }

        bucket = 0;
        slot = 0;
        return false;
    }

    private int BucketOf(in KeyPlacement place, int choice) => choice switch
    {
        0 => place.Primary,
        1 => place.Alternate,
        _ => place.OverflowBucket(choice - 2, _image.Layout.HomeBuckets, _image.Layout.OverflowBuckets),
    };

    private bool TryFind(int bucket, long offset, out int slot)
    {
        ulong* words = BucketWords(bucket);
        for (slot = 0; slot < Bucket.Slots; slot++)
        {
            if (words[1 + slot] != 0 && Bucket.LocationOf(words[1 + slot]) == offset)
            {
                return true;
            }
        }

        return false;
    }

    // Returns damage if another slot in the key's four buckets also leads to an entry of this key. Only one of the two slots reports it.
    private EntryValidation? FindDuplicate(in KeyPlacement place, in SlotPlace at, in EntryView entry, CancellationToken cancellationToken)
    {
        for (int choice = 0; choice < Choices; choice++)
        {
            int bucket = BucketOf(place, choice);
            uint matches = Bucket.MatchTag((Bucket*)BucketWords(bucket), place.Tag);
            for (; matches != 0; matches &= matches - 1)
            {
                var other = new SlotPlace(at.Partition, bucket, BitOperations.TrailingZeroCount(matches));
                ulong otherSlot = BucketWords(bucket)[1 + other.Slot];
                ulong slot = BucketWords(at.Bucket)[1 + at.Slot];
                if (other == at || otherSlot < slot || (otherSlot == slot && (other.Bucket, other.Slot).CompareTo((at.Bucket, at.Slot)) < 0))
                {
                    continue;
                }

                if (IsSameKey(other, entry, cancellationToken)
                    && _validator.ValidateSlot(at, Block, cancellationToken) is { Validity: not EntryValidity.Damaged }
                    && _validator.Entry.Version == entry.Version
                    && IsSameKey(other, entry, cancellationToken))
                {
                    return EntryValidation.Damaged(
                        VerifyArea.Index, _image.SlotOffset(at.Partition, at.Bucket, at.Slot), $"{at} and {other} name entries of the same key.");
                }
            }
        }

        return null;
    }

    private bool IsSameKey(in SlotPlace at, in EntryView entry, CancellationToken cancellationToken) =>
        _validator.ValidateSlot(at, Block, cancellationToken) is { Validity: not EntryValidity.Damaged }
        && _validator.Entry.Collection == entry.Collection && _validator.Entry.KeyEquals(entry.Key, entry.KeyLength);

    // In bounds: bucket numbers come from a KeyPlacement or from a loop over all buckets.
    private ulong* BucketWords(int bucket) => (ulong*)(_index.Start + ((long)bucket * StoreLayout.BucketBytes));
}
