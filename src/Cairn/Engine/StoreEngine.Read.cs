using Cairn.Collections;
using Cairn.Concurrency;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Segments;
using Cairn.Steps;

namespace Cairn.Engine;

/// <summary>The result of a read.</summary>
internal enum ReadOutcome
{
    Miss,
    Hit,

    /// <summary>The key has a value that is longer than the destination.</summary>
    TooShort,
}

// Reads take no lock. Every conclusion from an entry's bytes, for example that it has a value or has expired, holds only after
// HashIndex.Validate has succeeded. Before that, the bytes can belong to another entry. The checksum is compared after the validation.
// If it differs, the file is damaged. The read is then a miss, and the damage is counted.
internal sealed unsafe partial class StoreEngine
{
    /// <summary>A read of a longer value pins it first, so that evictions cannot make the copy start over repeatedly. In bytes.</summary>
    private const int LongestOptimisticCopy = 256 * 1024;

    /// <summary>
    /// Copies a key's value. With <paramref name="acceptStale"/>, also copies an expired value that the store still holds. With
    /// <paramref name="acceptHash"/>, also copies the bytes of a hash; <paramref name="info"/> shows whether they are a hash or a value.
    /// </summary>
    public ReadOutcome TryGet(in KeyRef key, Span<byte> destination, bool acceptStale, out EntryInfo info, bool acceptHash = false)
    {
        PartitionBlock* partition = Memory.Partition(key.Place.Partition);
        while (true)
        {
            if (!HashIndex.Find(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located located))
            {
                break;
            }

            EntryView entry = located.Entry;
            long deadline = long.MaxValue;
            bool isReadable = IsReadable(partition, entry, acceptStale, ref deadline, acceptHash);
            int length = (int)entry.ValueLength;
            if (!isReadable || (uint)length > (uint)destination.Length)
            {
                if (!HashIndex.Validate(located))
                {
                    continue;
                }

                if (!isReadable)
                {
                    break;
                }

                info = InfoOf(entry, deadline);
                GC.KeepAlive(this);
                return ReadOutcome.TooShort;
            }

            if (length > LongestOptimisticCopy && TryGetPinned(key, destination, acceptStale, acceptHash, out info, out ReadOutcome outcome))
            {
                return outcome;
            }

            uint sum;
            fixed (byte* target = destination)
            {
                uint valueSum = ValueChecksum.ComputeAndCopy(entry.Value, target, length, Memory.ChecksumSeed);
                sum = EntryView.ComputeChecksum(
                    entry.Word0, entry.Version, entry.Start, entry.FieldsBytes, valueSum, key.Place.Hash, Memory.ChecksumSeed);
            }

            EntryInfo found = InfoOf(entry, deadline);
            if (!HashIndex.Validate(located))
            {
                continue;
            }

            if (sum != entry.Checksum)
            {
                OnDamaged(partition, located, key);
                break;
            }

            Bucket.CountHit(located.Bucket, located.SlotIndex);
            _hits.Hit(key.Place.Partition);
            if (found.SlidingInterval is not null)
            {
                Slide(key, entry.Version);
            }

            info = found;
            GC.KeepAlive(this);
            return ReadOutcome.Hit;
        }

        _hits.Miss(key.Place.Partition);
        info = default;
        GC.KeepAlive(this);
        return ReadOutcome.Miss;
    }

    /// <summary>Gets the properties of a key's entry, without its value. Does not count as a use.</summary>
    public bool TryGetInfo(in KeyRef key, bool acceptStale, out EntryInfo info, bool acceptHash = false)
    {
        PartitionBlock* partition = Memory.Partition(key.Place.Partition);
        while (HashIndex.Find(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located located))
        {
            long deadline = long.MaxValue;
            bool isReadable = IsReadable(partition, located.Entry, acceptStale, ref deadline, acceptHash);
            EntryInfo found = InfoOf(located.Entry, deadline);
            if (HashIndex.Validate(located))
            {
                info = found;
                GC.KeepAlive(this);
                return isReadable;
            }
        }

        info = default;
        GC.KeepAlive(this);
        return false;
    }

