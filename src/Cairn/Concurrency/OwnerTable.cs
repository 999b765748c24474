using System.Numerics;
using Cairn.Platform;
using Cairn.Steps;
using Cairn.Storage;

namespace Cairn.Concurrency;

// Who has the store open. Each open store holds, from opening to closing, a kernel lock on one byte far past the end of
// the file: its owner slot. The kernel releases it when the process dies, however it dies, so the lock is the proof of life.
//
//   byte 2^62      the gate: held while opening, closing, growing or resetting the file
//   byte 2^62 + n  owner slot n, 1..255
//
//   I1  Numbers that name a slot in the file (lock words, hazard cells, reserved segments) were written by its holder.
//   I2  A new holder, or whoever takes a dead holder's byte, first cleans up after the dead one (OwnerCleanup).
//   I3  A cell whose share has a count above zero names the share's segment in the file, and did so, behind a full fence, before the
//       count was set.
//   I4  A count leaves zero only by the thread that took the cell. The thread that brings it back to zero clears the cell, then frees it.
//   I5  Lasting pins leave BriefCells cells to brief ones. A brief pin is given up by running code, so a cell is soon free again.
//
// Lasting pins of one segment share a cell: many slow readers of one value, or of neighbours, take one. Only the count is shared memory
// of this process; other processes see the cell as before.
//
// Kernel locks here belong to the open file description, not the process (Linux: fcntl F_OFD_SETLK), so two stores that
// one process opens on one file are two owners.
internal sealed unsafe class OwnerTable
{
    public const long GateByte = 1L << 62;

    /// <summary>Cells that lasting pins leave free: one for each of so many threads that read or write a long value at the same moment.</summary>
    public const int BriefCells = 16;

    /// <summary>Segments that lasting pins of one opening can name at the same time.</summary>
    public const int LastingCells = StoreLayout.HazardCellsPerOwner - BriefCells;

    private readonly StoreFile _file;
    private readonly StoreMemory _memory;
    private readonly ulong[] _freeHazards = [ulong.MaxValue];
    private readonly long[] _shares = new long[StoreLayout.HazardCellsPerOwner]; // Segment + 1 in the upper half, pins in the lower; 0: not shared.

    public OwnerTable(StoreFile file, StoreMemory memory)
    {
        _file = file;
        _memory = memory;
    }

    /// <summary>This store's slot, 1..255; 0 before TryTakeSlot.</summary>
    public int Slot { get; private set; }

    public uint Incarnation { get; private set; }

    public OwnerRecord* Record => _memory.Owner(Slot);

    /// <summary>True while any of this store's hazard cells is in use.</summary>
    public bool HasPins => Volatile.Read(ref _freeHazards[0]) != ulong.MaxValue;

    /// <summary>Takes the first slot that nobody holds. The caller cleans up before it uses the slot (I2).</summary>
    /// <remarks>
    /// One that a lock names is left to whoever steals the lock, as long as there are others: with its byte taken the dead owner seems
    /// alive, and everybody would wait until a process that is just starting has come round to giving the lock back, which on a busy
    /// machine took longer than the time-out. <paramref name="takesAny"/> is for tests of what happens when there are no others.
    /// </remarks>
    public bool TryTakeSlot(bool takesAny = false)
    {
        for (int pass = takesAny ? 1 : 0; pass < 2; pass++)
        {
            for (int slot = 1; slot <= StoreLayout.MaxOwners; slot++)
            {
                if ((pass == 1 || !IsNamedByLock(slot)) && _file.TryLockByte(GateByte + slot))
                {
                    Slot = slot;
                    ProtocolHook.Reach(ProtocolStep.OwnerSlotTaken);
                    return true;
                }
            }
        }

        return false;
    }

    private bool IsNamedByLock(int slot)
    {
        for (int number = 0; number < _memory.PartitionCount; number++)
        {
            if (PartitionLock.OwnerOf(Volatile.Read(ref _memory.Partition(number)->LockWord)) == slot)
            {
                return true;
            }
        }

        LogBlock* log = &_memory.Super->Log;
        return PartitionLock.OwnerOf(Volatile.Read(ref log->LockWord)) == slot || PartitionLock.OwnerOf(Volatile.Read(ref log->SyncLockWord)) == slot;
    }

