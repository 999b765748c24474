namespace Cairn.WriteAhead;

/// <summary>
/// The body of the last record of a snapshot or a backup. The file is complete only if this record exists and its numbers agree with the file.
/// </summary>
[StructLayout(LayoutKind.Explicit, Size = 32)]
internal struct SnapshotEnd
{
    /// <summary>The number of records before this one.</summary>
    [FieldOffset(0)] public long Records;

    /// <summary>The number of those records that are entries copied from the store.</summary>
    [FieldOffset(8)] public long Entries;

    /// <summary>In a snapshot: the log must reach this position, because it records some of the copied entries up to there.</summary>
    [FieldOffset(16)] public long LogPosition;

    /// <summary>In a snapshot: the number of the log piece with this position. 0 if that piece did not exist yet.</summary>
    [FieldOffset(24)] public long LogSequence;
}
