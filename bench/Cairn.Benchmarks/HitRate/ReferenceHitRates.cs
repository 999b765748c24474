namespace Cairn.Benchmarks.HitRate;

/// <summary>The hit ratios, in percent, of the reference policies on one trace at one capacity, with objects of unit size.</summary>
/// <param name="Trace">The trace's name.</param>
/// <param name="Percent">The capacity, in percent of the distinct keys.</param>
internal sealed record ReferenceHitRates(string Trace, int Percent, double Lru, double Sieve, double S3Fifo, double Optimal)
{
    /// <summary>Pairs these figures with others, policy by policy.</summary>
    public IEnumerable<(string Policy, double These, double Others)> Beside(ReferenceHitRates others) =>
    [
        ("LRU", Lru, others.Lru),
        ("SIEVE", Sieve, others.Sieve),
        ("S3-FIFO", S3Fifo, others.S3Fifo),
        ("optimal", Optimal, others.Optimal),
    ];
}
