using System.Diagnostics.CodeAnalysis;
using System.Diagnostics;
using Cairn.Concurrency;
using Cairn.Platform;
using Cairn.Steps;
using Cairn.Storage;

namespace Cairn.WriteAhead;

// Bringing the log to the disk, for many writers at once.
//
//   Whoever finds its record not yet on the disk takes the sync lock, reads Tail, has the file brought to the disk, and moves Durable to that
//   Tail. All others sleep on Signal meanwhile, and look again.
//
// The lock only keeps two from doing the same: a leader who is stopped is not waited for beyond the lock's time-out.
internal sealed unsafe partial class StoreLog
{
    // Nobody wakes those who wait when the leader dies.
    private static readonly TimeSpan LongestSleep = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan LongestGathering = TimeSpan.FromMilliseconds(1);

    // Only hints, to guess how many may join: how many are here, those included who have been served and are not awake yet; how many
    // have come at all, and how many of them before the last synchronisation that is over.
    private int _waiting;
    private long _arrived;
    private long _covered;
    private int _usualGroup;
    private long _usualSyncTicks;

    private int _inWait;
    private volatile bool _isClosed;

    private long _synchronisations;

    /// <summary>How often this opening has had the log brought to the disk.</summary>
    public long Synchronisations => Volatile.Read(ref _synchronisations);

    /// <summary>Returns once everything below a position is on the disk.</summary>
    /// <param name="end">The end of a record.</param>
    /// <param name="isUrgent">Whether to begin at once, without looking for others who could join.</param>
    /// <exception cref="StoreReadOnlyException">The disk has failed: whether the record is on it is not known.</exception>
    public void Wait(long end, bool isUrgent)
    {
        if (Durable >= end)
        {
            return;
        }

        // A full fence, as is what Close does: either it waits for this thread, or this thread sees that it has begun.
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

    /// <summary>Brings everything that was appended before to the disk, for the last time, and lets nobody use the locks any more.</summary>
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
            // Whoever waits is told; who does not was not promised anything.
        }

        // Whoever begins to wait from here on finds its record on the disk, or leaves; whoever has begun is waited for.
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
            // Read before Durable: a signal raised after that wakes the wait below.
            uint signal = Volatile.Read(ref block->Signal);
            if (Durable >= end)
            {
                return;
            }

            if (HasFailed)
            {
                throw Failure(null);
            }

            // Close has brought all there was to the disk, or failed.
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

    // Waits a moment for those to append who are likely to: a synchronisation costs the same for all of them.
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
            // A tail read while the file is the present one ends in that file; what lies in those before is on the disk already.
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
                    continue; // The log went on by two files meanwhile.
                }

                // Quickly up, slowly down.
                _usualGroup = Math.Max(group, _usualGroup - Math.Max(1, _usualGroup / 8));
                _usualSyncTicks = (_usualSyncTicks + Stopwatch.GetTimestamp() - start) / 2;
                Volatile.Write(ref _covered, arrived);
                Interlocked.Increment(ref _synchronisations);
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

    // The kernel tells of a failed write once, and takes the pages for clean afterwards: a second try would succeed and mean nothing.
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
                // After the flush has returned, never before: a mark that the disk has must be true (LogBlock I5). Of two who raise it at once the
                // later may store the lower mark; that says less, until the next.
                Volatile.Write(ref block->DurableMark, LogMark.OfPosition(position));
            }
        }
    }

    // The present piece says how far the log is durable, because nothing may follow.
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
        cause is null && Volatile.Read(ref Block->Failed) == LogBlock.NotMade
            ? $"The log of the store '{_memory.File.Path}' could not be made when the store was opened, so no durable write is taken; " +
              $"{nameof(CairnStore)}.{nameof(CairnStore.Warnings)} says why. Reading goes on. When the reason is gone, close the store in all processes " +
              "and open it again."
            : $"The disk failed to keep the log of the store '{_memory.File.Path}', so no durable write is taken any more; what the last of them wrote may be " +
              "lost if the machine stops. Reading goes on. Check the disk, then close the store in all processes and open it again.",
        cause);

    // Callers know the store, which is closed with its log.
    [DoesNotReturn]
    private static void ThrowClosed() => throw new ObjectDisposedException(nameof(CairnStore));
}
