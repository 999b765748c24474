using System.Runtime.CompilerServices;
using Cairn.Collections;
using Cairn.Concurrency;
using Cairn.Eviction;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Leasing;
using Cairn.Platform;
using Cairn.Recovering;
using Cairn.Storage;

namespace Cairn.Engine;

// One opening of a store: the parts, put together, and the operations on them.
//
//   Reads take no lock (StoreEngine.Read). Writes take the lock of the key's partition (StoreEngine.Write); large values
//   are copied outside it (StoreEngine.Large).
//
//   I1  After Close has set IsClosed and taken and released every partition's lock once, no operation of this engine
//       changes the file: whoever takes a lock looks at IsClosed after taking it.
//   I2  The owner slot is given away only when no hazard cell is in use, and whoever takes a cell looks at IsClosed after
//       taking it. So no pin is stored into the record of the slot's next holder, and no segment reserved in its name.
internal sealed unsafe partial class StoreEngine
{
    private readonly StorePlatform _platform;
    private readonly OwnerTable _owners;
    private readonly PartitionLock _lock;
    private readonly PartitionRecovery _recovery;
    private readonly OwnerCleanup _cleanup;
    private readonly SegmentPool _pool;
    private readonly SegmentLog _log;
    private readonly SegmentEvictor _evictor;
    private readonly GhostTable _ghosts;
    private readonly LeaseSignal _leases;
    private readonly LargeRuns _runs;
    private readonly StoreGrowth _growth;
    private readonly HitCounters _hits;
    private readonly TimeSpan _lockTimeout;
    private volatile bool _isClosed;

    public StoreEngine(StoreMemory memory, StorePlatform platform, StoreClock clock, TimeSpan lockTimeout)
    {
        Memory = memory;
        Clock = clock;
        _platform = platform;
        _lockTimeout = lockTimeout;
        _owners = new OwnerTable(memory.File, memory);
        _lock = new PartitionLock(_owners, platform);
        _pool = new SegmentPool(memory);
        _recovery = new PartitionRecovery(memory, _pool);
        _cleanup = new OwnerCleanup(memory, _owners, _lock, _recovery);
        _log = new SegmentLog(memory, _pool);
        _ghosts = new GhostTable(memory);
        _leases = new LeaseSignal(platform);
        _growth = new StoreGrowth(memory);
        _evictor = new SegmentEvictor(
            memory, _pool, _log, _ghosts, _owners, _cleanup, clock, _leases, new CollectionBudgets(memory), _growth);
        _runs = new LargeRuns(memory, _owners, this, _evictor, _growth);
        _hits = new HitCounters(memory.PartitionCount);
    }

    public StoreMemory Memory { get; }

    public StoreClock Clock { get; }

    public OwnerTable Owners => _owners;

    public OwnerCleanup Cleanup => _cleanup;

    public PartitionRecovery Recovery => _recovery;

    public SegmentPool Pool => _pool;

    public StoreGrowth Growth => _growth;

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
        LockOutcome outcome = _lock.Acquire(partition, timeout);
        if (outcome == LockOutcome.Taken && !_isClosed)
        {
            return partition;
        }

        return EnterSlow(partition, number, outcome);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Leave(PartitionBlock* partition) => _lock.Release(partition);

    /// <summary>Leaves a partition that an exception may have left half changed.</summary>
    public void LeaveBroken(PartitionBlock* partition, int number)
    {
        _recovery.Run(number);
        _lock.Release(partition);
    }

    /// <summary>Ends all use of the file by this engine. Operations that come later throw.</summary>
    /// <returns>False while values are still pinned: the owner slot must then stay until they are not.</returns>
    public bool Close()
    {
        _isClosed = true;

        // Whoever is inside a partition finishes first (I1).
        for (int number = 0; number < Memory.PartitionCount; number++)
        {
            // However long it takes: the lock would be stolen from a thread that still writes. Another owner is not waited for.
            PartitionBlock* partition = Memory.Partition(number);
            LockOutcome outcome;
            do
            {
                outcome = _lock.Acquire(partition, _lockTimeout);
            }
            while (outcome == LockOutcome.TimedOut
                && PartitionLock.OwnerOf(Volatile.Read(ref partition->LockWord)) == _owners.Slot);

            switch (outcome)
            {
                case LockOutcome.Stolen:
                    LeaveBroken(partition, number);
                    break;
                case LockOutcome.Taken:
                    _lock.Release(partition);
                    break;
                default:
                    break;
            }
        }

        FlushHitCounters();
        _cleanup.FoldCounters(_owners.Slot);
        return !_owners.HasPins;
    }

    /// <summary>A hazard cell, or -1 when all are in use.</summary>
    /// <exception cref="ObjectDisposedException">The store was closed: the slot may have its next holder already (I2).</exception>
    private int TakeHazardCell()
    {
        // Taking it is a full fence, as is each lock that Close takes between setting IsClosed and looking for pins: one of the
        // two sees the other.
        int cell = _owners.TakeHazardCell();
        if (_isClosed && cell >= 0)
        {
            _owners.ReturnHazardCell(cell);
            ThrowClosed();
        }

        return cell;
    }

    /// <summary>Adds this engine's hits and misses to its owner record, where other processes see them.</summary>
    public void FlushHitCounters() => _hits.MoveTo(_owners.Record);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private PartitionBlock* EnterSlow(PartitionBlock* partition, int number, LockOutcome outcome)
    {
        if (outcome == LockOutcome.TimedOut)
        {
            return null;
        }

        if (outcome == LockOutcome.Stolen)
        {
            _recovery.Run(number);
        }

        if (_isClosed)
        {
            _lock.Release(partition);
            ThrowClosed();
        }

        return partition;
    }

    private static void ThrowClosed() => throw new ObjectDisposedException(nameof(CairnStore));
}
