namespace Cairn.Storage;

// The record of one opening of the store by one process. It has a meaning only while a process holds the kernel lock on its byte (OwnerTable). Only that
// process writes it.
//
//   I1  Incarnation grows each time the slot gets a new holder. So a name (slot, incarnation) becomes invalid with its process.
//   I2  A hazard cell is 0, or 1 + the number of a segment whose bytes its owner possibly reads.
[StructLayout(LayoutKind.Explicit, Size = FixedBytes)]
internal unsafe struct OwnerRecord
{
    public const int FixedBytes = 64 + (StoreLayout.HazardCellsPerOwner * sizeof(int));

    /// <summary>The size in bytes of the hit and miss counters of one partition.</summary>
    public const int CounterBytes = 16;

    [FieldOffset(0)] public uint Incarnation;
    [FieldOffset(4)] public int ProcessId;
    [FieldOffset(8)] public long OpenedUnixMs;

    /// <summary>One more than the highest hazard cell in use since the store was opened.</summary>
    [FieldOffset(16)] public int HazardHighWater;
    [FieldOffset(64)] public fixed int Hazards[StoreLayout.HazardCellsPerOwner];

    public static long* Counters(OwnerRecord* owner, int partition) =>
        (long*)((byte*)owner + FixedBytes) + (2 * partition);
}
