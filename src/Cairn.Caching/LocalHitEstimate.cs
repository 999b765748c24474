namespace Cairn.Caching;

/// <summary>An estimate: the share of reads that the first level would have answered since the creation of the cache with another policy or capacity.</summary>
/// <remarks>
/// From shadow caches of a sample of the keys. <see cref="Margin"/> has the error of the sample. The error is larger if the first level would follow another
/// policy with the other capacity.
/// Estimates begin when the first level evicts for the first time; before, every policy and every larger capacity would have answered the same reads. A smaller
/// capacity would have answered fewer, which is not counted.
/// </remarks>
public sealed class LocalHitEstimate
{
    internal LocalHitEstimate(string policy, double capacityFactor, double hitRatio, double margin)
    {
        Policy = policy;
        CapacityFactor = capacityFactor;
        HitRatio = hitRatio;
        Margin = margin;
    }

    /// <summary>The eviction policy: a name that <see cref="CairnCacheStatistics.LocalPolicy"/> can have.</summary>
    public string Policy { get; }

    /// <summary>The capacity as a multiple of the capacity that the first level has: 0.5, 1, 2 or 4.</summary>
    public double CapacityFactor { get; }

    /// <summary>The estimated share of reads that the first level would have answered, 0 to 1.</summary>
    public double HitRatio { get; }

    /// <summary>
    /// Half the width of the interval of 95 % around <see cref="HitRatio"/>, 0 to 1: the sampled keys are not exactly like all keys. 0 if all keys are sampled,
    /// as in a level of up to 256 entries.
    /// </summary>
    public double Margin { get; }
}
