using Cairn.Indexing;

namespace Cairn.Offline;

/// <summary>The state of a slot's entry for a reader.</summary>
internal enum EntryValidity
{
    Live,
    Expired,
    Cleared,
    Lease,

    /// <summary>Valid, but of a type that this version does not know.</summary>
    Foreign,
    Damaged,
}

/// <summary>The result for a slot and its entry. If the entry is damaged, it also has the problem.</summary>
internal readonly record struct EntryValidation(EntryValidity Validity, VerifyArea Area = default, long Offset = 0, string Problem = "")
{
    public static EntryValidation Damaged(VerifyArea area, long offset, string problem) => new(EntryValidity.Damaged, area, offset, problem);
}

// Decides whether a slot and its entry belong together and are not damaged.
//
// A published slot leads to a complete entry of its partition, below the segment's tail, at every moment until it is cleared. The death of a process does
// not change that (docs/concurrency.md). So a validation of damage is final without a lock, under one condition: the bucket, read again afterwards, has the
// same version and the same slot.
internal sealed unsafe class EntryValidator(StoreImage image, TimeProvider clock) : IDisposable
{
    private const int Attempts = 64;
    private const int WordsPerBucket = StoreLayout.BucketBytes / sizeof(ulong);

    private readonly NativeBuffer _buffer = new();
    private readonly long _now = clock.GetUtcNow().ToUnixTimeMilliseconds();

    // The number of collections at the last read. Other processes can have created more since.
    private uint _collections;

    /// <summary>Gets the entry of the last judged slot, if its bytes could be read. It is valid until the next slot is judged.</summary>
    public EntryView Entry { get; private set; }

    public void Dispose() => _buffer.Dispose();

    /// <summary>Judges an entry whose bytes are completely in memory, and the slot that leads to it.</summary>
    public EntryValidation ValidateEntry(in EntryView entry, long offset, in SlotPlace at, ulong slot, ulong keyHash, PartitionBlock* block)
    {
        uint checksum = entry.ComputeChecksum(keyHash, image.ChecksumSeed);
        if (checksum != entry.Checksum)
        {
            return EntryValidation.Damaged(
                VerifyArea.Entries, offset,
                $"The entry of {entry.KeyLength} bytes of key and {entry.ValueLength} of value has the checksum 0x{entry.Checksum:X8}; its bytes give 0x{checksum:X8}.");
        }

        if (entry.ValueLength > (uint)image.Layout.MaxValueBytes)
        {
            return EntryValidation.Damaged(
                VerifyArea.Entries, offset, $"The entry's value has {entry.ValueLength:N0} bytes; a value in this store has at most {image.Layout.MaxValueBytes:N0}.");
        }

        if (entry.Collection >= StoreLayout.MaxCollections)
        {
            return EntryValidation.Damaged(VerifyArea.Entries, offset, $"The entry belongs to collection {entry.Collection}, which cannot exist.");
        }

        if (entry.Collection > _collections && entry.Collection > (_collections = CountCollections()))
        {
            return EntryValidation.Damaged(
                VerifyArea.Collections, offset, $"The entry belongs to collection {entry.Collection}; the store counts {_collections}.");
        }

        if ((entry.Fields & EntryFields.Sliding) != 0 && !EntryView.TryUnpackSliding(*entry.SlidingWord, out _))
        {
            return EntryValidation.Damaged(
                VerifyArea.Entries, offset, $"The check of the entry's sliding deadline does not match: 0x{*entry.SlidingWord:X16}. It counts as expired.");
        }

        KeyPlacement place = image.Place(keyHash);
        if (ValidatePlace(place, at, slot, entry.Version) is { } misplaced)
        {
            return misplaced;
        }

        if (entry.Version > block->Version && IsNewerThanPartition(at.Partition, entry.Version, out ulong newest))
        {
            return EntryValidation.Damaged(
                VerifyArea.Partitions, image.PartitionOffset(at.Partition), $"Partition {at.Partition} says that its last version is {newest}, but has an entry of version {entry.Version}.");
        }

        return new EntryValidation(ValidityOf(entry, block), VerifyArea.Entries, offset);
    }

