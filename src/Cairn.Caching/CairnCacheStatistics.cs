namespace Cairn.Caching;

/// <summary>The counts of a cache since its creation, and the contents of its first level.</summary>
/// <remarks>Event counts may be slightly low: increments by several threads at the same moment can be lost.</remarks>
public sealed record CairnCacheStatistics
{
    /// <summary>Reads answered by the first level.</summary>
    public required long LocalHits { get; init; }

    /// <summary>Reads answered by the second level.</summary>
    public required long SharedHits { get; init; }

    /// <summary>Reads that found no value.</summary>
    public required long Misses { get; init; }

    /// <summary>Reads that returned an expired value.</summary>
    public required long StaleServed { get; init; }

    /// <summary>Runs of factories.</summary>
    public required long FactoryRuns { get; init; }

    /// <summary>Runs of factories that ended with an exception.</summary>
    public required long FactoryFaults { get; init; }

    /// <summary>Callers that stopped waiting for a factory.</summary>
    public required long FactoryTimeouts { get; init; }

    /// <summary>Refreshes in the background, before or after the expiration.</summary>
    public required long Refreshes { get; init; }

    /// <summary>Callers that received the result of another caller's factory or read of the second level.</summary>
    public required long Joined { get; init; }

    /// <summary>Values that were not kept because their key or a tag changed while they were created.</summary>
    public required long NotKept { get; init; }

    /// <summary>Values over <see cref="CairnHybridCacheOptions.MaximumPayloadBytes"/>, which only the first level keeps.</summary>
    public required long TooLargeForShared { get; init; }

    /// <summary>Entries of the second level that were damaged, of another format or of another type.</summary>
    public required long Unreadable { get; init; }

    /// <summary>Values that could not be serialized or deserialized.</summary>
    public required long SerializationFaults { get; init; }

    /// <summary>Values that were set.</summary>
    public required long Sets { get; init; }

    /// <summary>Keys that were removed.</summary>
    public required long Removals { get; init; }

    /// <summary>Tags and topics that were invalidated.</summary>
    public required long TagRemovals { get; init; }

    /// <summary>Entries in the first level.</summary>
    public required long LocalEntries { get; init; }

    /// <summary>Bytes in the first level, partly estimated.</summary>
    public required long LocalBytes { get; init; }

    /// <summary>Entries that the first level evicted to stay within its limits.</summary>
    public required long LocalEvictions { get; init; }

    /// <summary>
    /// The eviction policy that the first level follows now: <c>s3-fifo</c>, <c>recency</c>, <c>frequency</c>, <c>promotion</c>,
    /// <c>frequency-eager</c> or <c>recency-protected</c>. The first level follows the policy that answers most reads of the present workload.
    /// </summary>
    public required string LocalPolicy { get; init; }

    /// <summary>The number of times that the first level began to follow another policy.</summary>
    public required long LocalPolicyChanges { get; init; }

    /// <summary>The time since the last change of the policy; null if there was none.</summary>
    public required TimeSpan? LocalPolicyAge { get; init; }

    /// <summary>
    /// Estimated hit ratios: first of each policy with the same capacity, then of <see cref="LocalPolicy"/> with half, twice and four times the capacity.
    /// </summary>
    public required IReadOnlyList<LocalHitEstimate> LocalEstimates { get; init; }
}
