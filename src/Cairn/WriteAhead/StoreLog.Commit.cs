using Cairn.Concurrency;
using Cairn.Platform;
using Cairn.Steps;

namespace Cairn.WriteAhead;

// Makes the log durable, for many writers at once.
//
// A writer whose record is not durable yet takes the sync lock. It reads Tail, flushes the file, and raises Durable to that Tail. The other writers sleep
// on Signal meanwhile, and check Durable when they wake up.
//
// The lock only prevents that two writers do the same work. If the writer with the lock is stopped, the others wait no longer than the lock's time-out.
internal sealed unsafe partial class StoreLog
{
    // If the process with the sync lock dies, it wakes no waiting writer. So each writer checks again after this time.
    private static readonly TimeSpan LongestSleep = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan LongestGathering = TimeSpan.FromMilliseconds(1);

    // These numbers are only hints for a guess how many writers will join a commit. Waiting: the writers in Wait, including those that are served but not
    // awake yet. Arrived: all writers that ever came. Covered: those of them that came before the last finished flush.
    private int _waiting;
    private long _arrived;
    private long _covered;
    private int _usualGroup;
    private long _usualSyncTicks;

    private int _inWait;
    private volatile bool _isClosed;

    /// <summary>Returns when everything below a position is durable.</summary>
    /// <param name="end">The end of a record.</param>
    /// <param name="isUrgent">True to begin at once, without waiting for other writers that could join.</param>
    /// <exception cref="StoreReadOnlyException">The disk has failed. It is not known whether the record is durable.</exception>
    public void Wait(long end, bool isUrgent)
    {
        if (Durable >= end)
        {
            return;
        }

        // A full fence; pairs with the fence in Close. Either Close waits for this thread, or this thread sees that the log is closed.
        Interlocked.Increment(ref _inWait);
        Interlocked.Increment(ref _waiting);
        Interlocked.Increment(ref _arrived);
        try
        {
            WaitCounted(end, isUrgent);
        }
        finally
        {
            Interlocked.Decrement(ref _waiting);
            Interlocked.Decrement(ref _inWait);
        }
    }

    /// <summary>Makes all appended records durable for the last time. Afterwards this opening does not use the locks any more.</summary>
    public void Close()
    {
        try
        {
            if (Exists && !HasFailed)
            {
                WaitCounted(Tail, isUrgent: true);
                Seal();
            }
        }
        catch (StoreException)
        {
            // Each waiting writer gets the exception. Other writers were not promised durability.
        }

        // A writer that begins to wait from here on finds its record durable, or leaves. Close waits for the writers that began to wait earlier.
        _isClosed = true;
        Interlocked.MemoryBarrier();
        StopCommitter();
        var wait = default(SpinWait);
        while (Volatile.Read(ref _inWait) != 0)
        {
            wait.SpinOnce();
        }

        CloseFiles();
    }

    private void WaitCounted(long end, bool isUrgent)
    {
        LogBlock* block = Block;
        long start = Stopwatch.GetTimestamp();
        while (true)
        {
            // Signal is read before Durable. If it is raised after this read, the wait below returns at once.
            uint signal = Volatile.Read(ref block->Signal);
            if (Durable >= end)
            {
                return;
            }

            if (HasFailed)
            {
                throw Failure(null);
            }

            // Close has made all records durable, or has failed.
            if (_isClosed)
            {
                ThrowClosed();
            }

            if (_locks.Acquire(&block->SyncLockWord, TimeSpan.Zero) != LockOutcome.TimedOut)
            {
                try
                {
                    Gather(isUrgent);
                    if (Durable < end)
                    {
                        Synchronise();
                    }
                }
                finally
                {
                    _locks.Release(&block->SyncLockWord);
                }

                Raise();
                continue;
            }

            if (Stopwatch.GetElapsedTime(start) > _lockTimeout)
            {
                Synchronise();
                Raise();
                continue;
            }

            ProtocolHook.Reach(ProtocolStep.LogWaiting);
            _platform.WaitOnAddress(&block->Signal, signal, LongestSleep);
        }
    }

    // Waits a moment, so that other writers can append their records first. One flush costs the same for all of them.
    private void Gather(bool isUrgent)
    {
        int waiting = Volatile.Read(ref _waiting);
        if (isUrgent || (waiting <= 1 && _usualGroup <= 1))
        {
            return;
        }

        if (_options.CommitDelay > TimeSpan.Zero)
        {
            Thread.Sleep(_options.CommitDelay);
            return;
        }

        long limit = Math.Min(_usualSyncTicks / 4, (long)(LongestGathering.TotalSeconds * Stopwatch.Frequency));
        long start = Stopwatch.GetTimestamp();
        while (Volatile.Read(ref _arrived) - Volatile.Read(ref _covered) < _usualGroup && Stopwatch.GetTimestamp() - start < limit)
        {
            Thread.Yield();
        }
    }

