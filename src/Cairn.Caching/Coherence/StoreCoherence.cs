using Cairn.Engine;
using Cairn.Invalidation;
using Cairn.Storage;

namespace Cairn.Caching.Coherence;

// Coherence over the store's invalidation rings. Before every hit, each process polls for changes by any process.
//
//   a changing process           this process
//   slot, ring cell, position    hit    position and overrun as drained?   yes: the first level
//                                                                          no:  drain, then the first level
//                                fill   mark | read, or compute | lock | drain | changes since the mark? | keep | unlock
//                                drain  lock | cells up to the position, or the overrun, to the sink | drained := that | unlock
//
//   C1  Drained changes have been reported to the sink: Drained is stored after the sink has returned. So if the store's words equal
//       Drained, the first level has no entry that a change up to then made outdated.
//   C2  Draining, and keeping together with the check for changes since the mark, happen under the partition's lock. A change that the
//       check did not see has not been drained, and is reported to the sink after the entry is in place.
//   C3  A mark is taken before the value is read: a change that the value may lack comes after the mark.
//   C4  Position and overrun only grow, and each is drained separately: a pair that is read partly before and partly after another thread's
//       drain implies nothing beyond C1.
//   C5  The mapping is reachable from this object, and each access ends with GC.KeepAlive: after the store is closed its words
//       can still be read, but no conclusion is drawn from them (docs/decisions/0007).
//
// The rings report the changes of every collection of the store; a sink ignores hashes that it does not know. It also receives the changes of
// this process. Neither the sink nor a keep may call the coherence: they run under a partition's lock.
internal sealed unsafe class StoreCoherence : ICoherence
{
    private const int HashesAtOnce = 64;

    private readonly StoreEngine _engine;
    private readonly byte* _partitions;
    private readonly int _partitionBytes;
    private readonly int _partitionShift;
    private readonly Drained[] _drained;
    private readonly Lock[] _locks;
    private IChangeSink? _sink;

    public StoreCoherence(CairnStore store)
    {
        _engine = store.Engine;
        StoreMemory memory = _engine.Memory;
        _partitions = (byte*)memory.Partition(0);
        _partitionBytes = memory.Layout.PartitionBlockBytes;
        _partitionShift = Storage.KeyPlacement.PartitionShift(memory.PartitionCount);
        _drained = new Drained[memory.PartitionCount];
        _locks = new Lock[memory.PartitionCount];
        for (int partition = 0; partition < _locks.Length; partition++)
        {
            _locks[partition] = new Lock();
        }
    }

    public bool SeesAllChanges => true;

    /// <summary>Whether a 64-bit word has a bit for each partition.</summary>
    public bool HasFewPartitions => _drained.Length <= 64;

    /// <summary>Returns the partition that reports the changes of a hash.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int PartitionOf(ulong hash) => (int)(hash >> 1 >> (_partitionShift - 1)); // Two shifts, as in KeyPlacement: one by 64 has no effect.

    public void Attach(IChangeSink sink)
    {
        // The first level is empty, so earlier changes do not concern it.
        _sink = sink;
        for (int partition = 0; partition < _drained.Length; partition++)
        {
            InvalidationCursor now = InvalidationRing.Now(BlockOf(partition));
            _drained[partition].Position = now.Position;
            _drained[partition].Overrun = now.Overrun;
        }

        GC.KeepAlive(this);
    }

    // Every process that shares the file reports its changes through the ring, so no outdated entry is ever allowed.
    public long AllowedAgeMs => 0;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryCatchUp(ulong hash) => TryCatchUpPartition(PartitionOf(hash));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryCatchUpPartition(int partition)
    {
        ref Drained drained = ref _drained[partition];
        PartitionBlock* block = BlockOf(partition);

        // Acquire, all four. Those of Drained pair with the releases in Drain: the sink's removals are visible. Those of the store's words pair
        // with the releases of the process that posts, and order the look into the first level after this check (C1).
        bool isQuiet = Volatile.Read(ref block->RingPosition) == Volatile.Read(ref drained.Position)
            && Volatile.Read(ref block->Overrun) == Volatile.Read(ref drained.Overrun)
            && !_engine.IsClosed;
        GC.KeepAlive(this);
        return isQuiet || CatchUp(partition);
    }

    /// <summary>Returns the bit of the partition that reports the changes of a hash. Valid if <see cref="HasFewPartitions"/>.</summary>
    public ulong PartitionBitOf(ulong hash) => 1UL << PartitionOf(hash);

