using Cairn.Concurrency;
using Cairn.Engine;
using Cairn.Eviction;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Platform;
using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.TortureTests.Interleavings;

/// <summary>What a broken log does in the wrong order.</summary>
internal enum LogDefect
{
    None,

    /// <summary>The tail passes the record before it is written.</summary>
    MovesTailBeforeWriting,

    /// <summary>The tail passes the record before the partition is told of it.</summary>
    StoresPendingAfterTail,

    /// <summary>The partition forgets the record before its slot is stored.</summary>
    ClearsPendingBeforeSlot,

    /// <summary>The slot is stored before there is a record.</summary>
    StoresSlotBeforeTail,

    /// <summary>The file is brought to the disk before the tail is read that is then said to be there.</summary>
    FlushesBeforeReadingTail,

    /// <summary>Who waits reads the signal after it has looked whether its record is on the disk.</summary>
    ReadsSignalLate,

    /// <summary>Nobody is told that the log is on the disk.</summary>
    RaisesNoSignal,
}

/// <summary>Deliberately broken twins of what StoreLog does when it appends (with StoreEngine.Write), and when it brings the log to the disk.</summary>
internal static unsafe class BrokenLog
{
    /// <summary>Writes an entry in the place of an old one, with its record. Nobody else appends meanwhile.</summary>
    public static void Set(StoreEngine engine, in KeyRef key, ReadOnlySpan<byte> value, LogDefect defect)
    {
        PartitionBlock* partition = engine.Enter(key.Place.Partition);
        Assert.True(HashIndex.FindLocked(engine.Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located old));
        byte* target = Place(engine, partition, key, value, out ulong slot);
        if (defect == LogDefect.StoresSlotBeforeTail)
        {
            Bucket.Store(old.Bucket, old.SlotIndex, slot);
            ProtocolHook.Reach(ProtocolStep.SlotStored);
        }

        LogBlock* block = &engine.Memory.Super->Log;
        long position = block->Tail;
        var record = new byte[LogRecord.SizeOf(new EntryView(target).UnpaddedBytes)];
        LogRecord.Write(
            record, block->File0.Salt, position, LogKind.Put, key.Collection, place: 0, new ReadOnlySpan<byte>(target, (int)new EntryView(target).UnpaddedBytes));
        if (defect != LogDefect.MovesTailBeforeWriting)
        {
            Write(engine, position, record);
        }

        ProtocolHook.Reach(ProtocolStep.LogRecordWritten);
        if (defect != LogDefect.StoresPendingAfterTail)
        {
            Volatile.Write(ref partition->PendingRecord, position);
        }

        ProtocolHook.Reach(ProtocolStep.LogPendingStored);
        Volatile.Write(ref block->Tail, position + record.Length);
        ProtocolHook.Reach(ProtocolStep.LogTailMoved);
        Volatile.Write(ref partition->PendingRecord, defect == LogDefect.ClearsPendingBeforeSlot ? 0 : position);
        if (defect == LogDefect.MovesTailBeforeWriting)
        {
            Write(engine, position, record);
        }

        ProtocolHook.Reach(ProtocolStep.LogPendingCleared);
        Bucket.Store(old.Bucket, old.SlotIndex, slot);
        Volatile.Write(ref partition->PendingRecord, 0);
        engine.Leave(partition);
    }

    /// <summary>Brings the log to the disk, and says how far it is there.</summary>
    public static void Synchronise(StoreEngine engine, LogDefect defect)
    {
        LogBlock* block = &engine.Memory.Super->Log;
        long tail = Volatile.Read(ref block->Tail);
        ProtocolHook.Reach(ProtocolStep.LogSynchronising);
        using (StoreFile file = ScheduledPlatform.Instance.Open(LogPath.LogFile(engine.Memory.File.Path, block->File0.Sequence)))
        {
            file.FlushData();
        }

        ProtocolHook.Reach(ProtocolStep.LogSynchronised);
        if (defect == LogDefect.FlushesBeforeReadingTail)
        {
            tail = Volatile.Read(ref block->Tail);
        }

        block->Durable = Math.Max(block->Durable, tail);
        if (defect != LogDefect.RaisesNoSignal)
        {
            Interlocked.Increment(ref block->Signal);
            ScheduledPlatform.Instance.WakeByAddress(&block->Signal, all: true);
        }
    }

    /// <summary>Waits until another has brought the log to the disk.</summary>
    public static void Wait(StoreEngine engine, long end, LogDefect defect)
    {
        LogBlock* block = &engine.Memory.Super->Log;
        while (true)
        {
            uint signal = Volatile.Read(ref block->Signal);
            if (Volatile.Read(ref block->Durable) >= end)
            {
                return;
            }

            ProtocolHook.Reach(ProtocolStep.LogWaiting);
            if (defect == LogDefect.ReadsSignalLate)
            {
                signal = Volatile.Read(ref block->Signal);
            }

            ScheduledPlatform.Instance.WaitOnAddress(&block->Signal, signal, Timeout.InfiniteTimeSpan);
        }
    }

    private static byte* Place(StoreEngine engine, PartitionBlock* partition, in KeyRef key, ReadOnlySpan<byte> value, out ulong slot)
    {
        var content = new EntryContent { Type = EntryType.Value, Expiration = ResolvedExpiration.Never, First = value };
        var log = new SegmentLog(engine.Memory, engine.Pool);
        long bytes = content.PaddedBytes(key);
        byte* target = log.TryReserve(partition, PartitionBlock.LogKeep, bytes);
        Assert.True(target is not null, "The segment has no room.");
        ulong version = ++partition->Version;
        Assert.True(content.TryWrite(target, key, version, engine.Memory.ChecksumSeed));
        log.Commit(partition, PartitionBlock.LogKeep, target, bytes, long.MaxValue, long.MaxValue);
        slot = Bucket.Pack(key.Place.Tag, version, engine.Memory.OffsetOf(target));
        return target;
    }

    private static void Write(StoreEngine engine, long position, ReadOnlySpan<byte> record)
    {
        LogFileState state = engine.Memory.Super->Log.File0;
        using StoreFile file = ScheduledPlatform.Instance.Open(LogPath.LogFile(engine.Memory.File.Path, state.Sequence));
        file.Write(LogFileHeader.PageBytes + (position - state.StartPosition), record);
    }
}
