using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Cairn.Caching.Local;

// Where a hash belongs: its highest bits choose the shard, the 32 bits below them the bucket, in order. So neighbouring hashes
// are neighbours in the tables as well, and forgetting a range of them looks at no others.
[StructLayout(LayoutKind.Auto)]
internal readonly struct HashPlacement(int shardBits)
{
    // Shifting by 64 would not shift at all; one and 63 do.
    private readonly int _shardShift = 63 - shardBits;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int ShardOf(ulong hash) => (int)((hash >> 1) >> _shardShift);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int BucketOf(ulong hash, int buckets) => (int)((((hash << shardBits) >> 32) * (uint)buckets) >> 32);
}
