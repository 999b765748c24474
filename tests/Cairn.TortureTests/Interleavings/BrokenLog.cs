using Cairn.Engine;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Platform;
using Cairn.Segments;
using Cairn.Steps;
using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.TortureTests.Interleavings;

/// <summary>The steps that a broken log performs in the wrong order.</summary>
internal enum LogDefect
{
    None,

    /// <summary>The tail passes the record before the record is written.</summary>
    MovesTailBeforeWriting,

    /// <summary>The tail passes the record before the partition notes the record as pending.</summary>
    StoresPendingAfterTail,

    /// <summary>The partition clears the pending record before the slot is stored.</summary>
    ClearsPendingBeforeSlot,

    /// <summary>The slot is stored before the record exists.</summary>
    StoresSlotBeforeTail,

    /// <summary>The file is flushed before the tail is read that is then reported as durable.</summary>
    FlushesBeforeReadingTail,

    /// <summary>A waiter reads the signal after it has checked whether its record is durable.</summary>
    ReadsSignalLate,

    /// <summary>It does not signal that the log is durable.</summary>
    RaisesNoSignal,
}

/// <summary>Deliberately broken twins of StoreLog's append (with StoreEngine.Write) and of its flush to the disk.</summary>
internal static unsafe class BrokenLog
{
    /// <summary>Writes an entry in the place of an old one, with its record. No other thread appends at the same time.</summary>
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

    /// <summary>Flushes the log to the disk and stores the position up to which it is durable.</summary>
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

    /// <summary>Waits until another thread has flushed the log to the disk.</summary>
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
