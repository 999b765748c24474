using Cairn.Steps;

namespace Cairn.Invalidation;

// Reports to other processes which keys changed. Each partition has a ring of key hashes and a position. The position is the number of
// changes ever posted. A cache above also polls it as a generation number.
//
//   I1  Cell (p mod cells) holds change p for every p in [position - cells, position).
//   I2  The cell is stored before the position that counts it. Both are stored under the partition's lock, after the slot store.
//   I3  A change that cells cannot report raises Overrun: recovery, clearing, removal without the lock.
//
// Every set is posted, even if the key is not in the store: its entry may have been evicted here and still exist in a cache above.
internal static unsafe class InvalidationRing
{
    public static void Post(StoreMemory memory, PartitionBlock* partition, ulong keyHash)
    {
        ulong position = partition->RingPosition;

        // Release: the position of the change before, which the same lock may have posted, must be visible first. Otherwise Arm64 could show a reader
        // the old position and a newer hash in the oldest cell that this position covers. Pairs with the read barrier in Read.
        Volatile.Write(ref PartitionBlock.Ring(partition)[position & (ulong)(memory.Layout.RingCells - 1)], keyHash);
        ProtocolHook.Reach(ProtocolStep.RingCellStored);

        // Release: pairs with the acquires in Now and Read (I2).
        Volatile.Write(ref partition->RingPosition, position + 1);
        ProtocolHook.Reach(ProtocolStep.RingPositionStored);
    }

    public static InvalidationCursor Now(PartitionBlock* partition)
    {
        // Overrun is read first. If it is raised between the two reads, it is reported once more than needed, but never lost.
        uint overrun = Volatile.Read(ref partition->Overrun);
        return new InvalidationCursor(Volatile.Read(ref partition->RingPosition), overrun);
    }

    public static InvalidationStatus Read(
        StoreMemory memory, PartitionBlock* partition, ref InvalidationCursor cursor, Span<ulong> hashes, out int count)
    {
        count = 0;
        uint cells = (uint)memory.Layout.RingCells;
        uint overrun = Volatile.Read(ref partition->Overrun);
        ulong position = Volatile.Read(ref partition->RingPosition);
        if (overrun != cursor.Overrun || position - cursor.Position > cells)
        {
            cursor = new InvalidationCursor(position, overrun);
            return InvalidationStatus.Overrun;
        }

        if (position == cursor.Position || hashes.IsEmpty)
        {
            return position == cursor.Position ? InvalidationStatus.None : InvalidationStatus.Changed;
        }

        int wanted = (int)Math.Min(position - cursor.Position, (ulong)hashes.Length);
        ulong* ring = PartitionBlock.Ring(partition);
        for (int i = 0; i < wanted; i++)
        {
            hashes[i] = ring[(cursor.Position + (ulong)i) & (cells - 1)];
        }

        ProtocolHook.Reach(ProtocolStep.RingCellsRead);

        // Writers may have overwritten cells while they were read; those cells are invalid. The ring has one valid cell less than its
        // size, because a writer stores its cell before it advances the position.
        Volatile.ReadBarrier();
        ulong after = partition->RingPosition;
        if (after - cursor.Position >= cells)
        {
            cursor = new InvalidationCursor(after, partition->Overrun);
            return InvalidationStatus.Overrun;
        }

        cursor = new InvalidationCursor(cursor.Position + (ulong)wanted, overrun);
        count = wanted;
        return InvalidationStatus.Changed;
    }
}
