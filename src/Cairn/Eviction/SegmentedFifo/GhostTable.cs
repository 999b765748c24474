using Cairn.Indexing;

namespace Cairn.Eviction.SegmentedFifo;

// The fingerprints of keys that left the small log without a second use. If such a key returns soon, its entry goes directly to the
// main log (the ghost queue of S3-FIFO). The table remembers nine tenths as many keys as the partition has entries.
//
// A bucket is a cache line: 31 fingerprints of 16 bits and the position to overwrite next. So each bucket is a small FIFO queue, and
// together the buckets approximate one queue. A false match, 31 in 65,535, only puts a new key into the wrong log.
//
// The table has room for the entries that the store expected when it was created. If entries are longer, there are fewer, and a part of each bucket is
// used. A longer memory would be worse: the keys of a loop that is larger than the store would return and flush the main log.
internal sealed unsafe class GhostTable(StoreMemory memory)
{
    private readonly uint _bucketCount = (uint)memory.Layout.GhostBucketsPerPartition;

    /// <summary>Returns the cache line that <see cref="Remove"/> will read, for a prefetch.</summary>
    public ushort* BucketOf(in KeyPlacement place) =>
        memory.GhostBucket(place.Partition, (int)(((place.Hash >> 24 & uint.MaxValue) * _bucketCount) >> 32));

    /// <summary>Adds a key.</summary>
    /// <param name="place">The place of the key.</param>
    /// <param name="entries">The number of entries in the partition.</param>
    public void Add(in KeyPlacement place, long entries)
    {
        ushort* bucket = BucketOf(place);
        if (!memory.TryBackBucket(bucket))
        {
            return;
        }

        int next = bucket[0] % PlacesOf(entries);
        bucket[1 + next] = FingerprintOf(place.Hash);
        bucket[0] = (ushort)(next + 1);
    }

    /// <summary>Removes a key. Returns false if the table did not contain it.</summary>
    public bool Remove(in KeyPlacement place, long entries)
    {
        ushort* bucket = BucketOf(place);
        int found = new ReadOnlySpan<ushort>(bucket + 1, PlacesOf(entries)).IndexOf(FingerprintOf(place.Hash));
        if (found < 0)
        {
            return false;
        }

        bucket[1 + found] = 0;
        return true;
    }

    private int PlacesOf(long entries) => (int)Math.Clamp(((entries * 9 / 10) + (_bucketCount / 2)) / _bucketCount, 1, StoreLayout.FingerprintsPerGhostBucket);

    // Uses bits that the tag does not use and the bucket number mostly does not use. 0 is an empty place.
    private static ushort FingerprintOf(ulong hash)
    {
        ushort fingerprint = (ushort)((hash * 0xC2B2_AE3D_27D4_EB4F) >> 40);
        return fingerprint == 0 ? (ushort)1 : fingerprint;
    }
}
