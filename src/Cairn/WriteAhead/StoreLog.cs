using Cairn.Concurrency;
using Cairn.Messages;
using Cairn.Platform;
using Cairn.Steps;

namespace Cairn.WriteAhead;

// The write-ahead log of a store, as one opening uses it. StoreLog.Append appends records, and StoreLog.Commit makes them durable.
//
//   partition's lock -> entry in place -> log's lock -> record written -> PendingRecord -> Tail -> log's lock released
//   -> slot stored -> PendingRecord = 0 -> partition's lock released -> wait until Durable has passed the record
//
//   I1  A record exists from the moment at which Tail has passed it. No slot publishes the record's change before that.
//   I2  PendingRecord is set before Tail passes the record, and cleared after the record's slots are stored. So a process that takes over the
//       partition knows which change can be missing, and performs it again (LogRedo).
//   I3  While no process holds a partition's lock, the partition's entries of logged collections are the result of replaying the log.
//   I4  When a wait has returned, its record is durable. After the disk has failed, no wait returns normally and nothing is appended.
//
// The order of locks is: partitions in ascending order, then the log's lock. A thread that flushes the log holds only the sync lock.
internal sealed unsafe partial class StoreLog
{
    private readonly StoreMemory _memory;
    private readonly StorePlatform _platform;
    private readonly PartitionLock _locks;
    private readonly LogOptions _options;
    private readonly TimeSpan _lockTimeout;
    private readonly bool _isEnabled;
    private readonly BackgroundFailures _failures;

    // The files that this opening uses: the present one, and the previous one, which another thread can still be flushing.
    private readonly Lock _filesLock = new();
    private OpenFile? _current;
    private OpenFile? _previous;

    [ThreadStatic]
    private static bool t_isRefusal;

    public StoreLog(StoreMemory memory, StorePlatform platform, PartitionLock locks, in LogOptions options, TimeSpan lockTimeout, BackgroundFailures failures)
    {
        _memory = memory;
        _platform = platform;
        _locks = locks;
        _options = options;
        _lockTimeout = lockTimeout;
        _failures = failures;
        _isEnabled = options.FileBytes != 0;
    }

    public LogBlock* Block => &_memory.Super->Log;

    /// <summary>Gets whether writes are logged. False while a store is filled that has no name yet, because its log belongs to another store.</summary>
    public bool IsEnabled => _isEnabled;

    /// <summary>Gets whether the store has a log, because it has had a logged collection.</summary>
    public bool Exists => Volatile.Read(ref Block->LogId) != 0;

    /// <summary>Gets the position behind the last record. Acquire; pairs with the release in Append.</summary>
    public long Tail => Volatile.Read(ref Block->Tail);

    /// <summary>Gets the position below which everything is durable.</summary>
    public long Durable => Volatile.Read(ref Block->Durable);

    /// <summary>Gets the number of the present piece.</summary>
    public long Sequence => Volatile.Read(ref StateOf(Block, Volatile.Read(ref Block->Current) & 1)->Sequence);

    public bool HasFailed => Volatile.Read(ref Block->Failed) != 0;

    /// <summary>
    /// Returns whether the exception that this thread has caught was thrown by the log before anything was changed. Then the partition is intact and needs
    /// no recovery. The call resets the answer.
    /// </summary>
    public static bool TakeRefusal()
    {
        bool isRefusal = t_isRefusal;
        t_isRefusal = false;
        return isRefusal;
    }

    /// <summary>Marks an exception as one that was thrown before anything was changed.</summary>
    public static Exception Refusal(Exception exception)
    {
        t_isRefusal = true;
        return exception;
    }

    /// <summary>
    /// Repairs the two locks of the log after an owner has died. The caller holds the kernel lock of that owner.
    /// </summary>
    public void CleanUp(int slot)
    {
        LogBlock* block = Block;
        if (_locks.TryTakeOver(&block->LockWord, slot))
        {
            RepairTail();
            _locks.Release(&block->LockWord);
        }

        if (_locks.TryTakeOver(&block->SyncLockWord, slot))
        {
            _locks.Release(&block->SyncLockWord);
        }
    }

    /// <summary>Repairs the locks when no other process has the store open. Then no process holds them, whatever the lock words say.</summary>
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

    /// <summary>Reads the record at a position below Tail. Returns false if the file is missing or damaged.</summary>
    public bool TryRead(long position, out byte[] bytes, out ulong salt)
    {
        bytes = [];
        salt = 0;
        LogBlock* block = Block;

        // The files that exist, from the newest: the numbers in the block can be damaged, or half written.
        string directory = Path.GetDirectoryName(_memory.File.Path)!;
        foreach (string name in LogFileSet.Names(_platform, _memory.File.Path).Where(name => LogPath.TryParse(_memory.File.Path, name, out _)).Reverse())
        {
            StoreFile file;
            try
            {
                file = _platform.OpenReadOnly(Path.Combine(directory, name));
            }
            catch (FileNotFoundException)
            {
                continue; // Another process has deleted it meanwhile.
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

    // If a process died with the log's lock, its record behind the tail never happened. The record must not appear after a loss of power.
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
                // The failure matters only if the power is lost before the next record is written. Then a write that was never acknowledged would appear.
            }
        }

        ProtocolHook.Reach(ProtocolStep.LogTailRepaired);
    }

    // Returns the open file with a number. Null if it no longer exists, because the log advanced and deleted it.
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
        $"The log file '{LogPath.LogFile(_memory.File.Path, sequence)}' of the store '{_memory.File.Path}' is missing. Close the store in " +
        "all processes. The next opening creates a new log.");

    private sealed record OpenFile(long Sequence, StoreFile File);
}
