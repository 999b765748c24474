using Cairn.Indexing;
using Cairn.Segments;
using Cairn.Steps;

namespace Cairn.Eviction;

/// <summary>The result of one step of a sweep.</summary>
/// <param name="Looked">The number of entries that it examined.</param>
/// <param name="Removed">The number of entries that it removed.</param>
/// <param name="IsDone">Whether the requested segment needs no further step now.</param>
internal readonly record struct SweepStep(int Looked, int Removed, bool IsDone);

// Active expiration: removes expired entries even if no caller requests them and no other entry needs their room.
//
//   a segment is due     its MinDeadline has passed, and it was not swept in the last two seconds
//   a step               examines at most 128 entries, removes at most 16, then releases the lock
//   a sweep is complete  MinDeadline := the earliest remaining time; a sealed segment without live entries is recycled
//
//   S1  The state of a partition's sweep is in the file: its segment, its position, and the earliest time that it has seen. A step reads and stores it
//       under the lock. So any process can continue the sweep, and two processes never examine the same entries. A process that is killed or
//       stopped between two steps holds nothing.
//   S2  MinDeadline is never later than the time at which the first entry of the segment can be removed. It is lowered before a slot names the
//       entry. Only a sweep that has examined every entry raises it, or a recovery that has examined every slot.
//   S3  An entry is removed only if its slot names it and its time has passed, both checked under the lock. A use that extends its life takes
//       the same lock.
//   S4  The work of a step is bounded, for any size of the segment. Groups of entries that are known not to be due are passed over (DeadlineGroups).
internal sealed unsafe partial class SegmentEvictor
{
    // A step costs a few microseconds, no more than the eviction that a write may do.
    private const int MostLookedAtInStep = 128;

    // Entries with different times to live expire one after the other. The interval prevents a new walk of their segment for each of them.
    private const uint DefaultSweepIntervalSeconds = 2;

    // The data of this opening about each segment, allocated when it first sweeps one. The holder of the partition's lock owns its segments' elements.
    private readonly Lazy<DeadlineGroups?[]> _groups;

    /// <summary>Gets or sets how long a segment is not swept again after a sweep, in seconds. Tests of sweeps set it to 0.</summary>
    public uint SweepIntervalSeconds { get; set; } = DefaultSweepIntervalSeconds;

    /// <summary>Gets or sets how long entries stay after they have expired, in milliseconds, unless their room is needed.</summary>
    public long ExpiredRetentionMs { get; set; }

    /// <summary>Returns whether a sweep of a segment seems useful. Without the lock this is a hint.</summary>
    public bool IsDue(SegmentHeader* header, long now)
    {
        if (header->MinDeadline > now - ExpiredRetentionMs
            || SegmentHeader.StateOf(header->StateWord) is not (SegmentState.Open or SegmentState.Sealed))
        {
            return false;
        }

        // SweptAtSeconds is later than now only if the clock was set back.
        uint seconds = SecondsOf(now);
        return header->SweptAtSeconds > seconds || seconds - header->SweptAtSeconds >= SweepIntervalSeconds;
    }

    /// <summary>Continues the sweep of a partition, or begins one of a due segment. The caller holds the lock.</summary>
    public SweepStep Sweep(PartitionBlock* partition, int number, int segment)
    {
        long now = _clock.NowMs();
        if (partition->Victim == segment + 1 && IsReusing(partition))
        {
            // Its cleaning removes expired entries. Without a further write, only the sweep continues it.
            EvictBatch(partition, number);
            return new SweepStep(BatchEntries, 0, IsDone: partition->Victim != segment + 1);
        }

        if (!IsSweepable(partition, number, partition->Sweep - 1))
        {
            partition->Sweep = 0;
            if (!IsSweepable(partition, number, segment) || !IsDue(_memory.Header(segment), now))
            {
                return new SweepStep(0, 0, IsDone: true);
            }

            BeginSweep(partition, segment, now);
        }

        bool isAsked = partition->Sweep == segment + 1;
        SweepStep step = ContinueSweep(partition, number, now - ExpiredRetentionMs);
        return isAsked ? step : step with { IsDone = false };
    }

    /// <summary>Forgets the data of this opening about segments. For tests that change the file's contents.</summary>
    public void ForgetGroups() => _groups.Value.AsSpan().Clear();

    private static uint SecondsOf(long unixMs) => (uint)Math.Clamp(unixMs / 1000, 0, uint.MaxValue);

    private bool IsSweepable(PartitionBlock* partition, int number, int segment)
    {
        if (!_pool.IsSegment(segment) || partition->Victim == segment + 1)
        {
            return false;
        }

        uint word = Volatile.Read(ref _memory.Header(segment)->StateWord);
        return SegmentHeader.PartitionOf(word) == number && SegmentHeader.StateOf(word) is SegmentState.Open or SegmentState.Sealed;
    }

