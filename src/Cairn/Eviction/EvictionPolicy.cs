using Cairn.Segments;

namespace Cairn.Eviction;

/// <summary>An entry of a victim that can be evicted: it has neither expired nor been cleared.</summary>
/// <param name="entry">The entry in the file.</param>
/// <param name="place">The place of its key in the index.</param>
/// <param name="frequency">The use counter of its slot, 0 to <see cref="Bucket.MaxFrequency"/>.</param>
/// <param name="isMain">Whether its segment belongs to the main log.</param>
internal readonly ref struct EvictionCandidate(in EntryView entry, in KeyPlacement place, int frequency, bool isMain)
{
    public readonly ref readonly EntryView Entry = ref entry;
    public readonly ref readonly KeyPlacement Place = ref place;
    public readonly int Frequency = frequency;
    public readonly bool IsMain = isMain;
}

/// <summary>Where an entry goes when its segment is evicted.</summary>
/// <param name="Log"><see cref="PartitionBlock.LogSmall"/> or <see cref="PartitionBlock.LogMain"/>.</param>
/// <param name="Frequency">The use counter that it has there.</param>
internal readonly record struct Promotion(int Log, int Frequency);

/// <summary>The largest ages of sealed segments in any partition, in segments that the partition has sealed since.</summary>
/// <param name="Any">The largest age in any log.</param>
/// <param name="OfMain">The largest age in any main log.</param>
internal readonly record struct OldestAges(long Any, long OfMain);

// An eviction policy decides four things. SegmentEvictor and the engine do all the rest.
//
//   admission   in which log the entry of a new key begins     BeginsInMain
//   victim      which segment is evicted next                  NextVictim
//   promotion   which entries of that segment survive, where   IsUsed, Promote, OnEvicted
//   worth       which segments give their place to a run       FindOldest, WorthOf, OnYield
//
//   P1  The caller holds the partition's lock. A policy has no other synchronization of its own for the partition's state. FindOldest and WorthOf
//       are called without a lock. They read hints only.
//   P2  The state of a policy is a hint. Recovery may reset it, and another process may have written it. No answer of a policy can
//       cause a loss of an entry that must stay, or a wrong value: the evictor checks each segment number, and keeps I2 of SegmentEvictor.
//   P3  A read counts a use in the index (Bucket.CountHit) and does not call the policy. So reads stay free of locks and of shared writes.
//
// A policy does not decide about expired, cleared and kept entries, about segments that are mostly garbage, or about entries that exceed the
// budget of their collection. StoreEngine's constructor names the policy.
internal abstract unsafe class EvictionPolicy(StoreMemory memory, SegmentPool pool)
{
    protected StoreMemory Memory => memory;

    protected SegmentPool Pool => pool;

    /// <summary>Returns whether the entry of a key that is not in the index begins in the main log. Called once for each write of such a key.</summary>
    public abstract bool BeginsInMain(PartitionBlock* partition, in KeyPlacement place);

    /// <summary>
    /// Returns the next segment to evict, at the head of one of the two queues, or <see cref="SegmentPool.None"/>. Segments that were sealed after
    /// <paramref name="youngest"/> were found to be pinned a moment ago.
    /// </summary>
    public abstract int NextVictim(PartitionBlock* partition, ulong youngest);

    /// <summary>Returns whether an entry was used enough to survive.</summary>
    public abstract bool IsUsed(PartitionBlock* partition, in EvictionCandidate candidate);

    /// <summary>Returns where a surviving entry goes. With <paramref name="isCleaning"/>, all entries of the segment survive, used or not.</summary>
    public abstract Promotion Promote(in EvictionCandidate candidate, bool isCleaning);

    /// <summary>Called for an entry that does not survive.</summary>
    public abstract void OnEvicted(PartitionBlock* partition, in EvictionCandidate candidate);

    /// <summary>Returns the ages that <see cref="WorthOf"/> compares a segment's age with.</summary>
    public abstract OldestAges FindOldest();

    /// <summary>Returns how much a sealed segment is worth, from 0 to 1, compared with those of all partitions.</summary>
    public abstract double WorthOf(SegmentHeader* header, OldestAges oldest);

    /// <summary>Called before a segment is evicted because a value longer than a segment needs its place.</summary>
    public abstract void OnYield(PartitionBlock* partition, int segment);

    /// <summary>Returns the oldest sealed segment of a log if it can be a victim, or <see cref="SegmentPool.None"/>.</summary>
    protected int OldestOf(PartitionBlock* partition, int log, ulong youngest)
    {
        int segment = *PartitionBlock.Queue(partition, log) - 1;
        return pool.IsSegment(segment) && memory.Header(segment)->SealOrder <= youngest ? segment : SegmentPool.None;
    }
}
