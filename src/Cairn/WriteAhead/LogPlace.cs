using Cairn.Indexing;
using Cairn.Storage;

namespace Cairn.WriteAhead;

// Where in the map the entry of a put lies, and which slot names it:
//
//   bits  0..55  offset in the file
//        56..58  number of the slot in its bucket
//        59..60  which of the key's buckets: 0 primary, 1 alternate, 2 and 3 overflow
//
// The slot matters to who does a transaction again: were each of its keys given any empty slot, the last could find none.
internal static unsafe class LogPlace
{
    private const int SlotShift = 56;
    private const int ChoiceShift = 59;
    private const int Choices = 4;

    public static long Pack(long offset, int choice, int slotIndex) => offset | ((long)slotIndex << SlotShift) | ((long)choice << ChoiceShift);

    public static long OffsetOf(long place) => place & ((1L << SlotShift) - 1);

    public static int SlotOf(long place) => (int)(place >> SlotShift) & 7;

    public static Bucket* BucketOf(StoreMemory memory, in KeyPlacement key, long place) => BucketAt(memory, key, (int)(place >> ChoiceShift) & 3);

    /// <summary>Which of the key's buckets it is.</summary>
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
