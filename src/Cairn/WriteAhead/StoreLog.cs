using System.Runtime.CompilerServices;
using Cairn.Concurrency;
using Cairn.Platform;
using Cairn.Steps;
using Cairn.Storage;

namespace Cairn.WriteAhead;

// The write-ahead log of a store, as one opening uses it: appending (StoreLog.Append), bringing to the disk (StoreLog.Commit).
//
//   partition's lock -> entry in place -> log's lock -> record written -> PendingRecord -> Tail -> log's lock given back
//   -> slot stored -> PendingRecord = 0 -> partition's lock given back -> wait until Durable has passed the record
//
//   I1  A record exists from the moment Tail has passed it; no slot says what a record will say before that.
//   I2  PendingRecord is set before Tail passes the record, and cleared after its slots are stored. So whoever steals the partition
//       knows what may be missing in it, and does it again (LogRedo).
//   I3  While nobody holds a partition's lock, its entries of logged collections are what replaying the log would give.
//   I4  What a wait returned for is on the disk. Once the disk failed, no wait returns and nothing is appended.
//
// The order of locks is: partitions ascending, then the log's. Who brings the log to the disk holds the lock for that alone.
internal sealed unsafe partial class StoreLog
{
    private readonly StoreMemory _memory;
    private readonly StorePlatform _platform;
    private readonly PartitionLock _locks;
    private readonly LogOptions _options;
    private readonly TimeSpan _lockTimeout;
    private readonly bool _isEnabled;

    // The files this opening uses: the present one, and the one before, which somebody may still be bringing to the disk.
    private readonly Lock _filesLock = new();
    private OpenFile? _current;
    private OpenFile? _previous;

    [ThreadStatic]
    private static bool t_isRefusal;

    public StoreLog(StoreMemory memory, StorePlatform platform, PartitionLock locks, in LogOptions options, TimeSpan lockTimeout)
    {
        _memory = memory;
        _platform = platform;
        _locks = locks;
        _options = options;
        _lockTimeout = lockTimeout;
        _isEnabled = options.FileBytes != 0;
    }

    public LogBlock* Block => &_memory.Super->Log;

    /// <summary>False for who fills a store that has no name yet: its log is another's.</summary>
    public bool IsEnabled => _isEnabled;

    /// <summary>Whether the store has a log: it has had a logged collection.</summary>
    public bool Exists => Volatile.Read(ref Block->LogId) != 0;

    /// <summary>Position behind the last record. Acquire; pairs with the release in Append.</summary>
    public long Tail => Volatile.Read(ref Block->Tail);

    /// <summary>Everything below it is on the disk.</summary>
    public long Durable => Volatile.Read(ref Block->Durable);

    /// <summary>The number of the piece that is being written.</summary>
    public long Sequence => Volatile.Read(ref StateOf(Block, Volatile.Read(ref Block->Current) & 1)->Sequence);

    public bool HasFailed => Volatile.Read(ref Block->Failed) != 0;

    /// <summary>
    /// Whether the exception that this thread has caught was thrown by the log before anything was changed. Asked once: then the partition is
    /// whole and needs no recovery.
    /// </summary>
    public static bool TakeRefusal()
    {
        bool isRefusal = t_isRefusal;
        t_isRefusal = false;
        return isRefusal;
    }

    /// <summary>Marks an exception as one that is thrown before anything was changed.</summary>
    public static Exception Refusal(Exception exception)
    {
        t_isRefusal = true;
        return exception;
    }

    /// <summary>Puts right what a dead owner left of the log: its two locks. Run by who holds the owner's kernel lock.</summary>
    public void CleanUp(int slot)
    {
        LogBlock* block = Block;
        if (_locks.TrySeize(&block->LockWord, slot))
        {
            RepairTail();
            _locks.Release(&block->LockWord);
        }

        if (_locks.TrySeize(&block->SyncLockWord, slot))
        {
            _locks.Release(&block->SyncLockWord);
        }
    }

