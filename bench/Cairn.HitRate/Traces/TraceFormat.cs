namespace Cairn.HitRate.Traces;

/// <summary>How the bytes of a trace spell its requests.</summary>
internal enum TraceFormat
{
    /// <summary>Text lines "start count ...": <c>count</c> consecutive keys from <c>start</c>.</summary>
    BlockRanges,

    /// <summary>One big-endian signed 64-bit key after the other.</summary>
    BigEndianKeys,

    /// <summary>Text lines "time key size". Sizes are ignored: every object counts as one.</summary>
    TimedObjects,
}
