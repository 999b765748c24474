namespace Cairn;

/// <summary>The result of reading a partition's invalidations.</summary>
public enum InvalidationStatus
{
    /// <summary>Nothing changed.</summary>
    None = 0,

    /// <summary>Keys changed, and their hashes were returned. There can be more changes: read again.</summary>
    Changed,

    /// <summary>The reader was too slow for the ring. Drop every cached entry of this partition. The cursor is up to date.</summary>
    Overrun,
}
