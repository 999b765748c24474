using Cairn.Collections;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Messages;
using Cairn.Segments;
using Cairn.Storage;

namespace Cairn.Engine;

/// <summary>How the publication of an entry that was written ended.</summary>
internal enum PublishOutcome
{
    Published,

    /// <summary>What it rests on was retracted without the lock (W4), or is damaged and goes now.</summary>
    Retracted,

    /// <summary>The index has no room for the key: every entry where it belongs is kept.</summary>
    NoSlot,
}

// Writing entries that are kept: as any other, but into the keep log, within a hard budget, and never at the cost of the old value.
//
// Under the lock, a write that finds no room says NoRoom, with nothing changed. Without it, what can be done is done, once each: room is sought
// in other partitions, and what has expired is taken out of all of them. Then the write fails with an exception.
internal sealed unsafe partial class StoreEngine
{
    private const int MostAttemptsToKeep = 2;

    // Why a kept entry found no room, within the engine: outside, it is an exception.
    private const WriteStatus NoBudget = (WriteStatus)64;
    private const WriteStatus NoSlot = (WriteStatus)65;

    /// <summary>
    /// False while entries are copied from a store, or read from a log, that had them within their budgets: then only the room counts.
    /// </summary>
    public bool AreBudgetsKept { get; set; } = true;

    /// <summary>Throws if a write to a kept collection could not be done. False for any other collection.</summary>
    public bool ThrowIfKept(in KeyRef key, WriteStatus status)
    {
        if (status < WriteStatus.NoRoom || !Memory.IsKept(key.Collection))
        {
            return false;
        }

        throw status == WriteStatus.Busy ? Busy(key) : Full(key, status);
    }

    // True if a write to a kept collection that could not be done may succeed when it is done again.
    private bool ShouldTryAgain(in KeyRef key, WriteStatus status, WriteCondition condition, ref int attempt)
    {
        if (!Memory.IsKept(key.Collection) || (status == WriteStatus.Busy && condition != WriteCondition.Always))
        {
            return false;
        }

        bool mayFree = status is WriteStatus.NoRoom or NoBudget && attempt++ < MostAttemptsToKeep && t_hold is null;
        if (mayFree && TryMakeRoomElsewhere(runLength: status == WriteStatus.NoRoom ? 1 : 0))
        {
            return true;
        }

        throw status == WriteStatus.Busy ? Busy(key) : Full(key, status);
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

    private bool IsWithinBudget(PartitionBlock* partition, in KeyRef key, bool isFound, in Located old, long bytes)
    {
        long replaced = isFound && !EntryLedger.IsCleared(Memory, partition, old.Entry.Version, key.Collection) ? old.Entry.PaddedBytes : 0;
        return !AreBudgetsKept || _budgets.Allows(key.Collection, bytes - replaced);
    }

    // No lock is held: a segment of any partition may become free, and entries of all of them may have expired.
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
        "because a process that holds the lock does not let go of it; it may be stopped. Nothing was changed. Continue or end that process, and try again.");
}
