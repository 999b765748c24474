using Cairn.Engine;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Steps;
using Cairn.Storage;

namespace Cairn.TortureTests.Interleavings;

/// <summary>The check that a broken reader leaves out of validation.</summary>
internal enum ReaderDefect
{
    None,

    /// <summary>It does not validate.</summary>
    ValidatesNothing,

    /// <summary>It checks only the bucket's version.</summary>
    ForgetsTheSlot,

    /// <summary>It checks only the slot.</summary>
    ForgetsTheVersion,
}

/// <summary>
/// Deliberately broken twins of the routines that read without a lock (HashIndex.Find and Validate, StoreEngine.TryGet, TryGetPlain and
/// TryPin). None checks checksums, because those would hide errors of validation.
/// </summary>
internal static unsafe class BrokenReaders
{
    public static bool TryGet(StoreEngine engine, in KeyRef key, Span<byte> destination, ReaderDefect defect, out int length)
    {
        while (HashIndex.Find(engine.Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located located))
        {
            length = Math.Min((int)located.Entry.ValueLength, destination.Length);
            new ReadOnlySpan<byte>(located.Entry.Value, length).CopyTo(destination);
            if (Validate(located, defect))
            {
                return true;
            }
        }

        length = 0;
        return false;
    }

    public static bool TryPin(StoreEngine engine, in KeyRef key, ReaderDefect defect, out int cell, out EntryView entry)
    {
        engine.Owners.TryTakeHazardCell(isLasting: false, out cell);
        while (HashIndex.Find(engine.Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located located))
        {
            engine.Owners.Pin(cell, engine.Memory.SegmentOf(located.Slot));
            if (Validate(located, defect))
            {
                entry = located.Entry;
                return true;
            }
        }

        engine.Owners.Unpin(cell);
        entry = default;
        return false;
    }

    /// <summary>Reports a key as missing if only the versions are unchanged; it does not check the slot that it read.</summary>
    public static bool Contains(StoreMemory memory, in KeyRef key, ReaderDefect defect)
    {
        Bucket* primary = memory.BucketAt(key.Place.Partition, key.Place.Primary);
        Bucket* alternate = memory.BucketAt(key.Place.Partition, key.Place.Alternate);
        while (true)
        {
            bool isStable = true;
            uint primaryVersion = Volatile.Read(ref primary->Version);
            uint alternateVersion = Volatile.Read(ref alternate->Version);
            ProtocolHook.Reach(ProtocolStep.ReadVersionLoaded);
            if (IsIn(memory, primary, key, ref isStable) || IsIn(memory, alternate, key, ref isStable))
            {
                return true;
            }

            bool isVersionSame = primary->Version == primaryVersion && alternate->Version == alternateVersion;
            if ((isStable || defect == ReaderDefect.ForgetsTheSlot) && (isVersionSame || defect == ReaderDefect.ForgetsTheVersion))
            {
                return false;
            }
        }
    }

    private static bool Validate(in Located located, ReaderDefect defect)
    {
        ProtocolHook.Reach(ProtocolStep.ReadEntryCopied);
        bool isSlotSame = *Bucket.SlotAt(located.Bucket, located.SlotIndex) == located.Slot;
        bool isVersionSame = located.Bucket->Version == located.BucketVersion;
        return defect switch
        {
            ReaderDefect.ForgetsTheSlot => isVersionSame,
            ReaderDefect.ForgetsTheVersion => isSlotSame,
            ReaderDefect.ValidatesNothing => true,
            _ => isSlotSame && isVersionSame,
        };
    }

    private static bool IsIn(StoreMemory memory, Bucket* bucket, in KeyRef key, ref bool isStable)
    {
        for (int i = 0; i < Bucket.Slots; i++)
        {
            ulong slot = Volatile.Read(ref *Bucket.SlotAt(bucket, i));
            if (slot != 0 && Bucket.TagOf(slot) == key.Place.Tag)
            {
                ProtocolHook.Reach(ProtocolStep.ReadSlotLoaded);
                if (memory.TryView(slot, out EntryView entry) && entry.KeyEquals(key.Bytes, key.Length))
                {
                    return true;
                }

                isStable &= *Bucket.SlotAt(bucket, i) == slot;
            }
        }

        return false;
    }
}
