using Cairn.Storage;

namespace Cairn.Collections;

/// <summary>Tells the evictor which collections have more than their share.</summary>
/// <remarks>
/// Where entries are evicted, a budget is soft: a collection may grow past it while there is room, but while it is past it, its entries
/// do not survive an eviction. Keys spread evenly, so each partition enforces its share by itself. Where they are kept it is hard, and all
/// partitions are summed up; only what several write at the same moment may go beyond it together.
/// </remarks>
internal sealed unsafe class CollectionBudgets(StoreMemory memory)
{
    public long BudgetOf(uint collection) => ((CollectionRecord*)memory.CollectionRecord((int)collection))->BudgetBytes;

    /// <summary>True if a kept collection may grow by so many bytes.</summary>
    public bool Allows(uint collection, long addedBytes)
    {
        long budget = BudgetOf(collection);
        if (budget <= 0 || addedBytes <= 0)
        {
            return true;
        }

        long used = 0;
        for (int number = 0; number < memory.PartitionCount; number++)
        {
            used += Math.Max(0, Volatile.Read(ref PartitionBlock.CollectionCounters(memory.Partition(number), collection)[1]));
        }

        return used + addedBytes <= budget;
    }

    public bool IsOver(PartitionBlock* partition, uint collection)
    {
        if (collection is 0 or >= StoreLayout.MaxCollections)
        {
            return false;
        }

        long budget = BudgetOf(collection);
        return budget > 0 && PartitionBlock.CollectionCounters(partition, collection)[1] > budget / memory.PartitionCount;
    }
}