    /// <summary>Uses a key's value without reading it. Extends a sliding expiration and protects the entry from eviction.</summary>
    /// <returns>False if there is no value.</returns>
    public bool TryUse(in KeyRef key)
    {
        PartitionBlock* partition = Memory.Partition(key.Place.Partition);
        bool isReadable = false;
        while (HashIndex.Find(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located located))
        {
            long deadline = long.MaxValue;
            ulong version = located.Entry.Version;
            bool slides = located.Entry.SlidingIntervalMs != 0;
            isReadable = IsReadable(partition, located.Entry, acceptStale: false, ref deadline);
            if (!HashIndex.Validate(located))
            {
                continue;
            }

            if (isReadable)
            {
                Bucket.CountHit(located.Bucket, located.SlotIndex);
                if (slides)
                {
                    Slide(key, version);
                }
            }

            break;
        }

        GC.KeepAlive(this);
        return isReadable;
    }

    /// <summary>Returns whether a key's value was probably read since it was written. Does not count as a use.</summary>
    public bool WasRead(in KeyRef key)
    {
        bool wasRead = HashIndex.Find(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located located)
            && Bucket.WasRead(located.Bucket, located.SlotIndex);
        GC.KeepAlive(this);
        return wasRead;
    }

    /// <summary>Prefetches the key's bucket for a later read. <see cref="PrefetchEntry"/> then prefetches the entry.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void PrefetchBucket(in KeyPlacement place) =>
        HashIndex.Prefetch(Memory.BucketAt(place.Partition, place.Primary));

    /// <summary>Makes the pages of the key's buckets ready for a write. A caller that changes many keys at one moment does this before it.</summary>
    public void TouchBucket(in KeyPlacement place)
    {
        Bucket.Touch(Memory.BucketAt(place.Partition, place.Primary));
        Bucket.Touch(Memory.BucketAt(place.Partition, place.Alternate));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void PrefetchEntry(in KeyPlacement place)
    {
        Bucket* bucket = Memory.BucketAt(place.Partition, place.Primary);
        uint matches = Bucket.MatchTag(bucket, place.Tag);
        if (matches == 0)
        {
            HashIndex.Prefetch(Memory.BucketAt(place.Partition, place.Alternate));
            return;
        }

        // Only a hint: the processor ignores an address outside the mapping.
        byte* entry = Memory.Base + Bucket.LocationOf(*Bucket.SlotAt(bucket, BitOperations.TrailingZeroCount(matches)));
        HashIndex.Prefetch(entry);
        HashIndex.Prefetch(entry + 64);
        HashIndex.Prefetch(entry + 128);
    }

    /// <summary>Pins a key's entry. Its bytes do not change until the pin is disposed.</summary>
    /// <param name="key">The key.</param>
    /// <param name="term">How long the caller holds the pin.</param>
    /// <param name="pin">The entry if the result is <see cref="PinStatus.Pinned"/>; otherwise holds nothing.</param>
    /// <param name="mostCopied">If no cell is free, an entry of at most this many bytes is copied instead.</param>
    /// <param name="isUse">If false, the read is not counted, does not protect the entry from eviction, and does not extend its life.</param>
    /// <param name="acceptStale">Also accepts an entry that has expired.</param>
    /// <param name="acceptHash">Also accepts a hash.</param>
    /// <returns>Never <see cref="PinStatus.NoFreeCell"/> if an entry of any length can be copied.</returns>
    public PinStatus TryPin(
        in KeyRef key, PinTerm term, out Pin pin, long mostCopied = 0, bool isUse = true, bool acceptStale = false, bool acceptHash = false)
    {
        PartitionBlock* partition = Memory.Partition(key.Place.Partition);
        while (HashIndex.Find(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located located))
        {
            long deadline = long.MaxValue;
            bool isReadable = IsReadable(partition, located.Entry, acceptStale, ref deadline, acceptHash);
            if (!isReadable)
            {
                if (HashIndex.Validate(located))
                {
                    break;
                }

                continue;
            }

            if (!TryPinSegment(Memory.SegmentOf(located.Slot), term, out int cell))
            {
                return TryCopyEntry(key, mostCopied, out pin, isUse, acceptStale, acceptHash);
            }

            // If the slot is still unchanged after the pin was stored, the pin is effective: no eviction recycles the segment from now on.
            if (!HashIndex.Validate(located))
            {
                Unpin(cell);
                continue;
            }

            ProtocolHook.Reach(ProtocolStep.PinValidated);

            // The bytes are stable now. The entry that Find has parsed is valid, because the slot has not changed. It is not parsed again, because another
            // writer can have replaced and marked it since.
            EntryView entry = located.Entry;
            if (entry.ComputeChecksum(key.Place.Hash, Memory.ChecksumSeed) != entry.Checksum)
            {
                Unpin(cell);
                OnDamaged(partition, located, key);
                break;
            }

            pin = new Pin(this, cell, entry, InfoOf(entry, deadline));
            CountPinned(key, located, pin, isUse);
            return PinStatus.Pinned;
        }

        pin = default;
        CountMissing(key, isUse);
        return PinStatus.Missing;
    }

    // Copies an entry from its segment without a pin. If an eviction overtakes the copy, the copy starts over. This needs no cell and never
    // waits for other threads, but its time has no bound.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private PinStatus TryCopyEntry(
        in KeyRef key, long mostCopied, out Pin pin, bool isUse, bool acceptStale, bool acceptHash)
    {
        pin = default;
        PartitionBlock* partition = Memory.Partition(key.Place.Partition);
        byte* copy = null;
        long room = 0;
        try
        {
            while (HashIndex.Find(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located located))
            {
                long deadline = long.MaxValue;
                bool isReadable = IsReadable(partition, located.Entry, acceptStale, ref deadline, acceptHash);
                long length = located.Entry.UnpaddedBytes;
                bool isShort = length <= mostCopied;
                if (isReadable && isShort)
                {
                    if (room < length)
                    {
                        copy = (byte*)NativeMemory.Realloc(copy, (nuint)length);
                        room = length;
                    }

                    new ReadOnlySpan<byte>(located.Entry.Start, (int)length).CopyTo(new Span<byte>(copy, (int)length));
                }

                if (!HashIndex.Validate(located))
                {
                    continue;
                }

                if (!isReadable)
                {
                    break;
                }

                if (!isShort)
                {
                    return PinStatus.NoFreeCell;
                }

                var entry = new EntryView(copy);
                if (entry.Word0 != located.Entry.Word0
                    || entry.ComputeChecksum(key.Place.Hash, Memory.ChecksumSeed) != entry.Checksum)
                {
                    OnDamaged(partition, located, key);
                    break;
                }

                pin = new Pin(entry, InfoOf(entry, deadline));
                copy = null;
                CountPinned(key, located, pin, isUse);
                return PinStatus.Pinned;
            }
        }
        finally
        {
            NativeMemory.Free(copy);
        }

        CountMissing(key, isUse);
        return PinStatus.Missing;
    }

