namespace Cairn.Storage;

/// <summary>The place of a key: its partition, its two buckets in that partition, and its tag in a slot.</summary>
/// <remarks>
/// The top six bits of the hash choose the partition. Bits 16 to 47 choose the primary bucket, and a remix chooses the alternate one. Bits 0 to 15 are the
/// tag. The choice between two buckets follows Azar, Broder, Karlin and Upfal, "Balanced Allocations", STOC 1994. Both buckets are in one partition, so one
/// lock covers a key. Two overflow buckets take a kept key that finds no slot in its two buckets (docs/decisions/0019).
/// </remarks>
internal readonly struct KeyPlacement
{
    public readonly ulong Hash;
    public readonly int Partition;
    public readonly int Primary;
    public readonly int Alternate;
    public readonly ushort Tag;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public KeyPlacement(ulong hash, int partitionShift, int bucketsPerPartition)
    {
        Hash = hash;

        // The processor treats a shift by 64 as a shift by 0, so a store with one partition needs two shifts.
        Partition = (int)(hash >> 1 >> (partitionShift - 1));
        uint buckets = (uint)bucketsPerPartition;
        uint primary = Reduce((uint)(hash >> 16), buckets);
        uint alternate = Reduce((uint)((hash * 0x9E37_79B9_7F4A_7C15) >> 32), buckets);
        if (alternate == primary)
        {
            alternate = alternate + 1 == buckets ? 0 : alternate + 1;
        }

        Primary = (int)primary;
        Alternate = (int)alternate;
        Tag = TagOf(hash);
    }

    /// <summary>
    /// Returns the first (0) or second (1) of the two overflow buckets of the key. They follow the home buckets of the partition.
    /// </summary>
    public int OverflowBucket(int choice, int homeBuckets, int overflowBuckets)
    {
        ulong mixed = (Hash ^ (Hash >> 32)) * 0xD6E8_FEB8_6659_FD93;
        uint first = Reduce((uint)(mixed >> 32), (uint)overflowBuckets);
        if (choice == 0)
        {
            return homeBuckets + (int)first;
        }

        uint second = Reduce((uint)((mixed * 0x9E37_79B9_7F4A_7C15) >> 32), (uint)overflowBuckets);
        return homeBuckets + (int)(second != first ? second : second + 1 == overflowBuckets ? 0 : second + 1);
    }

    /// <summary>Returns whether a bucket of the key's partition can contain an entry of the key.</summary>
    public bool IsAmong(int bucket, int homeBuckets, int overflowBuckets) =>
        bucket == Primary || bucket == Alternate
        || (bucket >= homeBuckets
            && (bucket == OverflowBucket(0, homeBuckets, overflowBuckets) || bucket == OverflowBucket(1, homeBuckets, overflowBuckets)));

    /// <summary>Returns the tag of a hash. It is never 0, because a slot of zero is empty.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ushort TagOf(ulong hash)
    {
        ushort tag = (ushort)hash;
        return tag == 0 ? (ushort)1 : tag;
    }

    /// <summary>Returns the shift that leaves only the bits of the partition.</summary>
    public static int PartitionShift(int partitionCount) => 64 - System.Numerics.BitOperations.Log2((uint)partitionCount);

    // Lemire's multiply-shift. The number of buckets need not be a power of two.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint Reduce(uint hash, uint count) => (uint)(((ulong)hash * count) >> 32);
}
