using Cairn.WriteAhead;

namespace Cairn.Storage;

// The state of a store's log that all processes share: its end, its durable part, and the lock words. It is a part of the superblock. Each group of fields
// that are written together has one or more cache lines of its own.
//
//   I1  Only the holder of LockWord writes Tail, the files and Failed. Exception: any thread that sees the disk fail also writes Failed.
//   I2  Every byte of the log below Tail was written, by any process, before Tail was moved past it. A record exists from that moment.
//   I3  Current names which of the two files is in use. The state of the other file can be half written.
//   I4  Durable only grows, and everything below it is durable.
//   I5  Each mark (LogMark) is true when it is stored, and stays true. The system can write this page to the disk at any moment. So the marks are the
//       minimum that the log must contain after a loss of power. A record in a piece is acknowledged only when LogId and that piece's mark are durable.
//       The log before a snapshot is deleted only when the snapshot's mark is durable.
[StructLayout(LayoutKind.Explicit, Size = Bytes)]
internal struct LogBlock
{
    public const int Bytes = 512;

    /// <summary>A value of <see cref="Failed"/>: the disk has failed.</summary>
    public const uint DiskFailed = 1;

    /// <summary>A value of <see cref="Failed"/>: a new log is being created, or its creation failed.</summary>
    public const uint NoLog = 2;

    /// <summary>A random number that is the same in all files of the log. 0 while there is no log.</summary>
    [FieldOffset(0)] public ulong LogId;

    /// <summary>The position from which the log completes the newest snapshot. 0 if there is none.</summary>
    [FieldOffset(8)] public long Checkpoint;

    /// <summary>Raised when a collection with entries becomes logged: a snapshot must contain those entries.</summary>
    [FieldOffset(16)] public uint Wanted;

    /// <summary>The value of <see cref="Wanted"/> at the beginning of the newest snapshot.</summary>
    [FieldOffset(20)] public uint Served;

    /// <summary>The number of failed attempts of any process to write a snapshot automatically, since the last successful one.</summary>
    [FieldOffset(24)] public int FailedCheckpoints;

    /// <summary>The lock for appending. The word has the format of a partition's lock word.</summary>
    [FieldOffset(64)] public uint LockWord;

    /// <summary>
    /// 1 after the disk has failed to write, 2 while the content of the map has no log. In both cases the store refuses durable writes. The first process
    /// that opens the store alone creates a new log.
    /// </summary>
    [FieldOffset(68)] public uint Failed;

    /// <summary>The position behind the last record.</summary>
    [FieldOffset(72)] public long Tail;

    /// <summary>The file in use: 0 or 1.</summary>
    [FieldOffset(80)] public uint Current;
    [FieldOffset(96)] public LogFileState File0;
    [FieldOffset(128)] public LogFileState File1;

    /// <summary>Everything below this position is durable.</summary>
    [FieldOffset(192)] public long Durable;

    /// <summary>Raised whenever Durable or Failed has changed. Threads that wait for either sleep on it.</summary>
    [FieldOffset(200)] public uint Signal;

    /// <summary>The lock for flushing the log. The word has the format of a partition's lock word.</summary>
    [FieldOffset(256)] public uint SyncLockWord;

    /// <summary>The mark of <see cref="Durable"/>, in units of the records' alignment.</summary>
    [FieldOffset(320)] public ulong DurableMark;

    /// <summary>The mark of the number of the newest piece.</summary>
    [FieldOffset(328)] public ulong PieceMark;

    /// <summary>The mark of the position from which the log completes the newest snapshot, in units of the records' alignment.</summary>
    [FieldOffset(336)] public ulong SnapshotMark;

    /// <summary>Returns the part that remains when the map is emptied and rebuilt from the log.</summary>
    public readonly LogBlock Emptied(ulong logId) =>
        new() { LogId = logId, DurableMark = DurableMark, PieceMark = PieceMark, SnapshotMark = SnapshotMark };
}

/// <summary>The state of one file of the log.</summary>
[StructLayout(LayoutKind.Explicit, Size = 32)]
internal struct LogFileState
{
    [FieldOffset(0)] public long Sequence;
    [FieldOffset(8)] public long StartPosition;
    [FieldOffset(16)] public ulong Salt;

    /// <summary>The end of the file's records at the latest: its length, or less after the log has decided to continue in the next file.</summary>
    [FieldOffset(24)] public long FileBytes;
}