    /// <summary>
    /// Judges the present content of a slot. Returns null if the slot is empty, or if it changes faster than it can be read.
    /// </summary>
    public EntryValidation? ValidateSlot(in SlotPlace at, PartitionBlock* block, CancellationToken cancellationToken)
    {
        ulong* words = stackalloc ulong[WordsPerBucket];
        ulong* again = stackalloc ulong[WordsPerBucket];
        long bucketOffset = image.BucketOffset(at.Partition, at.Bucket);
        for (int attempt = 0; attempt < Attempts; attempt++)
        {
            if (!image.TryRead(bucketOffset, words, StoreLayout.BucketBytes, cancellationToken))
            {
                return EntryValidation.Damaged(VerifyArea.Index, bucketOffset, $"The bucket cannot be read: {image.Failure}.");
            }

            ulong slot = words[1 + at.Slot];
            if (slot == 0)
            {
                return null;
            }

            EntryValidation validation = ValidateNamed(at, slot, block, cancellationToken);
            if (validation.Validity != EntryValidity.Damaged)
            {
                return validation;
            }

            if (image.TryRead(bucketOffset, again, StoreLayout.BucketBytes, cancellationToken) && (uint)again[0] == (uint)words[0] && again[1 + at.Slot] == slot)
            {
                return validation;
            }
        }

        return null;
    }

    private EntryValidation ValidateNamed(in SlotPlace at, ulong slot, PartitionBlock* block, CancellationToken cancellationToken)
    {
        long slotOffset = image.SlotOffset(at.Partition, at.Bucket, at.Slot);
        long offset = Bucket.LocationOf(slot);
        if (image.SegmentAt(offset) >= image.SegmentCount)
        {
            image.RefreshSegmentCount();
        }

        if (offset < image.Layout.SegmentsOffset || image.SegmentAt(offset) >= image.SegmentCount)
        {
            return EntryValidation.Damaged(VerifyArea.Index, slotOffset, $"{at} names byte {offset:N0}, which is in no segment.");
        }

        int segment = (int)image.SegmentAt(offset);
        if (!image.TryReadHeader(segment, out SegmentHeader header))
        {
            return EntryValidation.Damaged(VerifyArea.Segments, image.HeaderOffset(segment), $"The header of segment {segment} cannot be read: {image.Failure}.");
        }

        if (header.State is not (SegmentState.Open or SegmentState.Sealed) || header.Partition != at.Partition)
        {
            return EntryValidation.Damaged(
                VerifyArea.Index, slotOffset,
                $"{at} names byte {offset:N0} in segment {segment}, which is {Describe(header)} and can hold no entry of partition {at.Partition}.");
        }

        long available = image.SegmentOffset(segment) + SegmentReader.LengthOf(image, segment, header) - offset;
        if (available < EntryView.HeaderBytes + 1)
        {
            return EntryValidation.Damaged(VerifyArea.Index, slotOffset, $"{at} names byte {offset:N0}, past the last entry of segment {segment}.");
        }

        return TryReadEntry(offset, available, cancellationToken, out string problem)
            ? ValidateEntry(Entry, offset, at, slot, image.HashKey(Entry), block)
            : EntryValidation.Damaged(VerifyArea.Entries, offset, $"{at} names a place without an entry: {problem}.");
    }