    /// <summary>Begins the slot's use by this store, after the clean-up.</summary>
    public void Announce(long nowUnixMs)
    {
        OwnerRecord* record = Record;
        record->ProcessId = Environment.ProcessId;
        record->OpenedUnixMs = nowUnixMs;
        record->HazardHighWater = 0;
        Incarnation = record->Incarnation + 1;
        Volatile.Write(ref record->Incarnation, Incarnation);

        int highWater;
        while ((highWater = Volatile.Read(ref _memory.Super->OwnerHighWater)) < Slot)
        {
            Interlocked.CompareExchange(ref _memory.Super->OwnerHighWater, Slot, highWater);
        }
    }

    public void ReleaseSlot()
    {
        _file.UnlockByte(GateByte + Slot);
    }

    /// <summary>True if some process holds the slot's kernel lock. About a microsecond.</summary>
    public bool IsAlive(int slot) =>
        slot == Slot || (slot is >= 1 and <= StoreLayout.MaxOwners && _file.IsByteLockedByOther(GateByte + slot, 1));

    /// <summary>True if that very opening of the store is still there, not only some later holder of its slot.</summary>
    public bool IsAlive(int slot, uint incarnation) =>
        slot is >= 1 and <= StoreLayout.MaxOwners
        && Volatile.Read(ref _memory.Owner(slot)->Incarnation) == incarnation
        && IsAlive(slot);

    public bool AnyOtherAlive() => _file.IsByteLockedByOther(GateByte + 1, StoreLayout.MaxOwners);

    /// <summary>Takes a dead owner's byte, to clean up after it. False if it is alive, or another is cleaning up.</summary>
    public bool TrySeizeSlot(int slot) => slot != Slot && _file.TryLockByte(GateByte + slot);

    public void ReleaseSeizedSlot(int slot) => _file.UnlockByte(GateByte + slot);

    /// <summary>A hazard cell of this store. False when none is free for this use (I5).</summary>
    public bool TryTakeHazardCell(bool isLasting, out int cell)
    {
        while (true)
        {
            ulong free = Volatile.Read(ref _freeHazards[0]);
            if (free == 0 || (isLasting && BitOperations.PopCount(free) <= BriefCells))
            {
                cell = default;
                return false;
            }

            cell = BitOperations.TrailingZeroCount(free);
            if (Interlocked.CompareExchange(ref _freeHazards[0], free & (free - 1), free) == free)
            {
                RaiseHazardHighWater(cell + 1);
                return true;
            }
        }
    }

    /// <summary>Protects a segment with a cell of its own or a shared one. The caller validates as after <see cref="Pin"/>.</summary>
    public bool TryPin(int segment, PinTerm term, out int cell)
    {
        if (term == PinTerm.Brief)
        {
            if (TryTakeHazardCell(isLasting: false, out cell))
            {
                Pin(cell, segment);
                return true;
            }

            return TryShare(segment, out cell);
        }

        if (TryShare(segment, out cell))
        {
            return true;
        }

        if (term == PinTerm.LastingIfShared || !TryTakeHazardCell(isLasting: true, out cell))
        {
            return false;
        }

        Pin(cell, segment);

        // Release; pairs with the compare-and-swap in TryShare. A count that is seen before the cell would let a thread that shares it
        // read without a pin (I3).
        Volatile.Write(ref _shares[cell], ((long)(segment + 1) << 32) | 1);
        return true;
    }

    /// <summary>Protects a segment. The caller validates afterwards that the segment still held what it wants.</summary>
    public void Pin(int cell, int segment)
    {
        Volatile.Write(ref Record->Hazards[cell], segment + 1);
        ProtocolHook.Reach(ProtocolStep.PinStored);

        // Store-load fence: the pin must be visible before the slot is read again. Pairs with the fence between clearing
        // slots and reading hazard cells (SegmentEvictor); without either, both sides could miss each other.
        Interlocked.MemoryBarrier();
    }

