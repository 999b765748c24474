namespace Cairn.HitRate.Traces;

/// <summary>The formats in which files of traces store requests.</summary>
internal enum TraceFormat
{
    /// <summary>Text lines "start count ...". A line is <c>count</c> requests of consecutive keys from <c>start</c>.</summary>
    BlockRanges,

    /// <summary>Each request is one big-endian signed 64-bit key.</summary>
    BigEndianKeys,

    /// <summary>Text lines "time key size". The reader ignores the size: every object counts as one.</summary>
    TimedObjects,
}
