using Cairn.Storage;

namespace Cairn.Collections;

/// <summary>Tells the evictor which collections have more than their share.</summary>
/// <remarks>
/// A budget is soft: a collection may grow past it while there is room, but while it is past it, its entries do not survive an
/// eviction. Keys spread evenly, so each partition enforces its share by itself.
/// </remarks>
internal sealed unsafe class CollectionBudgets(StoreMemory memory)
{
    public bool IsOver(PartitionBlock* partition, uint collection)
    {
        if (collection is 0 or >= StoreLayout.MaxCollections)
        {
            return false;
        }

        long budget = ((CollectionRecord*)memory.CollectionRecord((int)collection))->BudgetBytes;
        return budget > 0 && PartitionBlock.CollectionCounters(partition, collection)[1] > budget / memory.PartitionCount;
    }
}
