using Cairn.Concurrency;
using Cairn.Segments;
using Cairn.Steps;
using Cairn.WriteAhead;

namespace Cairn.Recovering;

// Cleans up after a dead owner: its partition locks, its reserved segments, its hazard cells, and its counts of hits and misses.
//
//   I1  Runs only in a process that holds the dead owner's kernel lock: as its next holder, or in TryCleanUpDead.
//   I2  Idempotent: if the cleaning process dies, another one cleans up, because the kernel lock is free again.
//   I3  Runs in one thread of a store at a time. To the kernel, a store's threads are one holder of its locks. The first
//       thread to finish would release the byte while the second still needs it.
internal sealed unsafe class OwnerCleanup(
    StoreMemory memory, SegmentPool pool, OwnerTable owners, PartitionLock partitionLock, PartitionRecovery recovery, StoreLog log)
{
    private readonly Lock _seizing = new();

    /// <summary>
    /// Cleans up after <paramref name="slot"/> if its owner is dead. Returns false if the owner is alive or another thread or process cleans up.
    /// </summary>
    public bool TryCleanUpDead(int slot)
    {
        if (!_seizing.TryEnter())
        {
            return false;
        }

        try
        {
            if (owners.IsAlive(slot) || !owners.TryTakeOverSlot(slot))
            {
                return false;
            }

            CleanUp(slot);
            owners.ReleaseTakenOverSlot(slot);
            return true;
        }
        finally
        {
            _seizing.Exit();
        }
    }

    /// <summary>Cleans up after the slot's last holder, before its next holder uses the slot.</summary>
    public void CleanUp(int slot)
    {
        log.CleanUp(slot);
        for (int number = 0; number < memory.PartitionCount; number++)
        {
            PartitionBlock* partition = memory.Partition(number);
            if (partitionLock.TryTakeOver(partition, slot))
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

        // The owner may have died between adding or freeing segments and counting them.
        pool.RevealFree();

        OwnerRecord* record = memory.Owner(slot);
        for (int cell = 0; cell < StoreLayout.HazardCellsPerOwner; cell++)
        {
            Volatile.Write(ref record->Hazards[cell], 0);
        }

        FoldCounters(slot);
        ProtocolHook.Reach(ProtocolStep.OwnerSlotCleaned);
    }

    /// <summary>Moves an owner's hits and misses to the partitions, which contain those of all departed owners.</summary>
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
