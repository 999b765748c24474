namespace Cairn.Benchmarks.Measuring;

/// <summary>A bound on a ratio.</summary>
/// <param name="Bound">The ratio that just meets the goal.</param>
/// <param name="Stretch">A harder bound on the same side, shown in tables only.</param>
/// <param name="IsLowerBound">Whether larger ratios are better, as for throughput and hit ratio but not for time.</param>
internal sealed record Goal(double Bound, double? Stretch, bool IsLowerBound)
{
    public static Goal AtMost(double bound, double? stretch = null) => new(bound, stretch, IsLowerBound: false);

    public static Goal AtLeast(double bound, double? stretch = null) => new(bound, stretch, IsLowerBound: true);

    public bool IsMetBy(double ratio) => IsLowerBound ? ratio >= Bound : ratio <= Bound;
}