    /// <summary>Gives back a cell that was not used, without touching the record.</summary>
    public void ReturnHazardCell(int cell) => Interlocked.Or(ref _freeHazards[0], 1UL << cell);

    /// <summary>Gives up a pin, and the cell if no other pin shares it.</summary>
    public void Unpin(int cell)
    {
        // The caller's pin keeps a share from ending and a cell that is not shared from becoming so: the plain read is stable.
        if (_shares[cell] != 0)
        {
            // Full fence: the reads of this pin's bytes come before the count, and so before the thread that clears the cell (I4).
            if ((int)Interlocked.Decrement(ref _shares[cell]) != 0)
            {
                return;
            }

            Volatile.Write(ref _shares[cell], 0);
        }

        // Release: reads of the pinned bytes come before it.
        Volatile.Write(ref Record->Hazards[cell], 0);
        Interlocked.Or(ref _freeHazards[0], 1UL << cell);
    }

    /// <summary>
    /// The owner slot that pins <paramref name="segment"/> or a later segment of its run, or 0. The caller has cleared the
    /// slots that named it and fenced.
    /// </summary>
    public int FindPinOwner(int segment, int runLength)
    {
        int highWater = Math.Clamp(Volatile.Read(ref _memory.Super->OwnerHighWater), 0, StoreLayout.MaxOwners);
        for (int slot = 1; slot <= highWater; slot++)
        {
            OwnerRecord* record = _memory.Owner(slot);
            int cells = Math.Clamp(Volatile.Read(ref record->HazardHighWater), 0, StoreLayout.HazardCellsPerOwner);
            for (int cell = 0; cell < cells; cell++)
            {
                int pinned = Volatile.Read(ref record->Hazards[cell]) - 1;
                if (pinned >= segment && pinned < segment + runLength)
                {
                    return slot;
                }
            }
        }

        return 0;
    }

    /// <summary>Marks every segment that somebody alive pins; of a run, its head.</summary>
    public void MarkPinned(Span<int> segments, int mark)
    {
        int highWater = Math.Clamp(Volatile.Read(ref _memory.Super->OwnerHighWater), 0, StoreLayout.MaxOwners);
        for (int slot = 1; slot <= highWater; slot++)
        {
            OwnerRecord* record = _memory.Owner(slot);
            int cells = Math.Clamp(Volatile.Read(ref record->HazardHighWater), 0, StoreLayout.HazardCellsPerOwner);
            bool isAlive = false;
            for (int cell = 0; cell < cells; cell++)
            {
                int pinned = Volatile.Read(ref record->Hazards[cell]) - 1;
                if ((uint)pinned < (uint)segments.Length && (isAlive || (isAlive = IsAlive(slot))))
                {
                    segments[pinned] = mark;
                }
            }
        }
    }

    // Joins a lasting pin of the same segment. No store is needed: the cell names the segment already (I3), and does until this pin is
    // given up, because a count that has reached zero is never raised here (I4).
    private bool TryShare(int segment, out int cell)
    {
        for (cell = 0; cell < _shares.Length; cell++)
        {
            long share = Volatile.Read(ref _shares[cell]);
            while (share >> 32 == segment + 1 && (int)share != 0)
            {
                // Full fence between the cell, which is visible before the count, and the caller's second look at the slot: the same
                // pair as in Pin.
                long seen = Interlocked.CompareExchange(ref _shares[cell], share + 1, share);
                if (seen == share)
                {
                    ProtocolHook.Reach(ProtocolStep.PinStored);
                    return true;
                }

                share = seen;
            }
        }

        return false;
    }

    private void RaiseHazardHighWater(int cells)
    {
        int highWater;
        while ((highWater = Volatile.Read(ref Record->HazardHighWater)) < cells)
        {
            Interlocked.CompareExchange(ref Record->HazardHighWater, cells, highWater);
        }
    }
}
