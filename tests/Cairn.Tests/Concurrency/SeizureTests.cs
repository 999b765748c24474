using Cairn.Concurrency;
using Cairn.Storage;

namespace Cairn.Tests.Concurrency;

/// <summary>Taking over what a dead owner had locked.</summary>
[Collection(ProtocolScripts.Name)]
public sealed unsafe class SeizureTests : StoreTest
{
    private const int DeadSlot = 77;
    private const uint WaitersBit = 1u << 30;

    [Fact]
    public void Lock_of_a_dead_owner_is_taken_over_also_if_a_waiter_announces_its_sleep_meanwhile()
    {
        PartitionBlock* partition = Store.Engine.Memory.Partition(0);
        partition->LockWord = (5u << 8) | DeadSlot;

        using var script = new ProtocolScript(
            ProtocolStep.LockSeizing, () => Interlocked.Or(ref Store.Engine.Memory.Partition(0)->LockWord, WaitersBit));
        Store.Engine.Cleanup.CleanUp(DeadSlot);

        Assert.True(script.HasRun);
        Assert.Equal(0, PartitionLock.OwnerOf(partition->LockWord));
        Assert.Equal(1, Store.GetStatistics().Partitions[0].Recoveries);
    }
}
