using System.Runtime.CompilerServices;
using Cairn.Collections;
using Cairn.Concurrency;
using Cairn.Encryption;
using Cairn.Eviction;
using Cairn.Keys;
using Cairn.Leasing;
using Cairn.Platform;
using Cairn.Recovering;
using Cairn.Segments;
using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.Engine;

// One opening of a store: the parts, put together, and the operations on them.
//
//   Reads take no lock (StoreEngine.Read). Writes take the lock of the key's partition (StoreEngine.Write); large values
//   are copied outside it (StoreEngine.Large).
//
//   I1  After Close has set IsClosed and taken and released every partition's lock once, no operation of this engine
//       changes the file: whoever takes a lock looks at IsClosed after taking it. Where a lock could not be had because it remains
//       this opening's own, the owner slot is not given away.
//   I2  The owner slot is given away only when no hazard cell is in use, and whoever takes a cell looks at IsClosed after
//       taking it. So no pin is stored into the record of the slot's next holder, and no segment reserved in its name.
//   I3  The owner slot is given away only when no thread waits for a lock: it could steal one, in the name of the slot's
//       next holder. A thread that finds the lock free and only then that the store was closed gives it back, unless it was
//       stolen from it: by then its slot may be nobody's.
internal sealed unsafe partial class StoreEngine : IPartitionGate
{
    // No thread is inside a partition that long, but one that a debugger stops; or no thread at all, and somebody scribbled over the
    // lock's word.
    private const int MostWaitsForOwnLock = 10;

    private readonly StorePlatform _platform;
    private readonly OwnerTable _owners;
    private readonly PartitionLock _lock;
    private readonly PartitionRecovery _recovery;
    private readonly OwnerCleanup _cleanup;
    private readonly SegmentPool _pool;
    private readonly SegmentLog _log;
    private readonly SegmentEvictor _evictor;
    private readonly GhostTable _ghosts;
    private readonly CollectionBudgets _budgets;
    private readonly LeaseSignal _leases;
    private readonly LargeRuns _runs;
    private readonly StoreGrowth _growth;
    private readonly HitCounters _hits;
    private readonly EntryDepartures _departures;
    private readonly TimeSpan _lockTimeout;
    private volatile bool _isClosed;
    private int _waiters;
    private Action? _giveAwaySlot;

    public StoreEngine(StoreMemory memory, StorePlatform platform, StoreClock clock, TimeSpan lockTimeout, in LogOptions logOptions)
    {
        Memory = memory;
        Clock = clock;
        _platform = platform;
        _lockTimeout = lockTimeout;
        _owners = new OwnerTable(memory.File, memory);
        _lock = new PartitionLock(_owners, platform);
        _pool = new SegmentPool(memory);
        WriteAhead = new StoreLog(memory, platform, _lock, logOptions, lockTimeout);
        _recovery = new PartitionRecovery(memory, _pool, new LogRedo(memory, WriteAhead));
        _cleanup = new OwnerCleanup(memory, _pool, _owners, _lock, _recovery, WriteAhead);
        _log = new SegmentLog(memory, _pool);
        _ghosts = new GhostTable(memory);
        _leases = new LeaseSignal(platform);
        _growth = new StoreGrowth(memory);
        _budgets = new CollectionBudgets(memory);
        _departures = new EntryDepartures(memory, clock);
        _evictor = new SegmentEvictor(
            memory, _pool, _log, _ghosts, _owners, _cleanup, _recovery, clock, _leases, _budgets, _growth, _departures);
        _runs = new LargeRuns(memory, _owners, this, _evictor, _growth, clock);
        _hits = new HitCounters(memory.PartitionCount);
    }

    public StoreMemory Memory { get; }

    public StoreClock Clock { get; }

    /// <summary>Encrypts what comes here; null if the store is not encrypted. The engine itself sees what is encrypted.</summary>
    public StoreCipher? Cipher { get; init; }

    public OwnerTable Owners => _owners;

    public OwnerCleanup Cleanup => _cleanup;

    public PartitionRecovery Recovery => _recovery;

    public SegmentPool Pool => _pool;

    public StoreGrowth Growth => _growth;

