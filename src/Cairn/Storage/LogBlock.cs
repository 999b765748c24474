using System.Runtime.InteropServices;
using Cairn.WriteAhead;

namespace Cairn.Storage;

// What all processes share of a store's log: where it ends, what of it is on the disk, and who is at it.
// A part of the superblock, a cache line or more to each group of fields that are written together.
//
//   I1  Tail, the files and Failed are written by the holder of LockWord only, but Failed by whoever sees the disk fail.
//   I2  Every byte of the log below Tail was written, by whomever, before Tail was moved past it. A record exists from that moment.
//   I3  Of the two files, Current says which is in use; the other may be half written.
//   I4  Durable only grows, and everything below it is on the disk.
//   I5  Each mark (LogMark) is true when it is stored, and stays true. The system may write this page to the disk at any moment, so the marks say what the
//       log must have after a loss of power. A record in a piece is acknowledged only when LogId and that piece's mark are on the disk. The log before a
//       snapshot is deleted only when the snapshot's mark is on the disk.
[StructLayout(LayoutKind.Explicit, Size = Bytes)]
internal struct LogBlock
{
    public const int Bytes = 512;

    /// <summary>Of <see cref="Failed"/>: the disk failed.</summary>
    public const uint DiskFailed = 1;

    /// <summary>Of <see cref="Failed"/>: the log is being made anew, or could not be.</summary>
    public const uint NotMade = 2;

    /// <summary>Random, the same in all its files; 0 while there is no log.</summary>
    [FieldOffset(0)] public ulong LogId;

    /// <summary>The position from which the log completes the newest snapshot; 0 if there is none.</summary>
    [FieldOffset(8)] public long Checkpoint;

    /// <summary>Raised when a collection that has entries came under the log: a snapshot must have them.</summary>
    [FieldOffset(16)] public uint Wanted;

    /// <summary>What <see cref="Wanted"/> was when the newest snapshot was begun.</summary>
    [FieldOffset(20)] public uint Served;

    /// <summary>Attempts of any process to make a snapshot by itself that have failed since the last one that was made.</summary>
    [FieldOffset(24)] public int FailedCheckpoints;

    /// <summary>Who appends; a word as a partition's.</summary>
    [FieldOffset(64)] public uint LockWord;

    /// <summary>
    /// 1 once the disk did not keep what it was told to, 2 while there is no log for what the map has: no durable write is taken until the
    /// store was opened by one alone, who makes the log anew.
    /// </summary>
    [FieldOffset(68)] public uint Failed;

    /// <summary>Position behind the last record.</summary>
    [FieldOffset(72)] public long Tail;

    /// <summary>Which of the two is in use: 0 or 1.</summary>
    [FieldOffset(80)] public uint Current;
    [FieldOffset(96)] public LogFileState File0;
    [FieldOffset(128)] public LogFileState File1;

    /// <summary>Everything below this position is on the disk.</summary>
    [FieldOffset(192)] public long Durable;

    /// <summary>Raised whenever Durable or Failed has changed; those who wait for either sleep on it.</summary>
    [FieldOffset(200)] public uint Signal;

    /// <summary>Who brings the log to the disk; a word as a partition's.</summary>
    [FieldOffset(256)] public uint SyncLockWord;

    /// <summary>Mark of <see cref="Durable"/>, in units of records' alignment.</summary>
    [FieldOffset(320)] public ulong DurableMark;

    /// <summary>Mark of the number of the newest piece.</summary>
    [FieldOffset(328)] public ulong PieceMark;

    /// <summary>Mark of the position from which the log completes the newest snapshot, in units of records' alignment.</summary>
    [FieldOffset(336)] public ulong SnapshotMark;

    /// <summary>What stays when the map is emptied and built anew from the log.</summary>
    public readonly LogBlock Emptied(ulong logId) =>
        new() { LogId = logId, DurableMark = DurableMark, PieceMark = PieceMark, SnapshotMark = SnapshotMark };
}

/// <summary>The file of the log that is being written.</summary>
[StructLayout(LayoutKind.Explicit, Size = 32)]
internal struct LogFileState
{
    [FieldOffset(0)] public long Sequence;
    [FieldOffset(8)] public long StartPosition;
    [FieldOffset(16)] public ulong Salt;

    /// <summary>Where the file's records end at the latest: its length, or less once the log was to go on in the next.</summary>
    [FieldOffset(24)] public long FileBytes;
}
