using System.Runtime.InteropServices;

namespace Cairn.WriteAhead;

/// <summary>The body of the last record of a snapshot or a backup: without it, and what it says, the file is not whole.</summary>
[StructLayout(LayoutKind.Explicit, Size = 32)]
internal struct SnapshotEnd
{
    /// <summary>How many records came before.</summary>
    [FieldOffset(0)] public long Records;

    /// <summary>How many of them are entries that were copied from the store.</summary>
    [FieldOffset(8)] public long Entries;

    /// <summary>Of a snapshot: the log must reach this position, because some of what was copied is recorded up to there.</summary>
    [FieldOffset(16)] public long LogPosition;

    /// <summary>Of a snapshot: the number of the piece of the log that has this position; 0 if it was not made yet.</summary>
    [FieldOffset(24)] public long LogSequence;
}
