namespace Cairn.Caching;

/// <summary>What a cache did since it was made, and what its first level holds.</summary>
/// <remarks>Counts of events may be a little low: threads that count at the same moment may lose some.</remarks>
public sealed record CairnCacheStatistics
{
    /// <summary>Reads answered by the first level.</summary>
    public required long LocalHits { get; init; }

    /// <summary>Reads answered by the second level.</summary>
    public required long SharedHits { get; init; }

    /// <summary>Reads that found no value.</summary>
    public required long Misses { get; init; }

    /// <summary>Reads answered with an expired value.</summary>
    public required long StaleServed { get; init; }

    /// <summary>Runs of factories.</summary>
    public required long FactoryRuns { get; init; }

    /// <summary>Runs of factories that ended with an exception.</summary>
    public required long FactoryFaults { get; init; }

    /// <summary>Callers that stopped waiting for a factory.</summary>
    public required long FactoryTimeouts { get; init; }

    /// <summary>Refreshes in the background, ahead of an expiration or after it.</summary>
    public required long Refreshes { get; init; }

    /// <summary>Callers that were given the result of another's factory, or of its look into the second level.</summary>
    public required long Joined { get; init; }

    /// <summary>Values that were made while their key or a tag was changed, and therefore not kept.</summary>
    public required long NotKept { get; init; }

    /// <summary>Values over <see cref="CairnHybridCacheOptions.MaximumPayloadBytes"/>, which were kept in the first level only.</summary>
    public required long TooLargeForShared { get; init; }

    /// <summary>Entries of the second level that were damaged, foreign, or of another type.</summary>
    public required long Unreadable { get; init; }

    /// <summary>Values that could not be serialized or read back.</summary>
    public required long SerializationFaults { get; init; }

    /// <summary>Values that were set.</summary>
    public required long Sets { get; init; }

    /// <summary>Keys that were removed.</summary>
    public required long Removals { get; init; }

    /// <summary>Tags and topics that were invalidated.</summary>
    public required long TagRemovals { get; init; }

    /// <summary>Entries in the first level.</summary>
    public required long LocalEntries { get; init; }

    /// <summary>Bytes in the first level, as far as they are known.</summary>
    public required long LocalBytes { get; init; }

    /// <summary>Entries that the first level evicted to stay within its bounds.</summary>
    public required long LocalEvictions { get; init; }
}
