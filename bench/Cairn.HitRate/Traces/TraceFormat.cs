namespace Cairn.HitRate.Traces;

/// <summary>The formats in which files of traces store requests.</summary>
internal enum TraceFormat
{
    /// <summary>Text lines "start count ...". A line is <c>count</c> requests of consecutive keys from <c>start</c>.</summary>
    BlockRanges,

    /// <summary>Each request is one big-endian signed 64-bit key.</summary>
    BigEndianKeys,

    /// <summary>Each request is one big-endian signed 32-bit key.</summary>
    BigEndianShortKeys,

    /// <summary>Text lines "time key size", with the size in bytes.</summary>
    TimedObjects,

    /// <summary>
    /// Text lines "key" or "key size". A key is any text without spaces, and a size is a number of bytes. The reader ignores empty lines and lines
    /// that are only <c>*</c>.
    /// </summary>
    Lines,
}
