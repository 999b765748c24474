using Cairn.Steps;
using Cairn.Storage;

namespace Cairn.TortureTests.Interleavings;

/// <summary>The check that a broken reader of the ring leaves out.</summary>
internal enum RingDefect
{
    None,

    /// <summary>It trusts the cells that it copied, even if changes were posted meanwhile.</summary>
    DoesNotLookAgain,

    /// <summary>It trusts every cell, including the one that can be overwritten before the position moves.</summary>
    TrustsTheOldestCell,

    /// <summary>It reads the overrun word at its end instead of at its beginning.</summary>
    SkipsAnOverrun,
}

/// <summary>Deliberately broken twins of the writer and the reader of <see cref="Invalidation.InvalidationRing"/>.</summary>
internal static unsafe class BrokenRing
{
    /// <summary>Advances the position before the cell is stored (InvalidationRing I2).</summary>
    public static void Post(StoreMemory memory, PartitionBlock* partition, ulong keyHash)
    {
        ulong position = partition->RingPosition;
        Volatile.Write(ref partition->RingPosition, position + 1);
        ProtocolHook.Reach(ProtocolStep.RingPositionStored);
        PartitionBlock.Ring(partition)[position & (ulong)(memory.Layout.RingCells - 1)] = keyHash;
        ProtocolHook.Reach(ProtocolStep.RingCellStored);
    }

    /// <summary>Reads the ring as the real reader does, without the check that <paramref name="defect"/> names.</summary>
    public static InvalidationStatus Read(
        StoreMemory memory, PartitionBlock* partition, ref InvalidationCursor cursor, Span<ulong> hashes, out int count, RingDefect defect)
    {
        count = 0;
        ulong cells = (ulong)memory.Layout.RingCells;
        uint overrun = Volatile.Read(ref partition->Overrun);
        ulong position = Volatile.Read(ref partition->RingPosition);
        if (overrun != cursor.Overrun || position - cursor.Position > cells)
        {
            cursor = new InvalidationCursor(position, overrun);
            return InvalidationStatus.Overrun;
        }

        int wanted = (int)Math.Min(position - cursor.Position, (ulong)hashes.Length);
        for (int i = 0; i < wanted; i++)
        {
            hashes[i] = PartitionBlock.Ring(partition)[(cursor.Position + (ulong)i) & (cells - 1)];
        }

        ProtocolHook.Reach(ProtocolStep.RingCellsRead);
        ulong behind = partition->RingPosition - cursor.Position;
        if (defect != RingDefect.DoesNotLookAgain && wanted > 0
            && (defect == RingDefect.TrustsTheOldestCell ? behind > cells : behind >= cells))
        {
            cursor = new InvalidationCursor(partition->RingPosition, partition->Overrun);
            return InvalidationStatus.Overrun;
        }

        cursor = new InvalidationCursor(
            cursor.Position + (ulong)wanted, defect == RingDefect.SkipsAnOverrun ? partition->Overrun : overrun);
        count = wanted;
        return count == 0 ? InvalidationStatus.None : InvalidationStatus.Changed;
    }
}
