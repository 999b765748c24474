using System.Runtime.CompilerServices;

namespace Cairn.Storage;

/// <summary>Where a key belongs: its partition, its two buckets within it, and the tag that stands for it in a slot.</summary>
/// <remarks>
/// Bits of the hash: the top six choose the partition, 16 to 47 the primary bucket, a remix the alternate one, 0 to 15 the tag. Two
/// choices of bucket follow Azar, Broder, Karlin and Upfal, "Balanced Allocations", STOC 1994; both lie in one partition, so one
/// lock covers a key.
/// Two more buckets take a key that must be kept and finds no place in those (docs/decisions/0019).
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

        // A shift by 64 is a shift by 0 to the processor, so one partition needs the two steps.
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

    /// <summary>The first (0) or second (1) of the two overflow buckets of the key, which follow the home buckets of its partition.</summary>
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

    /// <summary>True if an entry of the key may be in a bucket of its partition.</summary>
    public bool IsAmong(int bucket, int homeBuckets, int overflowBuckets) =>
        bucket == Primary || bucket == Alternate
        || (bucket >= homeBuckets
            && (bucket == OverflowBucket(0, homeBuckets, overflowBuckets) || bucket == OverflowBucket(1, homeBuckets, overflowBuckets)));

    /// <summary>Never 0, because a slot of zero is an empty one.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ushort TagOf(ulong hash)
    {
        ushort tag = (ushort)hash;
        return tag == 0 ? (ushort)1 : tag;
    }

    /// <summary>The shift that leaves the partition's bits.</summary>
    public static int PartitionShift(int partitionCount) => 64 - System.Numerics.BitOperations.Log2((uint)partitionCount);

    // Lemire's multiply-shift: the bucket count needs not be a power of two.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint Reduce(uint hash, uint count) => (uint)(((ulong)hash * count) >> 32);
}
