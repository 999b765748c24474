namespace Cairn;

/// <summary>What a look at a partition's changes found.</summary>
public enum InvalidationStatus
{
    /// <summary>Nothing changed.</summary>
    None = 0,

    /// <summary>Keys changed; their hashes were returned. There may be more: look again.</summary>
    Changed,

    /// <summary>More changed than can be told: drop everything cached of this partition. The cursor is up to date.</summary>
    Overrun,
}
