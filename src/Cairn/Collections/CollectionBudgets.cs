namespace Cairn.Collections;

/// <summary>Decides which collections exceed their budgets.</summary>
/// <remarks>
/// The budget of a collection whose entries can be evicted is soft. The collection can exceed it while there is room, but then its entries
/// do not survive an eviction. Keys are distributed evenly, so each partition enforces its own share. The budget of a kept collection is
/// hard and counts all partitions together. Only concurrent writes can exceed it together.
/// </remarks>
internal sealed unsafe class CollectionBudgets(StoreMemory memory)
{
    public long BudgetOf(uint collection) => ((CollectionRecord*)memory.CollectionRecord((int)collection))->BudgetBytes;

    /// <summary>Returns whether a kept collection can grow by <paramref name="addedBytes"/> bytes.</summary>
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
