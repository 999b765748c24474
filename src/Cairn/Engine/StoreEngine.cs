using Cairn.Collections;
using Cairn.Concurrency;
using Cairn.Encryption;
using Cairn.Eviction;
using Cairn.Eviction.SegmentedFifo;
using Cairn.Keys;
using Cairn.Leasing;
using Cairn.Messages;
using Cairn.Platform;
using Cairn.Recovering;
using Cairn.Segments;
using Cairn.WriteAhead;

namespace Cairn.Engine;

// One opening of a store: its parts and the operations on them.
//
//   Reads take no lock (StoreEngine.Read). Writes hold the lock of the key's partition (StoreEngine.Write). Large values are
//   copied without the lock (StoreEngine.Large).
//
//   I1  Close sets IsClosed, then acquires and releases every partition's lock once. After that, no operation of this engine
//       changes the file, because every operation reads IsClosed after it acquires a lock. If Close cannot acquire a lock that
//       this opening still holds, the owner slot is not released.
//   I2  The owner slot is released only when no hazard cell is in use. A thread that takes a cell reads IsClosed afterwards. So no
//       thread stores a pin in the record of the slot's next holder or reserves a segment in that holder's name.
//   I3  The owner slot is released only when no thread waits for a lock. A waiting thread could take over a lock in the name of the
//       slot's next holder. If a thread acquires a free lock and then finds the store closed, it releases the lock, unless another
//       process has taken it over. This can happen, because the slot may no longer have a holder by then.
internal sealed unsafe partial class StoreEngine : IPartitionGate
{
    // No thread is inside a partition for so long, unless a debugger has stopped it. Otherwise no thread holds the lock, and its word
    // was overwritten.
    private const int MostWaitsForOwnLock = 10;

    private readonly OwnerTable _owners;
    private readonly PartitionLock _lock;
    private readonly PartitionRecovery _recovery;
    private readonly OwnerCleanup _cleanup;
    private readonly SegmentPool _pool;
    private readonly SegmentLog _log;
    private readonly SegmentEvictor _evictor;
    private readonly EvictionPolicy _policy;
    private readonly CollectionBudgets _budgets;
    private readonly LeaseSignal _leases;
    private readonly LargeRuns _runs;
    private readonly StoreGrowth _growth;
    private readonly HitCounters _hits;
    private readonly EntryDepartures _departures;
    private readonly TimeSpan _lockTimeout;
    private volatile bool _isClosed;
    private int _waiters;
    private Action? _releaseSlot;

    public StoreEngine(StoreMemory memory, StorePlatform platform, StoreClock clock, TimeSpan lockTimeout, in LogOptions logOptions)
    {
        Memory = memory;
        Clock = clock;
        _lockTimeout = lockTimeout;
        _owners = new OwnerTable(memory.File, memory);
        _lock = new PartitionLock(_owners, platform);
        _pool = new SegmentPool(memory);
        WriteAhead = new StoreLog(memory, platform, _lock, logOptions, lockTimeout, Failures);
        _recovery = new PartitionRecovery(memory, _pool, new LogRedo(memory, WriteAhead));
        _cleanup = new OwnerCleanup(memory, _pool, _owners, _lock, _recovery, WriteAhead);
        _log = new SegmentLog(memory, _pool);
        _leases = new LeaseSignal(platform);
        _growth = new StoreGrowth(memory);
        _budgets = new CollectionBudgets(memory);
        _policy = new SegmentedFifoPolicy(memory, _pool, _budgets);
        _departures = new EntryDepartures(memory, clock);
        _evictor = new SegmentEvictor(
            memory, _pool, _log, _policy, _owners, _cleanup, _recovery, clock, _leases, _budgets, _growth, _departures);
        _runs = new LargeRuns(memory, _owners, this, _evictor, _policy, _growth, clock);
        _hits = new HitCounters(memory.PartitionCount);
    }

    public StoreMemory Memory { get; }

    public StoreClock Clock { get; }

    /// <summary>Gets the cipher for callers of this engine; null if the store is not encrypted. The engine itself sees encrypted data.</summary>
    public StoreCipher? Cipher { get; init; }

    public OwnerTable Owners => _owners;

    public OwnerCleanup Cleanup => _cleanup;

    public PartitionRecovery Recovery => _recovery;

    public SegmentPool Pool => _pool;

    public StoreGrowth Growth => _growth;

    /// <summary>Gets or sets the receiver of each entry that this opening expires or evicts; null for none.</summary>
    public IEntryObserver? Observer
    {
        get => _departures.Observer;
        set => _departures.Observer = value;
    }

    /// <summary>Gets the receiver of failures of work for which no caller waits.</summary>
    public BackgroundFailures Failures { get; } = new();

    /// <summary>Gets the log of collections whose writes survive a loss of power.</summary>
    public StoreLog WriteAhead { get; }

    public bool IsClosed => _isClosed;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public KeyRef Place(byte* key, int length, uint collection) =>
        new(key, length, collection, Memory.Place(Memory.HashKey(key, length, collection)));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void ThrowIfClosed()
    {
        if (_isClosed)
        {
            ThrowClosed();
        }
    }

