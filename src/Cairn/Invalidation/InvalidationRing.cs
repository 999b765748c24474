using Cairn.Steps;
using Cairn.Storage;

namespace Cairn.Invalidation;

// Tells other processes which keys changed. Each partition has a ring of key hashes and a position, the number of changes
// ever posted, which doubles as the generation word that a cache above polls.
//
//   I1  Cell (p mod cells) holds change p for every p in [position - cells, position).
//   I2  The cell is stored before the position that counts it; both under the partition's lock, after the slot store.
//   I3  What cannot be told by cells raises Overrun: recovery, clearing, removal without the lock.
//
// Every set is posted, also of a key that is not here: it may have been evicted here and still be held above.
internal static unsafe class InvalidationRing
{
    public static void Post(StoreMemory memory, PartitionBlock* partition, ulong keyHash)
    {
        ulong position = partition->RingPosition;
        PartitionBlock.Ring(partition)[position & (ulong)(memory.Layout.RingCells - 1)] = keyHash;
        ProtocolHook.Reach(ProtocolStep.RingCellStored);

        // Release: pairs with the acquire in TryRead (I2).
        Volatile.Write(ref partition->RingPosition, position + 1);
        ProtocolHook.Reach(ProtocolStep.RingPositionStored);
    }

    public static InvalidationCursor Now(PartitionBlock* partition)
    {
        // Overrun first: one that is raised between the two reads is then reported once more than needed, never lost.
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

        // The cells were read while writers went on: those that may have been overwritten meanwhile are not what they
        // were. One cell less than the ring has, because a writer stores its cell before it moves the position.
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
