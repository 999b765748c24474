using Cairn.Concurrency;
using Cairn.Eviction;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Segments;
using Cairn.Steps;

namespace Cairn.Engine;

/// <summary>Writes a long value to its place, without any lock.</summary>
/// <typeparam name="TState">The type of the value's source.</typeparam>
/// <param name="destination">Has exactly the value's length. The writer must fill it.</param>
/// <param name="state">The value's source.</param>
/// <param name="checksumSeed">The seed for the checksum.</param>
/// <returns>The value's checksum.</returns>
internal delegate uint ValueWriter<TState>(Span<byte> destination, scoped in TState state, ulong checksumSeed)
    where TState : allows ref struct;

// Writing a long value: reserve room under the lock, copy without the lock, publish under the lock.
//
//   shorter than a segment   a gap in the small log's open segment, pinned by a hazard cell while it is filled
//   longer                   a run of segments (LargeRuns)
//
// If the process dies or the copy throws before the publication, the gap stays a gap and the run is freed. No slot names either of them.
internal sealed unsafe partial class StoreEngine
{
    private WriteStatus WriteLarge(
        in KeyRef key, in EntryContent content, WriteCondition condition, ulong expectedVersion, out ulong version)
    {
        int attempt = 0;
        WriteStatus status;
        do
        {
            status = WriteStreamed(
                key, content, (int)content.ValueBytes, content, CopyParts, condition, expectedVersion, out version);
        }
        while (status >= WriteStatus.NoRoom && ShouldTryAgain(key, status, condition, ref attempt));

        return status;
    }

    /// <summary>Writes an entry whose value <paramref name="writer"/> writes to its place. The writer is called once, without a lock.</summary>
    public WriteStatus WriteStreamed<TState>(
        in KeyRef key, in EntryContent content, int valueBytes, scoped in TState state, ValueWriter<TState> writer,
        WriteCondition condition, ulong expectedVersion, out ulong version)
        where TState : allows ref struct
    {
        version = 0;
        EntryFields fields = content.FieldsFor(key.Collection);
        long bytes = EntryView.SizeOf(fields, key.Length, valueBytes);
        WriteOperation.Begin(out WriteOperation write, key, condition, expectedVersion);
        write.Bytes = bytes;
        int runLength = (int)((bytes + Memory.SegmentBytes - 1) / Memory.SegmentBytes);

        // Also for a run, which needs no pin: while a cell is in use, closing does not release the owner slot. The reservation contains its
        // number.
        bool isKept = Memory.IsKept(key.Collection);
        if (!TryTakeHazardCell(out int cell))
        {
            if (condition == WriteCondition.Always && !isKept)
            {
                Kill(key); // W3
            }

            return isKept ? WriteStatus.Busy : WriteStatus.NoRoom;
        }

        try
        {
            WriteStatus status = ReserveLarge(ref write, runLength, cell, out int segment);
            if (status == WriteStatus.NoRoom && isKept && t_hold is null && TryMakeRoomElsewhere(runLength))
            {
                status = ReserveLarge(ref write, runLength, cell, out segment);
            }

            if (status == WriteStatus.Stored)
            {
                byte* value = EntryContent.WriteKey(write.Target, key, fields);
                uint valueSum;
                try
                {
                    valueSum = writer(new Span<byte>(value, valueBytes), in state, Memory.ChecksumSeed);
                    ProtocolHook.Reach(ProtocolStep.LargeCopied);
                }
                catch
                {
                    ReleaseRun(segment, runLength);
                    throw;
                }

                if (content.IsFaithful(value, key, Memory.ChecksumSeed))
                {
                    status = PublishLarge(ref write, content, valueBytes, valueSum, segment, runLength);
                    version = write.Version;
                }
                else
                {
                    ReleaseRun(segment, runLength);
                    status = WriteStatus.NotFound; // The origin of the value is damaged. Its next reader removes it.
                }
            }

            if (status is WriteStatus.NoRoom or WriteStatus.Busy && condition == WriteCondition.Always && !isKept)
            {
                Kill(key); // W3
            }

            return status;
        }
        finally
        {
            Unpin(cell);
            GC.KeepAlive(this);
        }
    }

    private WriteStatus ReserveLarge(ref WriteOperation write, int runLength, int cell, out int segment) =>
        runLength == 1 ? ReserveGap(ref write, cell, out segment) : ReserveRun(runLength, out segment, out write.Target);

    private static uint CopyParts(Span<byte> destination, scoped in EntryContent content, ulong checksumSeed)
    {
        fixed (byte* value = destination)
        {
            return content.WriteValue(value, checksumSeed);
        }
    }

    // Releases a run. A gap stays a gap.
    private void ReleaseRun(int segment, int runLength)
    {
        if (runLength > 1)
        {
            _runs.Release(segment, runLength);
        }
    }

