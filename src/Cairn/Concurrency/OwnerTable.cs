using Cairn.Platform;
using Cairn.Steps;

namespace Cairn.Concurrency;

// The openings of the store that are in use. From opening to closing, each open store holds a kernel lock on its owner slot:
// one byte far behind the end of the file. The kernel releases the lock when the process dies for any reason. So the lock
// proves that the owner is alive.
//
//   byte 2^62      the gate: held while the file is opened, closed, grown or reset
//   byte 2^62 + n  owner slot n, 1..255
//
//   I1  Only the holder of a slot writes the slot's number into the file (lock words, hazard cells, reserved segments).
//   I2  A process that takes the byte of a dead owner, as a new holder or to clean up, first cleans up after it (OwnerCleanup).
//   I3  If the share of a cell has a count above zero, the cell names the share's segment in the file. The cell was written before
//       the count was set, with a full fence in between.
//   I4  Only the thread that took the cell raises a count from zero. The thread that returns it to zero clears the cell, then frees it.
//   I5  Lasting pins leave BriefCells cells to brief pins. Running code ends a brief pin, so its cell is soon free again.
//
// Lasting pins of one segment share a cell. Many slow readers of one value, or of values in the same segment, take one cell. Only
// this process sees the count. Other processes see an ordinary cell.
//
// These kernel locks belong to the open file description, not to the process (Linux: fcntl F_OFD_SETLK). So two stores that
// one process opens on one file are two owners.
internal sealed unsafe class OwnerTable
{
    public const long GateByte = 1L << 62;

    /// <summary>The number of cells that lasting pins leave free. As many threads can read or write a long value at the same time.</summary>
    public const int BriefCells = 16;

    private readonly StoreFile _file;
    private readonly StoreMemory _memory;
    private readonly ulong[] _freeHazards = [ulong.MaxValue];
    private readonly long[] _shares = new long[StoreLayout.HazardCellsPerOwner]; // Upper half: segment + 1. Lower half: pins. 0: not shared.

    public OwnerTable(StoreFile file, StoreMemory memory)
    {
        _file = file;
        _memory = memory;
    }

    /// <summary>Gets this store's slot, 1..255; 0 before TryTakeSlot.</summary>
    public int Slot { get; private set; }

    public uint Incarnation { get; private set; }

    public OwnerRecord* Record => _memory.Owner(Slot);

    /// <summary>Gets whether any of this store's hazard cells is in use.</summary>
    public bool HasPins => Volatile.Read(ref _freeHazards[0]) != ulong.MaxValue;

    /// <summary>Takes the first slot that has no holder. The caller cleans up before it uses the slot (I2).</summary>
    /// <remarks>
    /// The first pass omits slots that a lock word names. Once this process holds such a slot's byte, the dead owner seems alive. Then no
    /// process takes over the lock, and all wait until this process has opened the store and released the lock. On a busy machine that
    /// took longer than the time-out. Tests use <paramref name="takesAny"/> for the case that there are no other slots.
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

    /// <summary>Begins this store's use of the slot, after the clean-up.</summary>
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

    /// <summary>Returns whether a process holds the slot's kernel lock. Takes about a microsecond.</summary>
    public bool IsAlive(int slot) =>
        slot == Slot || (slot is >= 1 and <= StoreLayout.MaxOwners && _file.IsByteLockedByOther(GateByte + slot, 1));

    /// <summary>Returns whether this opening of the store is still alive. A later holder of its slot does not count.</summary>
    public bool IsAlive(int slot, uint incarnation) =>
        slot is >= 1 and <= StoreLayout.MaxOwners
        && Volatile.Read(ref _memory.Owner(slot)->Incarnation) == incarnation
        && IsAlive(slot);

    public bool AnyOtherAlive() => _file.IsByteLockedByOther(GateByte + 1, StoreLayout.MaxOwners);

    /// <summary>Takes the byte of a dead owner to clean up after it. Returns false if the owner is alive or another process cleans up.</summary>
    public bool TryTakeOverSlot(int slot) => slot != Slot && _file.TryLockByte(GateByte + slot);

    public void ReleaseTakenOverSlot(int slot) => _file.UnlockByte(GateByte + slot);

    /// <summary>Takes a hazard cell of this store. Returns false if no cell is free for this use (I5).</summary>
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

    /// <summary>Protects a segment with its own cell or a shared one. The caller then validates, as after <see cref="Pin"/>.</summary>
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

        // Release; pairs with the compare-and-swap in TryShare. If a thread saw the count before the cell, it would share the cell and
        // read without a pin (I3).
        Volatile.Write(ref _shares[cell], ((long)(segment + 1) << 32) | 1);
        return true;
    }

    /// <summary>Protects a segment. Afterwards the caller validates that the segment still holds the entry.</summary>
    public void Pin(int cell, int segment)
    {
        Volatile.Write(ref Record->Hazards[cell], segment + 1);
        ProtocolHook.Reach(ProtocolStep.PinStored);

        // Store-load fence: the pin must be visible before the slot is read again. Pairs with the fence between clearing
        // slots and reading hazard cells (SegmentEvictor). If either fence is missing, both sides can miss each other.
        Interlocked.MemoryBarrier();
    }

    /// <summary>Frees a cell that was not used. The owner record does not change.</summary>
    public void ReturnHazardCell(int cell) => Interlocked.Or(ref _freeHazards[0], 1UL << cell);

    /// <summary>Ends a pin. Frees the cell if no other pin shares it.</summary>
    public void Unpin(int cell)
    {
        // The caller's pin keeps a share from ending, and a cell that is not shared cannot become shared. So the plain read is stable.
        if (_shares[cell] != 0)
        {
            // Full fence: the reads of this pin's bytes precede the decrement. So they precede the clearing of the cell by another thread (I4).
            if ((int)Interlocked.Decrement(ref _shares[cell]) != 0)
            {
                return;
            }

            Volatile.Write(ref _shares[cell], 0);
        }

        // Release: the reads of the pinned bytes precede it.
        Volatile.Write(ref Record->Hazards[cell], 0);
        Interlocked.Or(ref _freeHazards[0], 1UL << cell);
    }

    /// <summary>
    /// Returns the owner slot that pins <paramref name="segment"/> or a later segment of its run; 0 if there is none. The caller has
    /// cleared the index slots that named the segment and has executed a fence.
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

    /// <summary>Marks every segment that a live owner pins. For a run, this is its first segment.</summary>
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

    // Joins a lasting pin of the same segment. The cell already names the segment, so no store is needed (I3). The cell keeps the name
    // until this pin ends, because this method never raises a count of zero (I4).
    private bool TryShare(int segment, out int cell)
    {
        cell = 0;

        // Only a cell that is in use has a share. Acquire; pairs with the compare-and-swap that takes a cell. A late value hides the newest shares:
        // this pin then takes a cell of its own.
        for (ulong used = ~Volatile.Read(ref _freeHazards[0]); used != 0; used &= used - 1)
        {
            cell = BitOperations.TrailingZeroCount(used);
            long share = Volatile.Read(ref _shares[cell]);
            while (share >> 32 == segment + 1 && (int)share != 0)
            {
                // Full fence between the cell, which is visible before the count, and the caller's second read of the slot. It pairs as the
                // fence in Pin does.
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
