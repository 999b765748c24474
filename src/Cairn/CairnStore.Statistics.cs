using Cairn.Collections;
using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Analysis;

namespace Cairn;

// The statistics of the store.
public sealed unsafe partial class CairnStore
{
    private const long LastUnixMs = 253_402_300_799_999;

    /// <summary>Returns the statistics of the whole store and of each partition. The call takes microseconds and blocks no other thread.</summary>
    /// <returns>The present statistics.</returns>
    public StoreStatistics GetStatistics()
    {
        Engine.ThrowIfClosed();
        Engine.FlushHitCounters();
        StoreMemory memory = Engine.Memory;
        memory.RefreshSegmentsEnd();
        PartitionStatistics[] partitions = [.. Enumerable.Range(0, memory.PartitionCount).Select(ReadPartition)];
        Superblock* super = memory.Super;
        var statistics = new StoreStatistics
        {
            Totals = TotalsOf(partitions),
            FileBytes = memory.Layout.FileBytes(memory.SegmentCount),
            MaxCapacityBytes = memory.Layout.MaxCapacityBytes,
            Segments = memory.SegmentCount,
            BytesPerSegment = memory.SegmentBytes,
            FreeSegments = Math.Max(0, Superblock.FreeSegments(super)),
            IndexSlots = (long)memory.PartitionCount * memory.Layout.BucketsPerPartition * StoreLayout.SlotsPerBucket,
            Openings = CountOpenings(),
            CreatedAt = DateTimeOffset.FromUnixTimeMilliseconds(Math.Clamp(super->CreatedUnixMs, 0, LastUnixMs)),
            GrowthFailure = Engine.Growth.LastFailure,
            FailedCheckpoints = Math.Max(0, Volatile.Read(ref super->Log.FailedCheckpoints)),
            CheckpointFailure = _opened.Checkpointer.LastFailure,
            SweepFailure = _sweeper.LastFailure,
            Partitions = partitions,
            Collections = CollectionTable.Statistics(memory),
        };
        GC.KeepAlive(Engine);
        return statistics;
    }