    /// <summary>The same when nobody else has the store open: whatever the locks say, nobody holds them.</summary>
    public void CleanUpAlone()
    {
        LogBlock* block = Block;
        if (PartitionLock.OwnerOf(block->LockWord) != 0)
        {
            RepairTail();
        }

        block->LockWord = 0;
        block->SyncLockWord = 0;
    }

    /// <summary>Reads the record at a position below Tail. False if it cannot be had: a file is gone, or damaged.</summary>
    public bool TryRead(long position, out byte[] bytes, out ulong salt)
    {
        bytes = [];
        salt = 0;
        LogBlock* block = Block;
        for (long sequence = Math.Max(block->File0.Sequence, block->File1.Sequence); sequence >= LogPath.FirstSequence; sequence--)
        {
            StoreFile file;
            try
            {
                file = _platform.OpenReadOnly(LogPath.LogFile(_memory.File.Path, sequence));
            }
            catch (FileNotFoundException)
            {
                continue; // The other of the two may be half written, or its file not yet there.
            }

            using LogReader? reader = LogReader.TryOpen(file, ownsFile: true);
            if (reader is null || reader.Header.LogId != block->LogId || reader.Header.StartPosition > position)
            {
                continue;
            }

            reader.Seek(position);
            long offset = reader.Offset;
            if (!reader.TryRead(out LogRecord record))
            {
                return false;
            }

            bytes = new byte[record.Bytes];
            salt = reader.Header.Salt;
            return file.Read(offset, bytes) == bytes.Length;
        }

        return false;
    }

    internal static LogFileState* StateOf(LogBlock* block, uint which) => which == 0 ? &block->File0 : &block->File1;

    // What whoever died with the log's lock wrote behind the tail never happened. It must not seem to have after a loss of power.
    private void RepairTail()
    {
        LogBlock* block = Block;
        if (block->LogId == 0)
        {
            return;
        }

        LogFileState state = *StateOf(block, block->Current & 1);
        long offset = LogFileHeader.PageBytes + (block->Tail - state.StartPosition);
        if (offset >= LogFileHeader.PageBytes && offset + LogRecord.HeaderBytes <= state.FileBytes)
        {
            Span<byte> nothing = stackalloc byte[LogRecord.HeaderBytes];
            nothing.Clear();
            try
            {
                FileOf(state.Sequence)?.Write(offset, nothing);
            }
            catch (Exception failure) when (failure is StoreException or UnauthorizedAccessException)
            {
                // Only a loss of power before the next record shows it: a write that was never acknowledged would then have happened.
            }
        }

        ProtocolHook.Reach(ProtocolStep.LogTailRepaired);
    }

    // The open file of a number; null if it is gone, because the log went on and dropped it.
    private StoreFile? FileOf(long sequence)
    {
        OpenFile? current = _current;
        if (current is not null && current.Sequence == sequence)
        {
            return current.File;
        }

        lock (_filesLock)
        {
            if (_current?.Sequence == sequence)
            {
                return _current.File;
            }

            if (_previous?.Sequence == sequence)
            {
                return _previous.File;
            }

            StoreFile file;
            try
            {
                file = _platform.Open(LogPath.LogFile(_memory.File.Path, sequence));
            }
            catch (FileNotFoundException)
            {
                return null;
            }

            _previous?.File.Dispose();
            _previous = _current;
            _current = new OpenFile(sequence, file);
            return file;
        }
    }

    private void CloseFiles()
    {
        lock (_filesLock)
        {
            _previous?.File.Dispose();
            _current?.File.Dispose();
            _previous = null;
            _current = null;
        }
    }

    private StoreException MissingFile(long sequence) => new(
        $"The file '{LogPath.LogFile(_memory.File.Path, sequence)}', which the store '{_memory.File.Path}' writes its log to, is gone. Close the store in " +
        "all processes; when it is opened again it makes a new one.");

    private sealed record OpenFile(long Sequence, StoreFile File);
}
