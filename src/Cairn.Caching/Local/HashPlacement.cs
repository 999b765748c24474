namespace Cairn.Caching.Local;

// The place of a hash: its highest bits choose the shard, and the 32 bits below them the bucket, in order. So neighbouring hashes are
// neighbours in the tables as well, and the removal of a range visits no other buckets.
[StructLayout(LayoutKind.Auto)]
internal readonly struct HashPlacement(int shardBits)
{
    // A shift by 64 would not shift at all; two shifts by 1 and 63 do.
    private readonly int _shardShift = 63 - shardBits;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int ShardOf(ulong hash) => (int)((hash >> 1) >> _shardShift);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int BucketOf(ulong hash, int buckets) => (int)((((hash << shardBits) >> 32) * (uint)buckets) >> 32);
}
