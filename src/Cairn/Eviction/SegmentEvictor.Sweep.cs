using Cairn.Indexing;
using Cairn.Segments;
using Cairn.Steps;
using Cairn.Storage;

namespace Cairn.Eviction;

/// <summary>What one step of a sweep has done.</summary>
/// <param name="Looked">Entries that it looked at.</param>
/// <param name="Removed">Entries that it took out.</param>
/// <param name="IsDone">True if the segment that was asked for needs no further step now.</param>
internal readonly record struct SweepStep(int Looked, int Removed, bool IsDone);

// Active expiration: takes expired entries out although nobody asks for them and nobody needs their room.
//
//   a segment is due     its MinDeadline has passed, and it was not swept in the last two seconds
//   a step               looks at 128 entries at most, takes out 16 at most, then gives the lock back
//   a sweep is complete  MinDeadline := the earliest moment left; a sealed segment in which nothing is left is recycled
//
//   S1  The sweep of a partition is in the file: its segment, how far it is, and the earliest moment that it has seen. A step reads and stores them
//       under the lock. So any process continues it, no two look at the same entries, and a process that is killed or stopped between
//       two steps holds nothing.
//   S2  MinDeadline is never later than the moment at which the first entry of the segment may be taken out. It is lowered before a slot names the
//       entry, and raised only by a sweep that knows of every entry, or by a recovery that has looked at every slot.
//   S3  An entry is taken out only if its slot names it and its moment has passed, both under the lock. A use that extends its life takes
//       the same lock.
//   S4  What a step does is bounded, however large the segment. Groups of entries that are known not to be due are passed over (DeadlineGroups).
internal sealed unsafe partial class SegmentEvictor
{
    // A step costs a few microseconds, no more than the eviction that a write may do.
    private const int MostLookedAtInStep = 128;

    // Entries whose times to live differ expire one after the other: their segment is not walked again for each of them.
    private const uint DefaultSweepIntervalSeconds = 2;

    // What this opening knows of each segment, allocated when it sweeps one. An element belongs to the holder of the lock of the segment's partition.
    private readonly Lazy<DeadlineGroups?[]> _groups;

    /// <summary>How long a segment is left alone after a sweep. Tests of sweeps do without.</summary>
    public uint SweepIntervalSeconds { get; set; } = DefaultSweepIntervalSeconds;

    /// <summary>How long entries stay after they have expired, milliseconds, unless their room is needed.</summary>
    public long ExpiredRetentionMs { get; set; }

    /// <summary>True if a segment seems to be worth a sweep. Without the lock this is a hint.</summary>
    public bool IsDue(SegmentHeader* header, long now)
    {
        if (header->MinDeadline > now - ExpiredRetentionMs
            || SegmentHeader.StateOf(header->StateWord) is not (SegmentState.Open or SegmentState.Sealed))
        {
            return false;
        }

        // Later than now only if the clock was set back.
        uint seconds = SecondsOf(now);
        return header->SweptAtSeconds > seconds || seconds - header->SweptAtSeconds >= SweepIntervalSeconds;
    }

    /// <summary>Continues the sweep that is under way in a partition, or begins one of a segment that is due. Under the lock.</summary>
    public SweepStep Sweep(PartitionBlock* partition, int number, int segment)
    {
        long now = _clock.NowMs();
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

    /// <summary>Forgets what this opening knows of segments: tests give the file other contents.</summary>
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

    /// <summary>Looks at some entries of the segment that is being swept, and takes out those whose moment is not after <paramref name="until"/>.</summary>
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
                cursor = end; // Damaged: what lies behind it stays.
                break;
            }

            looked++;
            cursor = runLength > 1 ? end : cursor + entry.PaddedBytes;
            bool isGap = entry.Type == EntryType.None;
            long removableAt = isGap ? 0 : entry.RemovableAt;
            bool isRemovable = !isGap && (removableAt <= until || EntryLedger.IsCleared(_memory, partition, entry.Version, entry.Collection));
            groups?.Record(cursor, isRemovable ? long.MaxValue : removableAt, isLast: cursor + EntryView.HeaderBytes >= end);
            if (!isRemovable)
            {
                earliest = isGap ? earliest : Math.Min(earliest, removableAt);
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

    // Null if every entry is to be looked at: the segment still grows, is one long value, or does not know its earliest moment.
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

    // Room for everybody at once. What is kept is cleaned when it is needed (SegmentEvictor.Keep).
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
            // That of another log is likely to go on being filled.
            if (log < PartitionBlock.FirstTtlLog || log >= PartitionBlock.LogKeep || partition->ActiveSegment[log] != segment + 1)
            {
                return;
            }

            _log.Seal(partition, number, log);
        }

        if (partition->Victim == 0)
        {
            partition->VictimMode = (uint)VictimMode.Evict; // A segment that was yielded left its mode behind.
        }

        _pool.Unlink(partition, segment);
        Retire(partition, number, segment);
    }
}