    private WriteStatus ReserveGap(ref WriteOperation write, int cell, out int segment)
    {
        segment = SegmentPool.None;
        long bytes = write.Bytes;
        int number = write.Key.Place.Partition;
        int log = Memory.IsKept(write.Key.Collection) ? PartitionBlock.LogKeep : PartitionBlock.LogSmall;
        PartitionBlock* partition = Enter(number);
        if (partition is null)
        {
            return WriteStatus.Busy;
        }

        try
        {
            byte* target = TryReserve(partition, log, bytes);
            if (target is null && OpenSegment(partition, number, log, bytes))
            {
                target = TryReserve(partition, log, bytes);
            }

            if (target is not null)
            {
                segment = Memory.SegmentAt(target);

                // Pinned under the lock, so that the segment is not evicted before the entry is published.
                _owners.Pin(cell, segment);
                *(ulong*)target = EntryView.GapWord(bytes);
                _log.Commit(partition, log, target, bytes, removableAt: long.MaxValue, deadline: long.MaxValue);
                ProtocolHook.Reach(ProtocolStep.GapReserved);
                _evictor.Advance(partition, number, bytes);
            }
            else
            {
                partition->Declined++;
            }

            Leave(partition);
            write.Target = target;
            return target is null ? WriteStatus.NoRoom : WriteStatus.Stored;
        }
        catch
        {
            LeaveBroken(partition, number);
            throw;
        }
    }

    private WriteStatus ReserveRun(int runLength, out int segment, out byte* target)
    {
        segment = _runs.TryReserve(runLength);
        target = segment == SegmentPool.None ? null : Memory.SegmentStart(segment);
        return target is null ? WriteStatus.NoRoom : WriteStatus.Stored;
    }

    private WriteStatus PublishLarge(
        ref WriteOperation write, scoped in EntryContent content, int valueBytes, uint valueSum, int segment, int runLength)
    {
        int number = write.Key.Place.Partition;
        PartitionBlock* partition = Enter(number);
        if (partition is null)
        {
            ReleaseRun(segment, runLength);
            return WriteStatus.Busy;
        }

        WriteStatus status;
        try
        {
            write.Partition = partition;
            Find(ref write);
            bool isKept = Memory.IsKept(write.Key.Collection);
            status = Decide(write);
            if (status == WriteStatus.Stored && isKept && !IsWithinBudget(write))
            {
                partition->Declined++;
                status = NoBudget;
            }

            if (status != WriteStatus.Stored)
            {
                ReleaseRun(segment, runLength);
                Leave(partition);
                return status;
            }

            write.Version = ++partition->Version;
            content.WriteHeader(
                write.Target, write.Key, content.FieldsFor(write.Key.Collection), (uint)valueBytes, valueSum, write.Version, Memory.ChecksumSeed);
            ProtocolHook.Reach(ProtocolStep.EntryCopied);
            Memory.Header(segment)->MaxDeadline = Math.Max(
                runLength > 1 ? 0 : Memory.Header(segment)->MaxDeadline, content.SegmentDeadline);
            if (runLength > 1)
            {
                _runs.Adopt(partition, number, SegmentLog.QueuedLog(ChooseLog(ref write, content)), segment, runLength);
                _pool.Enqueue(partition, segment);
            }

            _log.LowerMinDeadline(partition, segment, content.RemovableAt);
            status = TryPublishSlot(ref write, isChange: !content.HasLease);
            if (status == NoSlot)
            {
                status = isKept ? NoSlot : WriteStatus.NoRoom;
            }
            else if (status == DecideAgain)
            {
                // W4. The written entry stays in place as garbage.
                Find(ref write);
                status = Decide(write);
            }

            Leave(partition);
        }
        catch
        {
            LeaveBroken(partition, number);
            throw;
        }

        return Settled(write.Key, status);
    }

    private WriteStatus TouchLarge(
        in KeyRef key, in ResolvedExpiration expiration, EntryFields? marks, ulong expectedVersion, out ulong version, out int longBytes,
        ulong chosenVersion)
    {
        version = 0;
        longBytes = 0;
        while (true)
        {
            if (TryPin(key, PinTerm.Brief, out Pin pin, mostCopied: long.MaxValue, isUse: false, acceptHash: true) == PinStatus.Missing)
            {
                return WriteStatus.NotFound;
            }

            using (pin)
            {
                EntryInfo info = pin.Info;
                longBytes = info.ValueBytes;
                if (expectedVersion != 0 && info.Version != expectedVersion)
                {
                    return WriteStatus.VersionMismatch;
                }

                var content = new EntryContent
                {
                    Type = info.Type,
                    Flags = info.Flags,
                    Marks = marks ?? info.Marks,
                    ChosenVersion = chosenVersion != 0 ? chosenVersion : info.ChosenVersion,
                    Expiration = expiration,
                    First = pin.Value,
                    Origin = pin.Entry,
                };
                WriteStatus status = Write(key, content, WriteCondition.IfVersion, info.Version, out version);
                if (status != WriteStatus.VersionMismatch)
                {
                    return status;
                }
            }
        }
    }

    private WriteStatus JoinLarge(in KeyRef key, ReadOnlySpan<byte> addition, bool isPrefix)
    {
        while (true)
        {
            if (TryPin(key, PinTerm.Brief, out Pin pin, mostCopied: long.MaxValue, isUse: false) == PinStatus.Missing)
            {
                return WriteStatus.NotFound;
            }

            using (pin)
            {
                if (pin.Info.ValueBytes + (long)addition.Length > Memory.MaxValueBytes)
                {
                    return WriteStatus.TooLarge;
                }

                EntryContent content = EntryContent.Joined(pin, addition, isPrefix);
                WriteStatus status = Write(key, content, WriteCondition.IfVersion, pin.Info.Version, out _);
                if (status != WriteStatus.VersionMismatch)
                {
                    return status;
                }
            }
        }
    }
}