    private void CountPinned(in KeyRef key, in Located located, in Pin pin, bool isUse)
    {
        if (isUse)
        {
            Bucket.CountHit(located.Bucket, located.SlotIndex);
            _hits.Hit(key.Place.Partition);
            if (pin.Info.SlidingInterval is not null)
            {
                Slide(key, pin.Entry.Version);
            }
        }

        GC.KeepAlive(this);
    }

    private void CountMissing(in KeyRef key, bool isUse)
    {
        if (isUse)
        {
            _hits.Miss(key.Place.Partition);
        }

        GC.KeepAlive(this);
    }

    /// <summary>Releases a pin's cell.</summary>
    /// <param name="cell">The cell.</param>
    /// <param name="isFinalizing">Whether the finalizer thread calls. It must not wait for locks, so a closed store then keeps its owner
    /// slot until its mapping is removed.</param>
    public void Unpin(int cell, bool isFinalizing = false)
    {
        _owners.Unpin(cell);
        if (_isClosed && !isFinalizing)
        {
            ReleaseSlotIfUnpinned();
        }

        GC.KeepAlive(this);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static EntryInfo InfoOf(in EntryView entry, long deadline) =>
        entry.Fields == 0
            ? new EntryInfo(entry.Type, (int)entry.ValueLength, 0, entry.Version, long.MaxValue, 0, long.MaxValue)
            : new EntryInfo(
                entry.Type, (int)entry.ValueLength, entry.Flags, entry.Version, deadline, entry.SlidingIntervalMs, entry.AbsoluteDeadline)
            {
                Marks = entry.Fields & EntryFields.Marks,
                ChosenVersion = entry.ChosenVersion,
            };

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool IsReadable(
        PartitionBlock* partition, in EntryView entry, bool acceptStale, ref long deadline, bool acceptHash = false)
    {
        if ((entry.Type != EntryType.Value && !(acceptHash && entry.Type == EntryType.Hash)) || entry.ValueLength > (uint)Memory.MaxValueBytes
            || EntryAccounting.IsCleared(Memory, partition, entry.Version, entry.Collection))
        {
            return false;
        }

        if (!entry.HasDeadline)
        {
            return true;
        }

        deadline = entry.Deadline;
        return acceptStale || !Clock.HasPassed(deadline);
    }

    // The slow path for long values. It reads the value twice, but an eviction cannot make the copy start over. Returns false if all
    // hazard cells of this process are in use.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryGetPinned(
        in KeyRef key, Span<byte> destination, bool acceptStale, bool acceptHash, out EntryInfo info, out ReadOutcome outcome)
    {
        PinStatus status = TryPin(key, PinTerm.Brief, out Pin pin, mostCopied: 0, isUse: true, acceptStale, acceptHash);
        using (pin)
        {
            info = pin.Info;
            outcome = status == PinStatus.Missing ? ReadOutcome.Miss
                : info.ValueBytes > destination.Length ? ReadOutcome.TooShort
                : status == PinStatus.Pinned && TryCopyPinned(key.Place.Hash, pin, destination) ? ReadOutcome.Hit
                : ReadOutcome.Miss;
            if (status == PinStatus.Pinned && outcome == ReadOutcome.Miss && ThrowsForKept && Memory.IsKept(key.Collection))
            {
                throw KeptEntryDamaged(key, Memory.OffsetOf(pin.Entry.Start));
            }
        }

        info = outcome == ReadOutcome.Miss ? default : info;
        return status != PinStatus.NoFreeCell;
    }

