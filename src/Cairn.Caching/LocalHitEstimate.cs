namespace Cairn.Caching;

/// <summary>An estimate: the share of reads that the first level would have answered since the creation of the cache with another policy or capacity.</summary>
/// <remarks>
/// From shadow caches of a sample of the keys. The error is some hundredths, and more if another policy would be best with the other capacity.
/// Estimates begin when the first level evicts for the first time; before, every policy and every larger capacity would have answered the same reads.
/// </remarks>
public sealed class LocalHitEstimate
{
    internal LocalHitEstimate(string policy, double capacityFactor, double hitRatio)
    {
        Policy = policy;
        CapacityFactor = capacityFactor;
        HitRatio = hitRatio;
    }

    /// <summary>The eviction policy: a name that <see cref="CairnCacheStatistics.LocalPolicy"/> can have.</summary>
    public string Policy { get; }

    /// <summary>The capacity as a multiple of the capacity that the first level has: 0.5, 1, 2 or 4.</summary>
    public double CapacityFactor { get; }

    /// <summary>The estimated share of reads that the first level would have answered, 0 to 1.</summary>
    public double HitRatio { get; }
}
