using Cairn.Concurrency;
using Cairn.Segments;
using Cairn.Steps;
using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.Recovering;

// Puts right what a dead owner left: partitions it had locked, segments it had reserved, hazard cells, unfolded counts.
//
//   I1  Run only by who holds the dead owner's kernel lock: by its next holder, or by TryCleanUpDead.
//   I2  Idempotent: whoever dies in it is followed by another, because the kernel lock is free again.
//   I3  One thread of a store at a time: to the kernel, a store's threads are one holder of its locks, so the first to finish
//       would give the byte away under the second.
internal sealed unsafe class OwnerCleanup(
    StoreMemory memory, SegmentPool pool, OwnerTable owners, PartitionLock partitionLock, PartitionRecovery recovery, StoreLog log)
{
    private readonly Lock _seizing = new();

    /// <summary>
    /// Cleans up after <paramref name="slot"/> if its owner is dead. False if it is alive, or somebody else is at it already.
    /// </summary>
    public bool TryCleanUpDead(int slot)
    {
        if (!_seizing.TryEnter())
        {
            return false;
        }

        try
        {
            if (owners.IsAlive(slot) || !owners.TrySeizeSlot(slot))
            {
                return false;
            }

            CleanUp(slot);
            owners.ReleaseSeizedSlot(slot);
            return true;
        }
        finally
        {
            _seizing.Exit();
        }
    }

    /// <summary>Cleans up what the slot's last holder left, before the first use of the slot by its next one.</summary>
    public void CleanUp(int slot)
    {
        log.CleanUp(slot);
        for (int number = 0; number < memory.PartitionCount; number++)
        {
            PartitionBlock* partition = memory.Partition(number);
            if (partitionLock.TrySeize(partition, slot))
            {
                recovery.Run(number);
                partitionLock.Release(partition);
            }
        }

        memory.RefreshSegmentsEnd();
        for (int segment = 0; segment < memory.SegmentCount; segment++)
        {
            SegmentHeader* header = memory.Header(segment);
            uint word = Volatile.Read(ref header->StateWord);
            if ((SegmentState)(byte)word == SegmentState.Reserved && (byte)(word >> 24) == slot
                && Interlocked.CompareExchange(ref header->StateWord, SegmentHeader.Word(SegmentState.Free, 0, 0), word) == word)
            {
                Interlocked.Add(ref memory.Super->FreeWord, Superblock.OneFreed);
            }
        }

        // It may have died between adding or freeing segments and counting them.
        pool.RevealFree();

        OwnerRecord* record = memory.Owner(slot);
        for (int cell = 0; cell < StoreLayout.HazardCellsPerOwner; cell++)
        {
            Volatile.Write(ref record->Hazards[cell], 0);
        }

        FoldCounters(slot);
        ProtocolHook.Reach(ProtocolStep.OwnerSlotCleaned);
    }

    /// <summary>Moves an owner's hits and misses to the partitions, where those of all departed owners are kept.</summary>
    public void FoldCounters(int slot)
    {
        OwnerRecord* record = memory.Owner(slot);
        for (int number = 0; number < memory.PartitionCount; number++)
        {
            long* counters = OwnerRecord.Counters(record, number);
            PartitionBlock* partition = memory.Partition(number);
            Interlocked.Add(ref partition->DepartedHits, Interlocked.Exchange(ref counters[0], 0));
            Interlocked.Add(ref partition->DepartedMisses, Interlocked.Exchange(ref counters[1], 0));
        }
    }
}