    private bool TryReadEntry(long offset, long available, CancellationToken cancellationToken, out string problem)
    {
        // Reads the header and the largest possible fields, or the rest if that is shorter.
        int firstBytes = (int)Math.Min(available, EntryView.HeaderBytes + EntryView.MaxFieldsBytes);
        byte* start = _buffer.Reserve(EntryView.HeaderBytes + EntryView.MaxFieldsBytes);
        if (!image.TryRead(offset, start, firstBytes, cancellationToken))
        {
            problem = $"it cannot be read, because {image.Failure}";
            return false;
        }

        var entry = new EntryView(start);
        if (entry.Type == EntryType.None || !entry.IsWithin(available))
        {
            problem = entry.Type == EntryType.None
                ? "the place is marked as unused"
                : $"its length of {entry.UnpaddedBytes:N0} bytes, or its fields 0x{(byte)entry.Fields:X2}, are impossible where {available:N0} bytes are left";
            return false;
        }

        start = _buffer.Reserve(entry.UnpaddedBytes);
        if (!image.TryRead(offset, start, entry.UnpaddedBytes, cancellationToken))
        {
            problem = $"it cannot be read, because {image.Failure}";
            return false;
        }

        // The entry was copied a second time, so its lengths can be different now.
        Entry = new EntryView(start);
        problem = "it changes";
        return Entry.Word0 == entry.Word0;
    }

    private EntryValidation? ValidatePlace(in KeyPlacement place, in SlotPlace at, ulong slot, ulong version)
    {
        string? problem = place.Partition != at.Partition ? $"belongs to partition {place.Partition}"
            : !place.IsAmong(at.Bucket, image.Layout.HomeBuckets, image.Layout.OverflowBuckets) ? $"belongs to bucket {place.Primary} or {place.Alternate}"
            : place.Tag != Bucket.TagOf(slot) ? $"has the tag 0x{place.Tag:X4}, and the slot 0x{Bucket.TagOf(slot):X4}"
            : !Bucket.StampMatches(slot, version) ? $"has version {version}, and the slot the stamp of another"
            : null;
        return problem is null
            ? null
            : EntryValidation.Damaged(VerifyArea.Index, image.SlotOffset(at.Partition, at.Bucket, at.Slot), $"{at} names an entry that {problem}.");
    }

    // The partition's version was read before the entry. If the store is in use, it has grown since. So it is read again.
    private bool IsNewerThanPartition(int partition, ulong version, out ulong newest) =>
        image.TryReadUInt64(image.PartitionOffset(partition) + OffsetOfVersion, out newest) && version > newest;

    private uint CountCollections() =>
        image.TryReadUInt32(OffsetOfCollectionCount, out uint count) ? (uint)Math.Clamp((int)count, 0, StoreLayout.MaxCollections - 1) : _collections;

    private EntryValidity ValidityOf(in EntryView entry, PartitionBlock* block)
    {
        if (entry.Version <= *PartitionBlock.Watermark(block, entry.Collection))
        {
            return EntryValidity.Cleared;
        }

        return entry.Type switch
        {
            EntryType.Lease => EntryValidity.Lease,
            EntryType.Value or EntryType.Hash => entry.Deadline <= _now ? EntryValidity.Expired : EntryValidity.Live,
            _ => EntryValidity.Foreign,
        };
    }

    private static string Describe(in SegmentHeader header) => header.State switch
    {
        SegmentState.Free => "free",
        SegmentState.Reserved => $"reserved by owner {header.Owner}",
        SegmentState.Spare => $"a spare of partition {header.Partition}",
        SegmentState.Open or SegmentState.Sealed => $"partition {header.Partition}'s",
        SegmentState.Retired => "retired",
        SegmentState.RunBody => "inside a run",
        _ => $"in state {(byte)header.State}",
    };

    private static long OffsetOfCollectionCount { get; } =
        System.Runtime.InteropServices.Marshal.OffsetOf<Superblock>(nameof(Superblock.CollectionCount));

    private static long OffsetOfVersion { get; } =
        System.Runtime.InteropServices.Marshal.OffsetOf<PartitionBlock>(nameof(PartitionBlock.Version));
}

/// <summary>A slot of the index.</summary>
internal readonly record struct SlotPlace(int Partition, int Bucket, int Slot)
{
    public override string ToString() => $"Slot {Slot} of bucket {Bucket} of partition {Partition}";
}
