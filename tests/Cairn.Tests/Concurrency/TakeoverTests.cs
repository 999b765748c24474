using Cairn.Concurrency;
using Cairn.Steps;
using Cairn.Storage;

namespace Cairn.Tests.Concurrency;

/// <summary>Taking over the locks of a dead owner.</summary>
[Collection(ProtocolScripts.Name)]
public sealed unsafe class TakeoverTests : StoreTest
{
    private const int DeadSlot = 77;
    private const uint WaitersBit = 1u << 30;

    [Fact]
    public void Lock_of_a_dead_owner_is_taken_over_also_if_a_waiter_announces_its_sleep_meanwhile()
    {
        PartitionBlock* partition = Store.Engine.Memory.Partition(0);
        partition->LockWord = (5u << 8) | DeadSlot;

        using var script = new ProtocolScript(
            ProtocolStep.LockTakingOver, () => Interlocked.Or(ref Store.Engine.Memory.Partition(0)->LockWord, WaitersBit));
        Store.Engine.Cleanup.CleanUp(DeadSlot);

        Assert.True(script.HasRun);
        Assert.Equal(0, PartitionLock.OwnerOf(partition->LockWord));
        Assert.Equal(1, Store.GetStatistics().Partitions[0].Recoveries);
    }

    [Fact]
    public void New_opening_leaves_the_slot_of_an_owner_that_died_with_a_lock_to_the_process_that_takes_over_the_lock()
    {
        const int SecondSlot = 2;
        Assert.Equal(1, Store.Engine.Owners.Slot);
        Cache.Set("key", [1]);
        int number = Cache.PartitionOf("key");
        Store.Engine.Memory.Partition(number)->LockWord = (5u << 8) | SecondSlot;
        StoreOptions options = new() { Path = Store.Path, FlushOnClose = false };

        using (CairnStore newcomer = CairnStore.Open(options))
        {
            Assert.Equal(3, newcomer.Engine.Owners.Slot);
            using CairnStore heir = CairnStore.Open(options with { TakesAnySlot = true });
            Assert.Equal(SecondSlot, heir.Engine.Owners.Slot);
            Assert.Equal(0, PartitionLock.OwnerOf(Store.Engine.Memory.Partition(number)->LockWord));
        }

        Store.Engine.Memory.Partition(number)->LockWord = (7u << 8) | SecondSlot;
        Assert.True(Cache.Set("key", [2]));
        using CairnStore next = CairnStore.Open(options);
        Assert.Equal(SecondSlot, next.Engine.Owners.Slot);
    }
}