    private void BeginSweep(PartitionBlock* partition, int segment, long now)
    {
        partition->SweepCursor = 0;
        partition->SweepEarliest = long.MaxValue;
        partition->Sweep = segment + 1;
        _memory.Header(segment)->SweptAtSeconds = SecondsOf(now);
        ProtocolHook.Reach(ProtocolStep.SweepBegun);
    }

    /// <summary>Examines some entries of the segment that is being swept. Removes those whose time is not later than <paramref name="until"/>.</summary>
    private SweepStep ContinueSweep(PartitionBlock* partition, int number, long until)
    {
        int segment = partition->Sweep - 1;
        SegmentHeader* header = _memory.Header(segment);
        int runLength = _memory.RunLengthOf(segment);
        long end = runLength > 1 ? (long)runLength * _memory.SegmentBytes : Math.Clamp(header->Tail, 0, _memory.SegmentBytes);
        byte* start = _memory.SegmentStart(segment);
        long cursor = Math.Clamp(partition->SweepCursor, 0, end);
        long earliest = partition->SweepEarliest;
        DeadlineGroups? groups = GroupsOf(partition, number, segment);
        KeyPlacement* places = stackalloc KeyPlacement[BatchEntries];
        EntryView* entries = stackalloc EntryView[BatchEntries];
        int looked = 0;
        int count = 0;
        while (looked < MostLookedAtInStep && count < BatchEntries && cursor + EntryView.HeaderBytes < end)
        {
            if (groups is not null && groups.TryPass(ref cursor, until, ref earliest))
            {
                continue;
            }

            var entry = new EntryView(start + cursor);
            if (!entry.IsWithin(end - cursor))
            {
                cursor = end; // Damaged: the entries behind it stay.
                break;
            }

            looked++;
            cursor = runLength > 1 ? end : cursor + entry.PaddedBytes;
            bool isGap = entry.Type == EntryType.None;
            long removableAt = isGap ? long.MaxValue : entry.RemovableAt;
            bool isRemovable = !isGap && (removableAt <= until || EntryAccounting.IsCleared(_memory, partition, entry.Version, entry.Collection));
            groups?.Record(cursor, isRemovable ? long.MaxValue : removableAt, isLast: cursor + EntryView.HeaderBytes >= end);
            if (!isRemovable)
            {
                earliest = Math.Min(earliest, removableAt);
                continue;
            }

            entries[count] = entry;
            places[count] = _memory.Place(_memory.HashKey(entry.Key, entry.KeyLength, entry.Collection));
            HashIndex.Prefetch(_memory.BucketAt(places[count].Partition, places[count].Primary));
            count++;
        }

        int removed = 0;
        for (int i = 0; i < count; i++)
        {
            removed += TakeOut(partition, number, entries[i], places[i]) ? 1 : 0;
        }

        partition->SweepEarliest = Math.Max(1, earliest);
        partition->SweepCursor = (int)Math.Min(cursor, int.MaxValue);
        ProtocolHook.Reach(ProtocolStep.SweepAdvanced);
        bool isDone = cursor + EntryView.HeaderBytes >= end;
        if (isDone)
        {
            header->MinDeadline = partition->SweepEarliest;
            partition->Sweep = 0;
            RecycleIfEmpty(partition, number, segment);
        }

        return new SweepStep(looked, removed, isDone);
    }

    // Returns null if every entry must be examined: the segment still grows, is one long value, or has no known earliest time.
    private DeadlineGroups? GroupsOf(PartitionBlock* partition, int number, int segment)
    {
        SegmentHeader* header = _memory.Header(segment);
        if (header->State != SegmentState.Sealed || header->RunLength > 1 || header->MinDeadline <= 1)
        {
            return null;
        }

        DeadlineGroups groups = _groups.Value[segment] ??= new DeadlineGroups();
        groups.BelongTo(number, partition->Recoveries, header->SealOrder);
        return groups;
    }

    // Frees the segment for all uses. Keep segments are cleaned when their room is needed (SegmentEvictor.Keep).
    private void RecycleIfEmpty(PartitionBlock* partition, int number, int segment)
    {
        SegmentHeader* header = _memory.Header(segment);
        int log = header->Log;
        if (header->LiveBytes != 0 || log == PartitionBlock.LogKeep || IsPinned(segment, _memory.RunLengthOf(segment)))
        {
            return;
        }

        if (header->State == SegmentState.Open)
        {
            // The open segment of another log will probably be filled further.
            if (log < PartitionBlock.FirstTtlLog || log >= PartitionBlock.LogKeep || partition->ActiveSegment[log] != segment + 1)
            {
                return;
            }

            _log.Seal(partition, number, log);
        }

        if (partition->Victim == 0)
        {
            partition->VictimMode = (uint)VictimMode.Evict; // A segment that was yielded has left its mode behind.
        }

        _pool.Unlink(partition, segment);
        Retire(partition, number, segment);
    }
}
