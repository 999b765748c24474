using Cairn.Storage;

namespace Cairn.Testing;

/// <summary>Holds every lock of a store, as a process does that was stopped at the worst moment.</summary>
internal sealed unsafe class HeldPartitions : IDisposable
{
    private readonly CairnStore _store;

    public HeldPartitions(CairnStore store)
    {
        _store = store;
        for (int partition = 0; partition < store.PartitionCount; partition++)
        {
            Assert.True(store.Engine.Enter(partition) is not null, $"The lock of partition {partition} is taken.");
        }
    }

    public void Dispose()
    {
        for (int partition = 0; partition < _store.PartitionCount; partition++)
        {
            PartitionBlock* block = _store.Engine.Memory.Partition(partition);
            _store.Engine.Leave(block);
        }
    }
}
