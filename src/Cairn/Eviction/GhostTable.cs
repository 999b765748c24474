using Cairn.Indexing;
using Cairn.Storage;

namespace Cairn.Eviction;

// Keys that left the small log without a second use, remembered by fingerprint: if one comes back soon, it goes straight
// to the main log (the ghost queue of S3-FIFO). As many fingerprints as the main log has entries.
//
// A bucket is a cache line: 31 fingerprints of 16 bits and the position to overwrite next, so that each bucket is a small
// FIFO, and together they approximate one. A wrong match, 31 in 65,535, puts a new key into the wrong log: harmless.
internal sealed unsafe class GhostTable(StoreMemory memory)
{
    private readonly uint _bucketCount = (uint)memory.Layout.GhostBucketsPerPartition;

    /// <summary>The line that <see cref="Remove"/> will read, for a prefetch.</summary>
    public ushort* BucketOf(in KeyPlacement place) =>
        memory.GhostBucket(place.Partition, (int)(((place.Hash >> 24 & uint.MaxValue) * _bucketCount) >> 32));

    public void Add(in KeyPlacement place)
    {
        ushort* bucket = BucketOf(place);
        int next = bucket[0] % StoreLayout.FingerprintsPerGhostBucket;
        bucket[1 + next] = FingerprintOf(place.Hash);
        bucket[0] = (ushort)(next + 1);
    }

    /// <summary>True if the key was remembered; it no longer is.</summary>
    public bool Remove(in KeyPlacement place)
    {
        ushort* bucket = BucketOf(place);
        int found = new ReadOnlySpan<ushort>(bucket + 1, StoreLayout.FingerprintsPerGhostBucket).IndexOf(FingerprintOf(place.Hash));
        if (found < 0)
        {
            return false;
        }

        bucket[1 + found] = 0;
        return true;
    }

    // Bits that neither the tag nor, mostly, the bucket number uses. 0 is an empty place.
    private static ushort FingerprintOf(ulong hash)
    {
        ushort fingerprint = (ushort)((hash * 0xC2B2_AE3D_27D4_EB4F) >> 40);
        return fingerprint == 0 ? (ushort)1 : fingerprint;
    }
}
