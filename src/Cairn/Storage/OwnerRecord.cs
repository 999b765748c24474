using System.Runtime.InteropServices;

namespace Cairn.Storage;

// One open store of one process. The record means something only while somebody holds the kernel lock on its byte
// (OwnerTable); everything in it is written by that holder.
//
//   I1  Incarnation grows each time the slot gets a new holder, so what names (slot, incarnation) dies with its process.
//   I2  A hazard cell is 0 or the number + 1 of a segment whose bytes its owner may be reading.
[StructLayout(LayoutKind.Explicit, Size = FixedBytes)]
internal unsafe struct OwnerRecord
{
    public const int FixedBytes = 64 + (StoreLayout.HazardCellsPerOwner * sizeof(int));

    /// <summary>Hits and misses of one partition.</summary>
    public const int CounterBytes = 16;

    [FieldOffset(0)] public uint Incarnation;
    [FieldOffset(4)] public int ProcessId;
    [FieldOffset(8)] public long OpenedUnixMs;

    /// <summary>One past the highest hazard cell in use since the store was opened.</summary>
    [FieldOffset(16)] public int HazardHighWater;
    [FieldOffset(64)] public fixed int Hazards[StoreLayout.HazardCellsPerOwner];

    public static long* Counters(OwnerRecord* owner, int partition) =>
        (long*)((byte*)owner + FixedBytes) + (2 * partition);
}