    /// <summary>Catches up with every partition whose bit is set, like <see cref="TryCatchUp"/>.</summary>
    public bool TryCatchUpAll(ulong partitions)
    {
        for (; partitions != 0; partitions &= partitions - 1)
        {
            if (!TryCatchUpPartition(BitOperations.TrailingZeroCount(partitions)))
            {
                return false;
            }
        }

        return true;
    }

    public ChangeMark Mark(ulong hash)
    {
        InvalidationCursor now = InvalidationRing.Now(BlockOf(PartitionOf(hash)));
        GC.KeepAlive(this);
        return new ChangeMark(now.Position, now.Overrun);
    }

    public ChangeMark[] MarkAll()
    {
        var marks = new ChangeMark[_drained.Length];
        for (int partition = 0; partition < marks.Length; partition++)
        {
            InvalidationCursor now = InvalidationRing.Now(BlockOf(partition));
            marks[partition] = new ChangeMark(now.Position, now.Overrun);
        }

        GC.KeepAlive(this);
        return marks;
    }

    public bool IsUnchanged(in ChangeMark mark, ulong hash) => IsWithin(PartitionOf(hash), mark, hash, most: 0);

    public bool IsUnchanged(ChangeMark[] marks, ulong hash)
    {
        int partition = PartitionOf(hash);
        return IsWithin(partition, marks[partition], hash, most: 0);
    }

    public bool TryKeep<TState>(in ChangeMark mark, ulong hash, int ownChanges, TState state, Func<TState, bool> keep)
    {
        int partition = PartitionOf(hash);
        lock (_locks[partition])
        {
            if (_engine.IsClosed)
            {
                return false;
            }

            // A change that comes after the check of the ring is drained after the lock is released (C2).
            Drain(partition);
            return IsWithin(partition, mark, hash, ownChanges) && keep(state);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool CatchUp(int partition)
    {
        if (_engine.IsClosed)
        {
            return false;
        }

        lock (_locks[partition])
        {
            Drain(partition);
        }

        return true;
    }

    // Drains under the partition's lock, at least up to the position at the start. Concurrent changes may extend the drain.
    private void Drain(int partition)
    {
        PartitionBlock* block = BlockOf(partition);
        ref Drained drained = ref _drained[partition];
        ulong goal = Volatile.Read(ref block->RingPosition);
        var cursor = new InvalidationCursor(drained.Position, drained.Overrun);
        Span<ulong> hashes = stackalloc ulong[HashesAtOnce];
        InvalidationStatus status;
        do
        {
            status = InvalidationRing.Read(_engine.Memory, block, ref cursor, hashes, out int count);
            if (status == InvalidationStatus.Overrun)
            {
                _sink?.OnChangedMany(_partitionShift, (ulong)partition);
            }

            foreach (ulong hash in hashes[..count])
            {
                _sink?.OnChanged(hash);
            }
        }
        while (status == InvalidationStatus.Changed && cursor.Position < goal);

        // Release, both; pair with the acquires in TryCatchUp (C1). Only after the sink has removed its entries.
        Volatile.Write(ref drained.Position, cursor.Position);
        Volatile.Write(ref drained.Overrun, cursor.Overrun);
        GC.KeepAlive(this);
    }

    // Returns whether the hash was changed at most the given number of times since the mark. Reads the ring itself: changes that were drained
    // meanwhile are still in it, unless there was an overrun.
    private bool IsWithin(int partition, in ChangeMark mark, ulong hash, int most)
    {
        PartitionBlock* block = BlockOf(partition);
        uint overrun = Volatile.Read(ref block->Overrun);
        ulong goal = Volatile.Read(ref block->RingPosition);
        if (overrun == mark.Overrun && goal - mark.Position <= (ulong)most)
        {
            GC.KeepAlive(this);
            return true; // So few changes are allowed, whichever hashes they have.
        }

        var cursor = new InvalidationCursor(mark.Position, mark.Overrun);
        Span<ulong> hashes = stackalloc ulong[HashesAtOnce];
        InvalidationStatus status;
        do
        {
            status = InvalidationRing.Read(_engine.Memory, block, ref cursor, hashes, out int count);
            if (status == InvalidationStatus.Overrun)
            {
                return false;
            }

            most -= hashes[..count].Count(hash);
        }
        while (most >= 0 && status == InvalidationStatus.Changed && cursor.Position < goal);

        GC.KeepAlive(this);
        return most >= 0;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private PartitionBlock* BlockOf(int partition) => (PartitionBlock*)(_partitions + ((long)partition * _partitionBytes));

    // The position up to which the sink has received a partition's changes. All threads poll it before every hit, so each has its own cache
    // line.
    [StructLayout(LayoutKind.Sequential, Size = 64)]
    private struct Drained
    {
        public ulong Position;
        public uint Overrun;
    }
}
