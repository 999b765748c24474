using Cairn.Concurrency;
using Cairn.Messages;
using Cairn.Platform;
using Cairn.Steps;

namespace Cairn.WriteAhead;

internal sealed unsafe partial class StoreLog
{
    // Longer bodies are not copied. They are written directly from the caller's memory.
    private const int LongestGathered = 64 * 1024;

    private const long FirstFileBytes = 256L << 10;
    private const int MostDoublings = 12; // From 256 KiB to the maximum of StoreOptions.LogFileBytes.

    // The buffer in which a record is composed. It is used only under the log's lock.
    private byte[] _gathered = new byte[1024];

    /// <summary>Appends a record of a change that the caller will publish in a partition. The caller holds the lock of that partition.</summary>
    /// <returns>
    /// The end of the record, which is the position to wait for. The caller publishes the change, and then clears the partition's PendingRecord.
    /// </returns>
    /// <exception cref="StoreFullException">The disk has no room. Nothing was changed, as after every exception of this method.</exception>
    /// <exception cref="StoreReadOnlyException">The disk has failed.</exception>
    public long Append(PartitionBlock* partition, LogKind kind, uint collection, long place, ReadOnlySpan<byte> body) =>
        Append(partition, hold: null, kind, collection, place, body);

    /// <summary>Appends a record of a change that the caller will publish in all partitions of a hold.</summary>
    public long Append(PartitionHold hold, LogKind kind, uint collection, ReadOnlySpan<byte> body) =>
        Append(partition: null, hold, kind, collection, place: 0, body);

    /// <summary>Clears PendingRecord in all partitions of a hold, after the change was published in all of them.</summary>
    public void ClearPending(PartitionHold hold) => SetPending(null, hold, 0);

    private long Append(
        PartitionBlock* partition, PartitionHold? hold, LogKind kind, uint collection, long place, ReadOnlySpan<byte> body)
    {
        LogBlock* block = Block;
        long bytes = LogRecord.SizeOf(body.Length);
        if (bytes > LogRecord.MaxBytes)
        {
            throw Refusal(new StoreException($"A write of {ByteText.Of(body.Length)} is too long for the log: the maximum is {ByteText.Of(LogRecord.MaxBytes)}. Divide it."));
        }

        uint bodySum = LogRecord.SumOf(body);
        LockOutcome outcome = HasFailed ? throw Refusal(Failure(null)) : _locks.Acquire(&block->LockWord, _lockTimeout);
        if (outcome == LockOutcome.TimedOut)
        {
            throw Refusal(new StoreException(
                $"The log of the store '{_memory.File.Path}' could not be locked within {_lockTimeout.TotalMilliseconds:N0} ms, because another process " +
                "holds its lock; it may be stopped. Nothing was changed. Continue or end that process."));
        }

        long position;
        try
        {
            if (outcome == LockOutcome.TakenOver)
            {
                RepairTail();
            }

            LogFileState state = Prepare(block, bytes);
            position = block->Tail;
            WriteRecord(state, position, kind, collection, place, body, bodySum);
            ProtocolHook.Reach(ProtocolStep.LogRecordWritten);
            SetPending(partition, hold, position);
            ProtocolHook.Reach(ProtocolStep.LogPendingStored);

            // Release; pairs with the acquire in Tail. From here on the record exists (I1). A thread that sees the new tail must see the whole record. A
            // process that takes over the partition and sees the record in PendingRecord must also see that the record exists.
            Volatile.Write(ref block->Tail, position + bytes);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            // The exception was thrown before PendingRecord of any partition was set. It is not a StoreException if the directory of the store is gone, or if
            // this user may not create files there any more.
            throw Refusal(failure as StoreException ?? new StoreException(
                $"The log of the store '{_memory.File.Path}' cannot continue: {failure.Message} Nothing was changed; reading continues.", failure));
        }
        finally
        {
            _locks.Release(&block->LockWord);
        }

        ProtocolHook.Reach(ProtocolStep.LogTailMoved);
        return position + bytes;
    }

    private void SetPending(PartitionBlock* partition, PartitionHold? hold, long position)
    {
        if (hold is null)
        {
            Volatile.Write(ref partition->PendingRecord, position);
            return;
        }

        for (int number = hold.Next(0); number >= 0; number = hold.Next(number + 1))
        {
            Volatile.Write(ref _memory.Partition(number)->PendingRecord, position);
        }
    }

