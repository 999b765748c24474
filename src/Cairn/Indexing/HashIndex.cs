using System.Runtime.Intrinsics.X86;
using Cairn.Steps;

namespace Cairn.Indexing;

/// <summary>An entry that was found, and the state that must be unchanged for the result to be valid.</summary>
internal unsafe struct Located
{
    public Bucket* Bucket;
    public int SlotIndex;
    public uint BucketVersion;
    public ulong Slot;
    public EntryView Entry;
}

// Finds keys in the index.
//
// A reader takes no lock. It reads the bucket's version, a slot, and the entry's bytes. Its conclusions from them are valid only if
// Validate then finds the same slot and the same version. Neither check suffices alone:
//   - The slot can get its old value again: a segment is recycled and a new entry is written at the same place.
//   - The version can already be raised by a writer that died before it stored the slot.
// A miss is valid under two conditions. The versions of both buckets are the same as before the first slot was read. And each slot with
// the key's tag still names the entry of another key. The second condition is necessary, because a writer can raise the version before
// the reader reads it. The writer can then store the slot, and the old entry's bytes can be reused.
//
// Once any entry is in an overflow bucket, a kept key can also be in one of its two overflow buckets. Then a miss is valid only if all
// four versions are unchanged. Otherwise the key may have moved from an overflow bucket to one of its own buckets.
internal static unsafe class HashIndex
{
    /// <summary>The number of used slots at which a bucket begins to share new keys with their alternate buckets.</summary>
    private const int PreferPrimaryBelow = 5;

    /// <summary>Finds a key's entry without the lock. The caller must validate true with Validate; false is already validated.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool Find(StoreMemory memory, in KeyPlacement place, byte* key, int keyLength, uint collection, out Located located)
    {
        Bucket* primary = memory.BucketAt(place.Partition, place.Primary);
        while (true)
        {
            // Acquire: the slots must not be read before the version. Pairs with Bucket.Store.
            bool isStable = true;
            uint primaryVersion = Volatile.Read(ref primary->Version);
            ProtocolHook.Reach(ProtocolStep.ReadVersionLoaded);
            if (Probe(memory, primary, primaryVersion, place, key, keyLength, collection, out located, ref isStable))
            {
                return true;
            }

            Bucket* alternate = memory.BucketAt(place.Partition, place.Alternate);
            uint alternateVersion = Volatile.Read(ref alternate->Version);
            if (Probe(memory, alternate, alternateVersion, place, key, keyLength, collection, out located, ref isStable))
            {
                return true;
            }

            // The loads above must be complete before the versions are read again; Arm64 could reorder them.
            Volatile.ReadBarrier();
            if (isStable && primary->Version == primaryVersion && alternate->Version == alternateVersion)
            {
                if (!MayBeInOverflow(memory, collection))
                {
                    return false;
                }

                if (FindInOverflow(memory, place, key, keyLength, collection, primaryVersion, alternateVersion, out located) is { } isFound)
                {
                    return isFound;
                }
            }
        }
    }

    /// <summary>
    /// Returns whether a key has no entry, because no slot of its buckets has its tag, and its collection has no entry in an overflow bucket. If false,
    /// the key may have an entry.
    /// </summary>
    /// <remarks>Takes the hash, because a place whose address is taken is not kept in registers.</remarks>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static bool IsSurelyMissing(StoreMemory memory, ulong hash, uint collection)
    {
        KeyPlacement place = memory.Place(hash);
        Bucket* primary = memory.BucketAt(place.Partition, place.Primary);
        Bucket* alternate = memory.BucketAt(place.Partition, place.Alternate);

        // Acquire, both, as in Find.
        uint primaryVersion = Volatile.Read(ref primary->Version);
        uint alternateVersion = Volatile.Read(ref alternate->Version);
        ProtocolHook.Reach(ProtocolStep.ReadVersionLoaded);
        if ((Bucket.MatchTag(primary, place.Tag) | Bucket.MatchTag(alternate, place.Tag)) != 0)
        {
            return false;
        }

        // As in Find.
        Volatile.ReadBarrier();
        return primary->Version == primaryVersion && alternate->Version == alternateVersion && !MayBeInOverflow(memory, collection);
    }

