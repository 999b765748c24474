namespace Cairn.Analysis;

/// <summary>The use of a segment, according to its header.</summary>
/// <param name="State">The state of the segment.</param>
/// <param name="Log">The log to which it belongs.</param>
/// <param name="Partition">The partition to which it belongs.</param>
/// <param name="UsedBytes">The size in bytes of its entries, live or not.</param>
/// <param name="LiveBytes">The size in bytes of the entries that can still be read. The first segment of a run counts for the whole run.</param>
/// <param name="SealOrder">A number that grows with each segment that the partition seals.</param>
/// <param name="RunLength">The number of segments in the run that starts here. 1 for an ordinary segment.</param>
internal readonly record struct SegmentUse(
    SegmentState State, int Log, int Partition, int UsedBytes, int LiveBytes, ulong SealOrder, int RunLength);
