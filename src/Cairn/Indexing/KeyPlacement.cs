using System.Runtime.CompilerServices;
using Cairn.Storage;

namespace Cairn.Indexing;

/// <summary>Where a key belongs: its partition, its two buckets within it, and the tag that stands for it in a slot.</summary>
/// <remarks>
/// Bits of the hash: the top six choose the partition, 16 to 47 the primary bucket, a remix the alternate one, 0 to 15 the tag. Two
/// choices of bucket follow Azar, Broder, Karlin and Upfal, "Balanced Allocations", STOC 1994; both lie in one partition, so one
/// lock covers a key.
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