    /// <summary>Receives each entry that this opening expires or evicts; null for none.</summary>
    public IEntryObserver? Observer
    {
        get => _departures.Observer;
        set => _departures.Observer = value;
    }

    /// <summary>The log of collections whose writes survive a loss of power.</summary>
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
    /// Takes a partition's lock and recovers the partition if its last holder died. Null if the time is up; never for long.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The store was closed meanwhile.</exception>
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
        // A plain read: a thread that holds partitions sees its own count; what another sees late costs it one more look.
        if (_holds == 0 || !IsHeldHere(partition))
        {
            _lock.Release(partition);
        }
    }

    /// <summary>Leaves a partition that an exception may have left half changed.</summary>
    public void LeaveBroken(PartitionBlock* partition, int number)
    {
        if (!StoreLog.TakeRefusal())
        {
            _recovery.Run(number);
        }

        Leave(partition);
    }

    /// <summary>Ends all use of the file by this engine. Operations that come later throw.</summary>
    /// <param name="giveAwaySlot">
    /// Called once, when nothing is pinned: now, or by the thread that gives up the last pin. Not at all if a lock remains in this
    /// opening's name: then the slot is this process' until the mapping goes, or the lock would be stolen from a thread that still writes.
    /// </param>
    public void Close(Action giveAwaySlot)
    {
        _isClosed = true;

        // Whoever is inside a partition finishes first (I1).
        bool isLeft = true;
        for (int number = 0; number < Memory.PartitionCount; number++)
        {
            isLeft &= TryPassThrough(number);
        }

        WriteAhead.Close();
        var wait = default(SpinWait);
        while (Volatile.Read(ref _waiters) != 0)
        {
            wait.SpinOnce(); // I3. Each ends at its time-out, or sooner.
        }

        Cipher?.Dispose();
        FlushHitCounters();
        _cleanup.FoldCounters(_owners.Slot);
        if (isLeft)
        {
            Interlocked.Exchange(ref _giveAwaySlot, giveAwaySlot);
            GiveAwayIfUnpinned();
        }
    }

    // False if the lock remains this opening's own. Another owner's is waited for once.
    private bool TryPassThrough(int number)
    {
        PartitionBlock* partition = Memory.Partition(number);
        bool isOwn = false;
        for (int wait = 0; wait == 0 || (isOwn && wait < MostWaitsForOwnLock); wait++)
        {
            switch (_lock.Acquire(partition, _lockTimeout))
            {
                case LockOutcome.Stolen:
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

    // A full fence between giving up a pin, or setting the action, and this look: the last of them sees both.
    private void GiveAwayIfUnpinned()
    {
        if (!_owners.HasPins)
        {
            Interlocked.Exchange(ref _giveAwaySlot, null)?.Invoke();
        }
    }

    /// <summary>A hazard cell for a brief use. False when all are in use.</summary>
    /// <exception cref="ObjectDisposedException">The store was closed: the slot may have its next holder already (I2).</exception>
    private bool TryTakeHazardCell(out int cell)
    {
        // Taking it is a full fence, as is each lock that Close takes between setting IsClosed and looking for pins: one of the
        // two sees the other.
        if (!_owners.TryTakeHazardCell(isLasting: false, out cell))
        {
            return false;
        }

        if (_isClosed)
        {
            _owners.ReturnHazardCell(cell);
            GiveAwayIfUnpinned();
            ThrowClosed();
        }

        return true;
    }

    // The same for a pin, whose cell may be another's too: taking it or joining it is the full fence.
    private bool TryPinSegment(int segment, PinTerm term, out int cell)
    {
        if (!_owners.TryPin(segment, term, out cell))
        {
            return false;
        }

        if (_isClosed)
        {
            _owners.Unpin(cell);
            GiveAwayIfUnpinned();
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
            ThrowClosed(); // Not as a waiter, whom Close waits for.
        }

        return entered;
    }

    private PartitionBlock* EnterAsWaiter(PartitionBlock* partition, int number, TimeSpan timeout, out bool isClosed)
    {
        // A full fence, as are the locks that Close takes: either it waits for this thread or this thread sees that it has begun (I3).
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

            if (outcome == LockOutcome.Stolen)
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
