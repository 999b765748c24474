using Cairn.Collections;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Messages;
using Cairn.Segments;

namespace Cairn.Engine;

// Writes kept entries. They go to the keep log, within a hard budget, and never at the cost of the old value.
//
// Under the lock, a write that finds no room returns NoRoom and changes nothing. Without the lock, the engine then looks for room in other
// partitions and removes expired entries from all of them. Each is done a limited number of times. Then the write fails with an exception.
internal sealed unsafe partial class StoreEngine
{
    private const int MostAttemptsToKeep = 2;

    // The reasons why a kept entry found no room. Callers get an exception, or one of these without ThrowsForKept.
    private const WriteStatus NoBudget = (WriteStatus)64;
    private const WriteStatus NoSlot = (WriteStatus)65;

    /// <summary>
    /// Gets or sets whether writes must respect budgets. False while entries are copied from a store or read from a log whose budgets contained
    /// them. Then only the room counts.
    /// </summary>
    public bool AreBudgetsKept { get; set; } = true;

    /// <summary>Gets or sets whether segments that are mostly garbage are reused before new room is taken.</summary>
    public bool ReusesSegments
    {
        get => _evictor.Reuses;
        set => _evictor.Reuses = value;
    }

    /// <summary>Gets or sets whether this opening of the store evicts entries to make room. If not, a write that finds no room fails. Other
    /// processes decide for themselves. Set it before the first write.</summary>
    public bool EvictsEntries
    {
        get => _evictor.EvictsEntries;
        set => _evictor.EvictsEntries = value;
    }

    /// <summary>Gets or sets whether operations on kept entries throw when they fail. If not, a write without room returns a status from
    /// <see cref="WriteStatus.NoRoom"/> on, and a damaged entry is a miss. A write beyond the budget then does not look for room either. A server
    /// sets it to false, because its clients have no exceptions, and none of them may delay the others.</summary>
    public bool ThrowsForKept { get; set; } = true;

    /// <summary>Throws if a write to a kept collection failed. Returns false for any other collection.</summary>
    public bool ThrowIfKept(in KeyRef key, WriteStatus status)
    {
        if (status < WriteStatus.NoRoom || !Memory.IsKept(key.Collection))
        {
            return false;
        }

        throw status == WriteStatus.Busy ? Busy(key) : Full(key, status);
    }

    // Returns whether a failed write to a kept collection can succeed if it is tried again.
    private bool ShouldTryAgain(in KeyRef key, WriteStatus status, WriteCondition condition, ref int attempt)
    {
        if (!Memory.IsKept(key.Collection) || (status == WriteStatus.Busy && condition != WriteCondition.Always))
        {
            return false;
        }

        bool mayFree = (status == WriteStatus.NoRoom || (status == NoBudget && ThrowsForKept)) && attempt++ < MostAttemptsToKeep && t_hold is null;
        if (mayFree && TryMakeRoomElsewhere(runLength: status == WriteStatus.NoRoom ? 1 : 0))
        {
            return true;
        }

        return ThrowsForKept ? throw (status == WriteStatus.Busy ? Busy(key) : Full(key, status)) : false;
    }

    private bool MakeRoomToKeep(PartitionBlock* partition, int number, long bytes)
    {
        if (bytes > Memory.SegmentBytes)
        {
            return false;
        }

        if (_evictor.TryMakeRoomToKeep(partition, number, bytes))
        {
            return true;
        }

        if (_recovery.IsPlausible(number))
        {
            return false;
        }

        _recovery.Run(number);
        return _evictor.TryMakeRoomToKeep(partition, number, bytes);
    }

    private bool IsWithinBudget(in WriteOperation write)
    {
        EntryView old = write.Old.Entry;
        bool isReplaced = write.IsFound && !EntryAccounting.IsCleared(Memory, write.Partition, old.Version, write.Key.Collection);
        return !AreBudgetsKept || _budgets.Allows(write.Key.Collection, write.Bytes - (isReplaced ? old.PaddedBytes : 0));
    }

    // Runs without a lock: a segment of any partition can become free, and any partition can contain expired entries.
    private bool TryMakeRoomElsewhere(int runLength)
    {
        bool isAny = false;
        for (int number = 0; number < Memory.PartitionCount; number++)
        {
            PartitionBlock* partition = Enter(number);
            if (partition is null)
            {
                continue;
            }

            try
            {
                isAny |= PartitionBlock.HasKept(partition) && _evictor.SweepAndClean(partition, number);
                Leave(partition);
            }
            catch
            {
                LeaveBroken(partition, number);
                throw;
            }
        }

        if (runLength != 1)
        {
            return isAny;
        }

        int segment = _runs.TryReserve(1);
        if (segment == SegmentPool.None)
        {
            return isAny;
        }

        _runs.Release(segment, 1);
        return true;
    }

    private StoreFullException Full(in KeyRef key, WriteStatus status)
    {
        string name = CollectionTable.NameOf(Memory, key.Collection);
        if (status == NoBudget)
        {
            return new StoreFullException(
                $"The collection '{name}' has used up its budget of {ByteText.Of(_budgets.BudgetOf(key.Collection))}. Remove entries, or open it with a larger " +
                $"{nameof(CollectionOptions)}.{nameof(CollectionOptions.BudgetBytes)}.");
        }

        if (Memory.IsDiskFull)
        {
            return new StoreFullException(
                $"The disk has no room for another entry of the collection '{name}' in the store '{Memory.File.Path}', which takes its space as it fills " +
                $"({nameof(StoreOptions)}.{nameof(StoreOptions.ReservesSpace)}). Nothing was changed. Free space on the disk, or remove entries.");
        }

        if (status == NoSlot)
        {
            return new StoreFullException(
                $"The index of the store '{Memory.File.Path}', which was made for entries of {ByteText.Of(Memory.Layout.AverageEntryBytes)} on average, has no " +
                $"place for another entry of the collection '{name}', whose entries are kept. Remove entries, or compact the store with a smaller " +
                $"{nameof(CompactOptions)}.{nameof(CompactOptions.AverageEntryBytes)}.");
        }

        string why = _growth.LastFailure is { } failure ? $" The file could not grow: {failure}" : string.Empty;
        return new StoreFullException(
            $"The store '{Memory.File.Path}' has no room for another entry of the collection '{name}': its {ByteText.Of(Memory.Layout.MaxCapacityBytes)} " +
            $"are full of entries that are kept.{why} Remove entries, or compact the store with a larger " +
            $"{nameof(CompactOptions)}.{nameof(CompactOptions.MaxCapacityBytes)}.");
    }

    private StoreBusyException Busy(in KeyRef key) => new(
        $"An entry of the collection '{CollectionTable.NameOf(Memory, key.Collection)}' could not be changed within {_lockTimeout.TotalSeconds:N1} seconds, " +
        "because a process holds the lock; it may be stopped. Nothing was changed. Continue or end that process, and try again.");
}