    /// <summary>Returns whether all bytes read through <paramref name="located"/> since it was found belonged to the key.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool Validate(in Located located)
    {
        ProtocolHook.Reach(ProtocolStep.ReadEntryCopied);

        // Load barrier: the entry's bytes must be read before the slot is read again. Pairs with the fence between the last
        // clearing of a segment's slots and the reuse of its bytes (SegmentEvictor).
        // The slot is read before the version (acquire). A slot can be cleared without a new version (StoreEngine.Kill). On Arm64, a version that is read
        // first could be the old one, and the slot a later one with the same value.
        Volatile.ReadBarrier();
        return Volatile.Read(ref *Bucket.SlotAt(located.Bucket, located.SlotIndex)) == located.Slot
            && located.Bucket->Version == located.BucketVersion;
    }

    /// <summary>Finds a key's entry for the holder of the partition's lock. No other thread stores slots meanwhile.</summary>
    public static bool FindLocked(StoreMemory memory, in KeyPlacement place, byte* key, int keyLength, uint collection, out Located located)
    {
        bool isStable = true;
        Bucket* primary = memory.BucketAt(place.Partition, place.Primary);
        if (Probe(memory, primary, primary->Version, place, key, keyLength, collection, out located, ref isStable))
        {
            return true;
        }

        Bucket* alternate = memory.BucketAt(place.Partition, place.Alternate);
        return Probe(memory, alternate, alternate->Version, place, key, keyLength, collection, out located, ref isStable)
            || (MayBeInOverflow(memory, collection) && FindLockedInOverflow(memory, place, key, keyLength, collection, out located));
    }

    /// <summary>Finds the slot that names exactly <paramref name="offset"/>. Returns false if there is none.</summary>
    public static bool FindByLocation(
        StoreMemory memory, in KeyPlacement place, long offset, out Bucket* bucket, out int slotIndex, out ulong slot)
    {
        bucket = memory.BucketAt(place.Partition, place.Primary);
        if (FindInBucket(bucket, place.Tag, offset, out slotIndex, out slot))
        {
            return true;
        }

        bucket = memory.BucketAt(place.Partition, place.Alternate);
        return FindInBucket(bucket, place.Tag, offset, out slotIndex, out slot)
            || (memory.HasOverflow && FindByLocationInOverflow(memory, place, offset, ref bucket, ref slotIndex, ref slot));
    }

    /// <summary>
    /// Finds an empty slot for a new key. Until five slots of the primary bucket are used, this is in the primary bucket. Afterwards it is in
    /// the emptier of the two buckets. Returns false if both are full.
    /// </summary>
    /// <remarks>
    /// Each read of a key in its alternate bucket costs a third cache miss. At load 0.44, sharing from the fourth slot on puts 10 % of the
    /// keys into alternate buckets. Sharing from the fifth slot puts 4 % there, and from the sixth 2 %. But with the sixth, some inserts
    /// find both buckets full long before the store is full (docs/decisions/0012).
    /// </remarks>
    public static bool TryFindEmpty(StoreMemory memory, in KeyPlacement place, out Bucket* bucket, out int slotIndex)
    {
        bucket = memory.BucketAt(place.Partition, place.Primary);
        uint empty = Bucket.EmptySlots(bucket);
        if (BitOperations.PopCount(empty) <= Bucket.Slots - PreferPrimaryBelow)
        {
            Bucket* alternate = memory.BucketAt(place.Partition, place.Alternate);
            uint alternateEmpty = Bucket.EmptySlots(alternate);
            if (BitOperations.PopCount(alternateEmpty) > BitOperations.PopCount(empty))
            {
                bucket = alternate;
                empty = alternateEmpty;
            }
        }

        slotIndex = BitOperations.TrailingZeroCount(empty);
        return empty != 0;
    }

