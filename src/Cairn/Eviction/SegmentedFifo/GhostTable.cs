using Cairn.Indexing;

namespace Cairn.Eviction.SegmentedFifo;

/// <summary>A key that returned after its eviction.</summary>
internal enum GhostHit
{
    None,

    /// <summary>The key left the small log longer ago.</summary>
    OldOfSmall,

    /// <summary>The key left the small log lately: about two fifths of the remembered keys, or fewer, were evicted after it.</summary>
    YoungOfSmall,

    OfMain,
}

// The fingerprints of keys that left the small log without a second use. If such a key returns soon, its entry goes directly to the
// main log (the ghost queue of S3-FIFO). The table remembers nine tenths as many keys as the partition has entries. Some keys of the main log are
// in it too, only to be counted (RecencyBalance).
//
// A bucket is a cache line: 31 fingerprints and the position to overwrite next. So each bucket is a small FIFO queue, and
// together the buckets approximate one queue. A fingerprint has 15 bits and a mark of the log. A false match, 31 in 32,767, only puts a new key into
// the wrong log.
//
// The table has room for the entries that the store expected when it was created. If entries are longer, there are fewer, and a part of each bucket is
// used. A longer memory would be worse: the keys of a loop that is larger than the store would return and flush the main log.
internal sealed unsafe class GhostTable(StoreMemory memory)
{
    private const ushort MainMark = 0x8000;

    private readonly uint _bucketCount = (uint)memory.Layout.GhostBucketsPerPartition;

    /// <summary>Returns the cache line that <see cref="Remove"/> will read, for a prefetch.</summary>
    public ushort* BucketOf(in KeyPlacement place) =>
        memory.GhostBucket(place.Partition, (int)(((place.Hash >> 24 & uint.MaxValue) * _bucketCount) >> 32));

    /// <summary>Adds a key.</summary>
    /// <param name="place">The place of the key.</param>
    /// <param name="entries">The number of entries in the partition.</param>
    /// <param name="isMain">Whether the key left the main log.</param>
    public void Add(in KeyPlacement place, long entries, bool isMain)
    {
        ushort* bucket = BucketOf(place);
        if (!memory.TryBackBucket(bucket))
        {
            return;
        }

        int next = bucket[0] % PlacesOf(entries);
        bucket[1 + next] = (ushort)(FingerprintOf(place.Hash) | (isMain ? MainMark : 0));
        bucket[0] = (ushort)(next + 1);
    }

    /// <summary>Removes a key, and returns what the table knew about it.</summary>
    public GhostHit Remove(in KeyPlacement place, long entries)
    {
        ushort* bucket = BucketOf(place);
        int places = PlacesOf(entries);
        ushort fingerprint = FingerprintOf(place.Hash);
        int found = new ReadOnlySpan<ushort>(bucket + 1, places).IndexOfAny(fingerprint, (ushort)(fingerprint | MainMark));
        if (found < 0)
        {
            return GhostHit.None;
        }

        bool isMain = (bucket[1 + found] & MainMark) != 0;
        bucket[1 + found] = 0;
        int later = (((bucket[0] - 1 - found) % places) + places) % places;
        return isMain ? GhostHit.OfMain : later * 5 < places * 2 ? GhostHit.YoungOfSmall : GhostHit.OldOfSmall;
    }

    private int PlacesOf(long entries) => (int)Math.Clamp(((entries * 9 / 10) + (_bucketCount / 2)) / _bucketCount, 1, StoreLayout.FingerprintsPerGhostBucket);

    // Uses bits that the tag does not use and the bucket number mostly does not use. 0 is an empty place.
    private static ushort FingerprintOf(ulong hash)
    {
        ushort fingerprint = (ushort)(((hash * 0xC2B2_AE3D_27D4_EB4F) >> 40) & (MainMark - 1));
        return fingerprint == 0 ? (ushort)1 : fingerprint;
    }
}