    /// <summary>
    /// Acquires a partition's lock, and recovers the partition if the last holder died. Returns null if the time-out has passed. The
    /// caller must hold the lock only briefly.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The store was closed in the meantime.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public PartitionBlock* Enter(int number) => Enter(number, _lockTimeout);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public PartitionBlock* Enter(int number, TimeSpan timeout)
    {
        PartitionBlock* partition = Memory.Partition(number);
        if (!_lock.TryTake(partition, out uint taken))
        {
            return EnterSlow(partition, number, timeout);
        }

        if (_isClosed)
        {
            LeaveClosed(partition, taken);
        }

        return partition;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Leave(PartitionBlock* partition)
    {
        // A plain read: a thread that holds partitions sees its own count. If another thread sees it late, it only checks once more.
        if (_holds == 0 || !IsHeldHere(partition))
        {
            _lock.Release(partition);
        }
    }

    /// <summary>Leaves a partition that an exception may have left partly changed.</summary>
    public void LeaveBroken(PartitionBlock* partition, int number)
    {
        if (!StoreLog.TakeRefusal())
        {
            _recovery.Run(number);
        }

        Leave(partition);
    }

    /// <summary>Ends all use of the file by this engine. Later operations throw.</summary>
    /// <param name="releaseSlot">
    /// Called once, when no pin is left: now, or by the thread that ends the last pin. Not called if a lock remains in this opening's
    /// name. Then this process keeps the slot until the mapping is removed. Otherwise the lock could be taken over from a thread that
    /// still writes.
    /// </param>
    public void Close(Action releaseSlot)
    {
        _isClosed = true;

        // A thread inside a partition finishes first (I1).
        bool isLeft = true;
        for (int number = 0; number < Memory.PartitionCount; number++)
        {
            isLeft &= TryPassThrough(number);
        }

        WriteAhead.Close();
        var wait = default(SpinWait);
        while (Volatile.Read(ref _waiters) != 0)
        {
            wait.SpinOnce(); // I3. Each waiter ends at its time-out or sooner.
        }

        Cipher?.Dispose();
        FlushHitCounters();
        _cleanup.FoldCounters(_owners.Slot);
        if (isLeft)
        {
            Interlocked.Exchange(ref _releaseSlot, releaseSlot);
            ReleaseSlotIfUnpinned();
        }
    }

    // Returns false if this opening still holds the lock. Waits once for another owner's lock.
    private bool TryPassThrough(int number)
    {
        PartitionBlock* partition = Memory.Partition(number);
        bool isOwn = false;
        for (int wait = 0; wait == 0 || (isOwn && wait < MostWaitsForOwnLock); wait++)
        {
            switch (_lock.Acquire(partition, _lockTimeout))
            {
                case LockOutcome.TakenOver:
                    LeaveBroken(partition, number);
                    return true;
                case LockOutcome.Taken:
                    _lock.Release(partition);
                    return true;
                default:
                    isOwn = PartitionLock.OwnerOf(Volatile.Read(ref partition->LockWord)) == _owners.Slot;
                    break;
            }
        }

        return !isOwn;
    }

    // A full fence separates the end of a pin, or the setting of the action, from this check. The later of the two threads sees both.
    private void ReleaseSlotIfUnpinned()
    {
        if (!_owners.HasPins)
        {
            Interlocked.Exchange(ref _releaseSlot, null)?.Invoke();
        }
    }

    /// <summary>Takes a hazard cell for brief use. Returns false if all are in use.</summary>
    /// <exception cref="ObjectDisposedException">The store was closed: the slot may already have its next holder (I2).</exception>
    private bool TryTakeHazardCell(out int cell)
    {
        // Taking a cell is a full fence. So is each lock that Close acquires between setting IsClosed and looking for pins. So either this
        // thread sees IsClosed or Close sees the cell.
        if (!_owners.TryTakeHazardCell(isLasting: false, out cell))
        {
            return false;
        }

        if (_isClosed)
        {
            _owners.ReturnHazardCell(cell);
            ReleaseSlotIfUnpinned();
            ThrowClosed();
        }

        return true;
    }

    // Like TryTakeHazardCell, for a pin, whose cell can be shared. Taking or sharing the cell is the full fence.
    private bool TryPinSegment(int segment, PinTerm term, out int cell)
    {
        if (!_owners.TryPin(segment, term, out cell))
        {
            return false;
        }

        if (_isClosed)
        {
            _owners.Unpin(cell);
            ReleaseSlotIfUnpinned();
            ThrowClosed();
        }

        return true;
    }

    /// <summary>Adds this engine's hits and misses to its owner record, where other processes see them.</summary>
    public void FlushHitCounters() => _hits.MoveTo(_owners.Record);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private PartitionBlock* EnterSlow(PartitionBlock* partition, int number, TimeSpan timeout)
    {
        if (_holds != 0 && IsHeldHere(partition))
        {
            return partition;
        }

        PartitionBlock* entered = EnterAsWaiter(partition, number, timeout, out bool isClosed);
        if (isClosed)
        {
            ThrowClosed(); // Only after this thread has stopped being a waiter, because Close waits for waiters.
        }

        return entered;
    }

    private PartitionBlock* EnterAsWaiter(PartitionBlock* partition, int number, TimeSpan timeout, out bool isClosed)
    {
        // A full fence, as are the locks that Close acquires: either Close waits for this thread, or this thread sees that Close has begun (I3).
        Interlocked.Increment(ref _waiters);
        try
        {
            isClosed = _isClosed;
            if (isClosed)
            {
                return null;
            }

            LockOutcome outcome = _lock.AcquireSlow(partition, timeout);
            if (outcome == LockOutcome.TimedOut)
            {
                return null;
            }

            if (outcome == LockOutcome.TakenOver)
            {
                _recovery.Run(number);
            }

            isClosed = _isClosed;
            if (isClosed)
            {
                _lock.Release(partition);
                return null;
            }

            return partition;
        }
        finally
        {
            Interlocked.Decrement(ref _waiters);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void LeaveClosed(PartitionBlock* partition, uint taken)
    {
        _lock.Undo(partition, taken);
        ThrowClosed();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ThrowClosed()
    {
        CloseAtExit.HoldBack();
        throw new ObjectDisposedException(nameof(CairnStore));
    }
}