    // Returns a file that has room for the given number of bytes behind the tail.
    private LogFileState Prepare(LogBlock* block, long bytes)
    {
        if (HasFailed)
        {
            throw Failure(null);
        }

        if (block->LogId == 0)
        {
            Begin(block, bytes);
        }

        uint current = block->Current & 1;
        LogFileState state = *StateOf(block, current);
        long tail = block->Tail;
        if (LogFileHeader.PageBytes + (tail - state.StartPosition) + bytes <= state.FileBytes)
        {
            return state;
        }

        // A commit flushes only the present file. So the full file is flushed here, before the next one replaces it.
        FlushFile(FileOf(state.Sequence) ?? throw MissingFile(state.Sequence));
        ProtocolHook.Reach(ProtocolStep.LogFileFlushed);

        // From here on no record fits into the full file, even if this process dies. The next file can already have its name, and it begins at this
        // position.
        StateOf(block, current)->FileBytes = LogFileHeader.PageBytes + (tail - state.StartPosition);
        LogFileState next;
        try
        {
            next = LogFiles.Create(
                _platform, _memory, block->LogId, state.Sequence + 1, tail, FileBytesFor(state.Sequence + 1, bytes), Now());
        }
        catch (StoreFullException)
        {
            StateOf(block, current)->FileBytes = state.FileBytes; // The next file has no name yet. A shorter record can still fit here.
            throw;
        }

        ProtocolHook.Reach(ProtocolStep.LogFileCreated);
        FlushMarks();
        *StateOf(block, 1 - current) = next;
        Volatile.Write(ref block->Current, 1 - current);
        ProtocolHook.Reach(ProtocolStep.LogRolledOver);
        if (FileOf(state.Sequence) is { } full)
        {
            LogFiles.Seal(full, state, tail, next.Sequence);
        }

        RaiseDurable(tail);
        return next;
    }

    private void Begin(LogBlock* block, long bytes)
    {
        ulong logId = RandomBits.Next();
        block->File0 = LogFiles.Create(
            _platform, _memory, logId, LogPath.FirstSequence, LogPath.FirstPosition, FileBytesFor(LogPath.FirstSequence, bytes), Now());
        block->Current = 0;
        block->Tail = LogPath.FirstPosition;
        block->Durable = LogPath.FirstPosition;
        Volatile.Write(ref block->LogId, logId);
        FlushMarks();
    }

    // The marks must be durable before the first record in a new piece is acknowledged (LogBlock I5).
    private void FlushMarks() => _memory.FlushSuperblock();

    // The first pieces are small, so that a small map is small. Each has twice the size of the one before it.
    private long FileBytesFor(long sequence, long recordBytes)
    {
        int doublings = (int)Math.Min(sequence - LogPath.FirstSequence, MostDoublings);
        return Math.Max(Math.Min(_options.FileBytes, FirstFileBytes << doublings), LogFileHeader.PageBytes + recordBytes);
    }

    private long Now() => _options.Clock.GetUtcNow().ToUnixTimeMilliseconds();

    private void WriteRecord(
        in LogFileState state, long position, LogKind kind, uint collection, long place, ReadOnlySpan<byte> body, uint bodySum)
    {
        StoreFile file = FileOf(state.Sequence) ?? throw MissingFile(state.Sequence);
        long offset = LogFileHeader.PageBytes + (position - state.StartPosition);
        int bytes = (int)LogRecord.SizeOf(body.Length);
        int gathered = body.Length <= LongestGathered ? bytes : LogRecord.HeaderBytes;
        if (_gathered.Length < gathered)
        {
            _gathered = new byte[Math.Max(gathered, 2 * _gathered.Length)];
        }

        Span<byte> record = _gathered.AsSpan(0, gathered);
        LogRecord.WriteHeader(record, state.Salt, position, kind, collection, place, body.Length, bodySum, Durable);
        if (gathered == bytes)
        {
            body.CopyTo(record[LogRecord.HeaderBytes..]);
            record[(LogRecord.HeaderBytes + body.Length)..].Clear();
        }
        else
        {
            // The padding is not written. Its bytes are zeros or the remains of a writer that died, and no checksum covers them.
            file.Write(offset + LogRecord.HeaderBytes, body);
        }

        file.Write(offset, record);
    }
}
