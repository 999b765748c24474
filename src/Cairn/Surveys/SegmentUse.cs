using Cairn.Storage;

namespace Cairn.Surveys;

/// <summary>What a segment is used for, as its header has it.</summary>
/// <param name="State">Whether it is used.</param>
/// <param name="Log">The log it belongs to.</param>
/// <param name="Partition">The partition it belongs to.</param>
/// <param name="UsedBytes">Bytes of entries, live or not.</param>
/// <param name="LiveBytes">Bytes of entries that can still be read; of a run of segments, all of its first.</param>
/// <param name="SealOrder">Grows with each segment that the partition seals.</param>
/// <param name="RunLength">Segments in the run that starts here; 1 for an ordinary one.</param>
internal readonly record struct SegmentUse(
    SegmentState State, int Log, int Partition, int UsedBytes, int LiveBytes, ulong SealOrder, int RunLength);