    /// <summary>Returns the entries with the longest values, longest first. The call reads the whole index.</summary>
    /// <param name="count">The maximum number of entries, 1 to 10,000.</param>
    /// <param name="cancellationToken">Ends the search.</param>
    /// <returns>At most <paramref name="count"/> entries of all collections.</returns>
    public IReadOnlyList<EntrySize> GetBiggestKeys(int count, CancellationToken cancellationToken = default)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(count, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, 10_000);
        return Analyze(new AnalysisRequest { BiggestCount = count }, cancellationToken).Biggest;
    }

    /// <summary>Counts the values of each length, in powers of two. The call reads the whole index.</summary>
    /// <param name="cancellationToken">Ends the count.</param>
    /// <returns>The histogram over all collections.</returns>
    public SizeHistogram GetSizeHistogram(CancellationToken cancellationToken = default)
    {
        return Analyze(new AnalysisRequest(), cancellationToken).Sizes;
    }

    /// <summary>Visits every entry, or as many entries as the given time allows.</summary>
    internal KeySpaceAnalysis Analyze(AnalysisRequest request, CancellationToken cancellationToken) =>
        KeySpaceAnalysis.Take(VisitAll, NamesByNumber(), Options.TimeProvider, request, cancellationToken);

    /// <summary>
    /// Returns the use of every segment. The call takes microseconds and blocks no other thread. A segment that changes meanwhile is reported in its old or
    /// its new state.
    /// </summary>
    internal SegmentUse[] GetSegments()
    {
        Engine.ThrowIfClosed();
        StoreMemory memory = Engine.Memory;
        memory.RefreshSegmentsEnd();
        var segments = new SegmentUse[memory.SegmentCount];
        for (int number = 0; number < segments.Length; number++)
        {
            SegmentHeader* header = memory.Header(number);
            uint word = Volatile.Read(ref header->StateWord); // Once: its parts belong together.
            segments[number] = new SegmentUse(
                SegmentHeader.StateOf(word), SegmentHeader.LogOf(word), SegmentHeader.PartitionOf(word),
                Math.Clamp(header->Tail, 0, memory.SegmentBytes), Math.Max(0, header->LiveBytes), header->SealOrder, header->RunLength);
        }

        GC.KeepAlive(Engine);
        return segments;
    }

    /// <summary>
    /// Counts the entries of the default collection that expire. Also returns the average time until expiration of those that expire at a fixed moment.
    /// </summary>
    internal (long Entries, TimeSpan AverageLeft) GetExpiring()
    {
        Engine.ThrowIfClosed();
        StoreMemory memory = Engine.Memory;
        long fixedEntries = 0;
        long sliding = 0;
        long left = 0;
        long now = Engine.Clock.NowMs();
        for (int number = 0; number < memory.PartitionCount; number++)
        {
            PartitionBlock* partition = memory.Partition(number);
            long* counters = PartitionBlock.CollectionCounters(partition, 0);
            long entries = Math.Max(0, Volatile.Read(ref counters[0]));

            // The multiplication wraps around. The stored sum wraps around in the same way.
            left = unchecked(left + Volatile.Read(ref counters[1]) - (entries * now));
            fixedEntries += entries;
            sliding += Math.Max(0, partition->OwnSliding);
        }

        GC.KeepAlive(Engine);
        long average = fixedEntries == 0 ? 0 : Math.Clamp(left / fixedEntries, 0, Expiration.LongestMs);
        return (fixedEntries + sliding, TimeSpan.FromMilliseconds(average));
    }

    internal IReadOnlyList<string> NamesByNumber() => CollectionTable.NamesByNumber(Engine.Memory);

    private static PartitionStatistics TotalsOf(PartitionStatistics[] partitions) => new()
    {
        Entries = Total(partitions, p => p.Entries),
        Bytes = Total(partitions, p => p.Bytes),
        SegmentBytes = Total(partitions, p => p.SegmentBytes),
        Hits = Total(partitions, p => p.Hits),
        Misses = Total(partitions, p => p.Misses),
        Sets = Total(partitions, p => p.Sets),
        Removals = Total(partitions, p => p.Removals),
        Evictions = Total(partitions, p => p.Evictions),
        Displacements = Total(partitions, p => p.Displacements),
        EvictionsUnread = Total(partitions, p => p.EvictionsUnread),
        Expirations = Total(partitions, p => p.Expirations),
        ExpirationsUnread = Total(partitions, p => p.ExpirationsUnread),
        ExpirationsReclaimed = Total(partitions, p => p.ExpirationsReclaimed),
        ExpiredBytes = Total(partitions, p => p.ExpiredBytes),
        GhostHits = Total(partitions, p => p.GhostHits),
        Declined = Total(partitions, p => p.Declined),
        Dropped = Total(partitions, p => p.Dropped),
        LockWaits = Total(partitions, p => p.LockWaits),
        Recoveries = Total(partitions, p => p.Recoveries),
        DamagedEntries = Total(partitions, p => p.DamagedEntries),
    };

    // Statistics have no checksum. Damage can leave any number in them, and a caller that reads them must not fail.
    private static long Total(PartitionStatistics[] partitions, Func<PartitionStatistics, long> of)
    {
        Int128 total = 0;
        foreach (PartitionStatistics partition in partitions)
        {
            total += of(partition);
        }

        return (long)Int128.Clamp(total, long.MinValue, long.MaxValue);
    }

    /// <summary>Visits every entry of every collection. In an encrypted store the visitor receives the decrypted key.</summary>
    /// <param name="visitor">Receives each entry.</param>
    /// <param name="isEnough">
    /// Called from time to time with the number of visited buckets. The visit stops if it returns true. Null visits all buckets.
    /// </param>
    /// <param name="cancellationToken">Ends the visit.</param>
    /// <returns>The part of the index that was visited, 0 to 1.</returns>
    internal double VisitAll(EntryVisitor visitor, Func<long, bool>? isEnough, CancellationToken cancellationToken)
    {
        Engine.ThrowIfClosed();
        if (Engine.Cipher is { } cipher)
        {
            EntryVisitor whole = visitor;
            OpenedVisitor opened = (ReadOnlySpan<byte> key, ReadOnlySpan<byte> _, in EntryInfo info, uint collection) => whole(key, info, collection);
            visitor = (ReadOnlySpan<byte> tag, in EntryInfo _, uint collection) => CairnCollection.VisitSealed(Engine, cipher, tag, collection, opened);
        }

        for (long bucket = 0; bucket < Engine.BucketCount; bucket++)
        {
            if (bucket % 1024 == 0)
            {
                cancellationToken.ThrowIfCancellationRequested();
                if (isEnough?.Invoke(bucket) == true)
                {
                    return (double)bucket / Engine.BucketCount;
                }
            }

            Engine.VisitBucket(bucket, visitor);
        }

        return 1;
    }

    private PartitionStatistics ReadPartition(int number)
    {
        StoreMemory memory = Engine.Memory;
        PartitionBlock* partition = memory.Partition(number);
        long hits = Volatile.Read(ref partition->DepartedHits);
        long misses = Volatile.Read(ref partition->DepartedMisses);
        for (int slot = 1; slot <= Math.Clamp(memory.Super->OwnerHighWater, 0, StoreLayout.MaxOwners); slot++)
        {
            long* counters = OwnerRecord.Counters(memory.Owner(slot), number);
            hits += Volatile.Read(ref counters[0]);
            misses += Volatile.Read(ref counters[1]);
        }

        return new PartitionStatistics
        {
            Entries = Math.Max(0, partition->Entries),
            Bytes = Math.Max(0, partition->LiveBytes),
            SegmentBytes = (long)partition->SegmentCount * memory.SegmentBytes,
            Hits = hits,
            Misses = misses,
            Sets = partition->Sets,
            Removals = partition->Removals,
            Evictions = partition->Evictions,
            Displacements = partition->Displacements,
            EvictionsUnread = partition->EvictedUnread,
            Expirations = partition->Expirations,
            ExpirationsUnread = partition->ExpiredUnread,
            ExpirationsReclaimed = partition->Reclaimed,
            ExpiredBytes = Math.Max(0, partition->ExpiredBytes),
            GhostHits = partition->GhostHits,
            Declined = partition->Declined,
            Dropped = partition->Dropped,
            LockWaits = partition->LockWaits,
            Recoveries = partition->Recoveries,
            DamagedEntries = partition->Corrupt,
        };
    }

    private int CountOpenings()
    {
        int openings = 0;
        for (int slot = 1; slot <= Math.Clamp(Engine.Memory.Super->OwnerHighWater, 0, StoreLayout.MaxOwners); slot++)
        {
            openings += Engine.Owners.IsAlive(slot) ? 1 : 0;
        }

        return openings;
    }
}