    /// <summary>Copies a pinned value. Returns false if the value was overwritten since it was pinned; the copy is then invalid.</summary>
    public bool TryCopyPinned(ulong keyHash, in Pin pin, Span<byte> destination)
    {
        EntryView entry = pin.Entry;
        fixed (byte* target = destination)
        {
            uint valueSum = ValueChecksum.ComputeAndCopy(entry.Value, target, pin.Info.ValueBytes, Memory.ChecksumSeed);
            return EntryView.ComputeChecksum(
                entry.Word0, entry.Version, entry.Start, entry.FieldsBytes, valueSum, keyHash, Memory.ChecksumSeed) == entry.Checksum;
        }
    }

    private StoreCorruptException KeptEntryDamaged(in KeyRef key, long offset) =>
        StoreCorruptException.KeptEntry(
            Memory.File.Path, offset, CollectionTable.NameOf(Memory, key.Collection), new ReadOnlySpan<byte>(key.Bytes, key.Length));

    // Extends the life of an entry with sliding expiration. This is best effort: if the lock is held or the last extension is recent, a
    // later read extends it. The segment's latest deadline is raised first. Otherwise the segment could be dropped whole while it holds an
    // entry that lives longer.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Slide(in KeyRef key, ulong version)
    {
        long now = Clock.NowMs();
        if (!HashIndex.Find(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located located)
            || !ShouldSlide(located.Entry, now))
        {
            return;
        }

        PartitionBlock* partition = Enter(key.Place.Partition, TimeSpan.Zero);
        if (partition is null)
        {
            return;
        }

        if (HashIndex.FindLocked(Memory, key.Place, key.Bytes, key.Length, key.Collection, out located)
            && located.Entry.Version == version && ShouldSlide(located.Entry, now))
        {
            long deadline = Math.Min(now + located.Entry.SlidingIntervalMs, located.Entry.AbsoluteDeadline);
            SegmentHeader* header = Memory.Header(Memory.SegmentOf(located.Slot));
            if (header->MaxDeadline < deadline)
            {
                Volatile.Write(ref header->MaxDeadline, deadline);
            }

            Volatile.Write(ref *located.Entry.SlidingWord, EntryView.PackSliding(now + located.Entry.SlidingIntervalMs));
        }

        Leave(partition);
    }

    private static bool ShouldSlide(in EntryView entry, long now)
    {
        long interval = entry.SlidingIntervalMs;
        return interval > 0
            && EntryView.TryUnpackSliding(Volatile.Read(ref *entry.SlidingWord), out long deadline)
            && deadline > now
            && now + interval - deadline >= Math.Max(1, interval / 8);
    }

    // Handles an entry that a validated slot names and whose bytes are damaged.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void OnDamaged(PartitionBlock* partition, in Located located, in KeyRef key)
    {
        bool isKept = Memory.IsKept(key.Collection);
        OnDamaged(partition, located, isKept);
        if (isKept && ThrowsForKept)
        {
            throw KeptEntryDamaged(key, Bucket.LocationOf(located.Slot));
        }
    }

    // Removing the entry needs no lock. A kept entry stays, because only the application can decide what happens to its key.
    private static void OnDamaged(PartitionBlock* partition, in Located located, bool isKept)
    {
        Interlocked.Increment(ref partition->Corrupt);
        if (isKept)
        {
            return;
        }

        Interlocked.CompareExchange(ref *Bucket.SlotAt(located.Bucket, located.SlotIndex), 0, located.Slot);
    }
}
