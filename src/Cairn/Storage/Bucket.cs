using System.Runtime.Intrinsics;
using Cairn.Indexing;
using Cairn.Steps;

namespace Cairn.Storage;

// One cache line of the index: a metadata word and seven slots.
//
//   0  version  u32            raised by the lock's holder before each change of a slot
//   4  uses  7 x 4 bits, 4 bits spare: frequency 2 bits, read 1 bit, 1 bit spare
//   8  slots  7 x u64          tag 16 | stamp 4 | location 44; 0 is empty
//
// A slot is the only reference to its entry. A store into the slot publishes an entry; replacing or clearing the slot retracts it. The stamp repeats the
// low bits of the entry's version.
//
//   I1  A live key never changes its slot, so a scan in bucket order visits every key that lives during the whole scan.
//   I2  The lock's holder stores slots, and raises the version first. Without the lock a slot can only be compared-and-swapped to 0, which removes
//       the entry. So a holder that copies an old value to a new place must also compare-and-swap.
//   I3  Any thread writes frequencies, without order. They are hints: a lost update costs a little hit ratio. They share no word with a slot,
//       because a stale store into a slot would bring a removed entry back.
[StructLayout(LayoutKind.Explicit, Size = 64)]
internal unsafe struct Bucket
{
    public const int Slots = 7;
    public const int MaxFrequency = 3;

    private const uint FrequencyBits = 3;

    // Set if the value was read after it was written. The frequency does not show that: eviction lowers it, and a write leaves it unchanged.
    private const uint ReadBit = 4;
    private const int TagShift = 48;
    private const int StampShift = 44;
    private const ulong LocationMask = (1UL << StampShift) - 1;

    [FieldOffset(0)] public uint Version;
    [FieldOffset(4)] public uint Frequencies;
    [FieldOffset(8)] public fixed ulong Slot[Slots];

    /// <summary>Writes the bucket without changing it. The first write to a page of a file takes the kernel microseconds.</summary>
    // An atomic operation, so that no holder's change of a frequency is lost (I3).
    public static void Touch(Bucket* bucket) => Interlocked.Or(ref bucket->Frequencies, 0);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong* SlotAt(Bucket* bucket, int slot) => (ulong*)bucket + 1 + slot;

    public static ulong Pack(ushort tag, ulong version, long offset) =>
        ((ulong)tag << TagShift) | ((version & 0xF) << StampShift) | ((ulong)offset >> 3);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static long LocationOf(ulong slot) => (long)((slot & LocationMask) << 3);

    public static ushort TagOf(ulong slot) => (ushort)(slot >> TagShift);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool StampMatches(ulong slot, ulong version) => (((slot >> StampShift) ^ version) & 0xF) == 0;

    /// <summary>
    /// Returns a bit for each slot whose tag matches. Bit 0 is slot 0. The result is only a filter: read the slot again before use.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint MatchTag(Bucket* bucket, ushort tag)
    {
        if (Vector512.IsHardwareAccelerated)
        {
            Vector512<ulong> words = Vector512.Load((ulong*)bucket);
            ulong matches = Vector512.Equals(
                Vector512.ShiftRightLogical(words, TagShift), Vector512.Create((ulong)tag)).ExtractMostSignificantBits();
            return (uint)matches >> 1;
        }

        if (Vector256.IsHardwareAccelerated)
        {
            Vector256<ulong> wanted = Vector256.Create((ulong)tag);
            Vector256<ulong> low = Vector256.ShiftRightLogical(Vector256.Load((ulong*)bucket), TagShift);
            Vector256<ulong> high = Vector256.ShiftRightLogical(Vector256.Load((ulong*)bucket + 4), TagShift);
            uint bits = Vector256.Equals(low, wanted).ExtractMostSignificantBits()
                | (Vector256.Equals(high, wanted).ExtractMostSignificantBits() << 4);
            return bits >> 1;
        }

        uint mask = 0;
        for (int i = 0; i < Slots; i++)
        {
            mask |= (TagOf(*SlotAt(bucket, i)) == tag ? 1u : 0u) << i;
        }

        return mask;
    }