    /// <summary>Finds an empty slot in the emptier of a key's overflow buckets. Returns false if both are full.</summary>
    public static bool TryFindEmptyInOverflow(StoreMemory memory, in KeyPlacement place, out Bucket* bucket, out int slotIndex)
    {
        bucket = memory.OverflowBucket(place, 0);
        Bucket* second = memory.OverflowBucket(place, 1);
        if (Bucket.UsedSlots(second) < Bucket.UsedSlots(bucket))
        {
            bucket = second;
        }

        slotIndex = BitOperations.TrailingZeroCount(Bucket.EmptySlots(bucket));
        return slotIndex < Bucket.Slots;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Prefetch(void* address)
    {
        if (Sse.IsSupported)
        {
            Sse.Prefetch0(address);
        }

        // Other processors have no prefetch here, and a load whose result is not needed would stall.
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool Probe(
        StoreMemory memory, Bucket* bucket, uint version, in KeyPlacement place, byte* key, int keyLength, uint collection,
        out Located located, ref bool isStable)
    {
        uint matches = Bucket.MatchTag(bucket, place.Tag);
        while (matches != 0)
        {
            int slotIndex = BitOperations.TrailingZeroCount(matches);
            ulong slot = Volatile.Read(ref *Bucket.SlotAt(bucket, slotIndex));
            ProtocolHook.Reach(ProtocolStep.ReadSlotLoaded);
            if (slot != 0 && memory.TryView(slot, out EntryView entry)
                && entry.KeyEquals(key, keyLength)
                && entry.Collection == collection
                && Bucket.StampMatches(slot, entry.Version))
            {
                located.Bucket = bucket;
                located.SlotIndex = slotIndex;
                located.BucketVersion = version;
                located.Slot = slot;
                located.Entry = entry;
                ProtocolHook.Reach(ProtocolStep.ReadEntryFound);
                return true;
            }

            isStable = isStable && IsUnchanged(bucket, slotIndex, slot);
            matches &= matches - 1;
        }

        Unsafe.SkipInit(out located);
        return false;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool MayBeInOverflow(StoreMemory memory, uint collection) =>
        collection != 0 && memory.IsKept(collection) && memory.HasOverflow;

    // For a reader that found nothing in the key's own buckets. Returns null if a bucket has changed; the reader then starts again.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool? FindInOverflow(
        StoreMemory memory, in KeyPlacement place, byte* key, int keyLength, uint collection, uint primaryVersion, uint alternateVersion,
        out Located located)
    {
        bool isStable = true;
        Bucket* first = memory.OverflowBucket(place, 0);
        uint firstVersion = Volatile.Read(ref first->Version);
        ProtocolHook.Reach(ProtocolStep.ReadVersionLoaded);
        if (Probe(memory, first, firstVersion, place, key, keyLength, collection, out located, ref isStable))
        {
            return true;
        }

        Bucket* second = memory.OverflowBucket(place, 1);
        uint secondVersion = Volatile.Read(ref second->Version);
        if (Probe(memory, second, secondVersion, place, key, keyLength, collection, out located, ref isStable))
        {
            return true;
        }

        Volatile.ReadBarrier(); // The loads above must be complete before the versions are read again, as in Find.
        bool isUnchanged = isStable && first->Version == firstVersion && second->Version == secondVersion
            && memory.BucketAt(place.Partition, place.Primary)->Version == primaryVersion
            && memory.BucketAt(place.Partition, place.Alternate)->Version == alternateVersion;
        return isUnchanged ? false : null;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool FindLockedInOverflow(
        StoreMemory memory, in KeyPlacement place, byte* key, int keyLength, uint collection, out Located located)
    {
        bool isStable = true;
        Bucket* first = memory.OverflowBucket(place, 0);
        Bucket* second = memory.OverflowBucket(place, 1);
        return Probe(memory, first, first->Version, place, key, keyLength, collection, out located, ref isStable)
            || Probe(memory, second, second->Version, place, key, keyLength, collection, out located, ref isStable);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool FindByLocationInOverflow(
        StoreMemory memory, in KeyPlacement place, long offset, ref Bucket* bucket, ref int slotIndex, ref ulong slot)
    {
        for (int choice = 0; choice < 2; choice++)
        {
            bucket = memory.OverflowBucket(place, choice);
            if (FindInBucket(bucket, place.Tag, offset, out slotIndex, out slot))
            {
                return true;
            }
        }

        return false;
    }

    // Called for another key with the same tag (one in thousands), or for an entry that was moved and whose old place has other bytes.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool IsUnchanged(Bucket* bucket, int slotIndex, ulong slot)
    {
        Volatile.ReadBarrier();
        return *Bucket.SlotAt(bucket, slotIndex) == slot;
    }

    private static bool FindInBucket(Bucket* bucket, ushort tag, long offset, out int slotIndex, out ulong slot)
    {
        uint matches = Bucket.MatchTag(bucket, tag);
        while (matches != 0)
        {
            slotIndex = BitOperations.TrailingZeroCount(matches);
            slot = Volatile.Read(ref *Bucket.SlotAt(bucket, slotIndex));
            if (Bucket.LocationOf(slot) == offset && slot != 0)
            {
                return true;
            }

            matches &= matches - 1;
        }

        slotIndex = 0;
        slot = 0;
        return false;
    }
}