    private void Synchronise()
    {
        LogBlock* block = Block;
        while (true)
        {
            // If the tail is read while this is the present file, that tail is in this file. The files before it are already durable.
            long arrived = Volatile.Read(ref _arrived);
            uint current = Volatile.Read(ref block->Current) & 1;
            long sequence = Volatile.Read(ref StateOf(block, current)->Sequence);
            long tail = Volatile.Read(ref block->Tail);
            StoreFile? file = FileOf(sequence);
            if (file is not null && IsPresent(current, sequence))
            {
                int group = Volatile.Read(ref _waiting);
                long start = Stopwatch.GetTimestamp();
                ProtocolHook.Reach(ProtocolStep.LogSynchronising);
                try
                {
                    FlushFile(file);
                }
                catch (ObjectDisposedException) when (!IsPresent(current, sequence) && !_isClosed)
                {
                    continue; // The log advanced by two files meanwhile.
                }

                // The estimate rises at once and falls slowly.
                _usualGroup = Math.Max(group, _usualGroup - Math.Max(1, _usualGroup / 8));
                _usualSyncTicks = (_usualSyncTicks + Stopwatch.GetTimestamp() - start) / 2;
                Volatile.Write(ref _covered, arrived);
                ProtocolHook.Reach(ProtocolStep.LogSynchronised);
                RaiseDurable(tail);
                return;
            }

            if (file is null && IsPresent(current, sequence))
            {
                throw MissingFile(sequence);
            }
        }
    }

    private bool IsPresent(uint current, long sequence)
    {
        LogBlock* block = Block;
        return (Volatile.Read(ref block->Current) & 1) == current && Volatile.Read(ref StateOf(block, current)->Sequence) == sequence;
    }

    // The kernel reports a failed write only once, and then treats the pages as clean. A second flush would succeed without meaning anything.
    private void FlushFile(StoreFile file)
    {
        try
        {
            file.FlushData();
        }
        catch (StoreException failure)
        {
            Volatile.Write(ref Block->Failed, LogBlock.DiskFailed);
            Raise();
            throw Failure(failure);
        }
    }

    private void RaiseDurable(long position)
    {
        LogBlock* block = Block;
        long durable;
        while ((durable = Volatile.Read(ref block->Durable)) < position)
        {
            if (Interlocked.CompareExchange(ref block->Durable, position, durable) == durable)
            {
                // The mark is stored only after the flush has returned, because a mark on the disk must be true (LogBlock I5). If two threads raise Durable
                // at the same time, the later one can store the lower mark. That mark is still true, and the next one replaces it.
                Volatile.Write(ref block->DurableMark, LogMark.OfPosition(position));
            }
        }
    }

    // Writes into the present piece how far the log is durable, because possibly nothing is written after this.
    private void Seal()
    {
        LogBlock* block = Block;
        LogFileState state = *StateOf(block, Volatile.Read(ref block->Current) & 1);
        if (FileOf(state.Sequence) is { } file)
        {
            LogFiles.Seal(file, state, Durable, next: 0);
        }
    }

    private void Raise()
    {
        Interlocked.Increment(ref Block->Signal);
        _platform.WakeByAddress(&Block->Signal, all: true);
    }

    private StoreReadOnlyException Failure(Exception? cause) => new(
        cause is null && Volatile.Read(ref Block->Failed) == LogBlock.NoLog
            ? $"The log of the store '{_memory.File.Path}' could not be created when the store was opened, so the store refuses durable writes. " +
              $"{nameof(CairnStore)}.{nameof(CairnStore.Warnings)} says why. Reading continues. When the reason is gone, close the store in all processes " +
              "and open it again."
            : $"The disk failed to keep the log of the store '{_memory.File.Path}', so the store refuses durable writes. The last ones may be " +
              "lost if the machine stops. Reading continues. Check the disk, then close the store in all processes and open it again.",
        cause);

    // The exception names the store, because callers know the store, which is closed together with its log.
    [DoesNotReturn]
    private static void ThrowClosed() => throw new ObjectDisposedException(nameof(CairnStore));
}