    /// <summary>Returns a bit for each empty slot.</summary>
    public static uint EmptySlots(Bucket* bucket)
    {
        uint mask = 0;
        for (int i = 0; i < Slots; i++)
        {
            mask |= (*SlotAt(bucket, i) == 0 ? 1u : 0u) << i;
        }

        return mask;
    }

    public static int UsedSlots(Bucket* bucket) => Slots - BitOperations.PopCount(EmptySlots(bucket));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Frequency(Bucket* bucket, int slot) => (int)((bucket->Frequencies >> (slot * 4)) & FrequencyBits);

    /// <summary>Counts a hit. A counter at its maximum is not written, so that the cache lines of frequently read keys stay shared (I3).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void CountHit(Bucket* bucket, int slot)
    {
        uint frequencies = bucket->Frequencies;
        int shift = slot * 4;
        uint uses = (frequencies >> shift) & (FrequencyBits | ReadBit);
        if (uses != (FrequencyBits | ReadBit))
        {
            uint raised = (uses & FrequencyBits) == FrequencyBits ? 0u : 1u;
            bucket->Frequencies = (frequencies + (raised << shift)) | (ReadBit << shift);
        }
    }

    /// <summary>Returns whether the value was read after it was written. The answer is a hint, like the frequency (I3).</summary>
    public static bool WasRead(Bucket* bucket, int slot) => ((bucket->Frequencies >> (slot * 4)) & ReadBit) != 0;

    /// <summary>Counts a use that is not a read of this value, because the key's previous value was already requested.</summary>
    public static void MarkRead(Bucket* bucket, int slot) => bucket->Frequencies |= ReadBit << (slot * 4);

    /// <summary>Records that the slot has a new value of the same key. The frequency of the key stays.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void MarkUnread(Bucket* bucket, int slot)
    {
        uint frequencies = bucket->Frequencies;
        uint mark = ReadBit << (slot * 4);
        if ((frequencies & mark) != 0)
        {
            bucket->Frequencies = frequencies & ~mark;
        }
    }

    /// <summary>Clears the counters, because the slot gets another key or becomes empty.</summary>
    public static void Forget(Bucket* bucket, int slot) => bucket->Frequencies &= ~(0xFu << (slot * 4));

    public static void SetFrequency(Bucket* bucket, int slot, int frequency)
    {
        int shift = slot * 4;
        bucket->Frequencies = (bucket->Frequencies & ~(FrequencyBits << shift)) | ((uint)frequency << shift);
    }

    /// <summary>
    /// Stores a slot. The caller holds the lock. Two release stores; they pair with HashIndex.Validate. The version must be visible before the slot.
    /// Otherwise a reader could treat the bucket as unchanged although it has seen the new slot. The entry's bytes must be visible before the slot that
    /// leads to them.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Store(Bucket* bucket, int slot, ulong value)
    {
        Volatile.Write(ref bucket->Version, bucket->Version + 1);
        Steps.ProtocolHook.Reach(Steps.ProtocolStep.BucketVersionRaised);
        Volatile.Write(ref *SlotAt(bucket, slot), value);
        Steps.ProtocolHook.Reach(value == 0 ? Steps.ProtocolStep.SlotCleared : Steps.ProtocolStep.SlotStored);
    }

    /// <summary>Does the same as Store, but only if no other process has removed the entry meanwhile (I2).</summary>
    public static bool TryReplace(Bucket* bucket, int slot, ulong expected, ulong value)
    {
        Volatile.Write(ref bucket->Version, bucket->Version + 1);
        Steps.ProtocolHook.Reach(Steps.ProtocolStep.BucketVersionRaised);
        bool isReplaced = Interlocked.CompareExchange(ref *SlotAt(bucket, slot), value, expected) == expected;
        Steps.ProtocolHook.Reach(Steps.ProtocolStep.SlotStored);
        return isReplaced;
    }
}
