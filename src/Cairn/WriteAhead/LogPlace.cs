using Cairn.Indexing;

namespace Cairn.WriteAhead;

// The place of a put's entry in the map, and the slot that leads to it:
//
//   bits  0..55  offset in the file
//        56..58  number of the slot in its bucket
//        59..60  which of the key's buckets: 0 primary, 1 alternate, 2 and 3 overflow
//
// The redo of a transaction needs the exact slot. If it put each key into any empty slot, the last key could find no empty slot.
internal static unsafe class LogPlace
{
    private const int SlotShift = 56;
    private const int ChoiceShift = 59;
    private const int Choices = 4;

    public static long Pack(long offset, int choice, int slotIndex) => offset | ((long)slotIndex << SlotShift) | ((long)choice << ChoiceShift);

    public static long OffsetOf(long place) => place & ((1L << SlotShift) - 1);

    public static int SlotOf(long place) => (int)(place >> SlotShift) & 7;

    public static Bucket* BucketOf(StoreMemory memory, in KeyPlacement key, long place) => BucketAt(memory, key, (int)(place >> ChoiceShift) & 3);

    /// <summary>Returns which of the key's buckets a bucket is.</summary>
    public static int ChoiceOf(StoreMemory memory, in KeyPlacement key, Bucket* bucket)
    {
        int choice = 0;
        while (choice < Choices - 1 && BucketAt(memory, key, choice) != bucket)
        {
            choice++;
        }

        return choice;
    }

    public static Bucket* BucketAt(StoreMemory memory, in KeyPlacement key, int choice) => choice switch
    {
        0 => memory.BucketAt(key.Partition, key.Primary),
        1 => memory.BucketAt(key.Partition, key.Alternate),
        _ => memory.OverflowBucket(key, choice - 2),
    };
}
