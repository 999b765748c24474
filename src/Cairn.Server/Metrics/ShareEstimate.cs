// Estimates shares of all requests from a random sample.
//
//   I1  With Confidence for all keys of a report together, StandsOut is true for no key whose share is below LeastShare. Of the
//       samples, such a key has on average at most expected = samples * LeastShare. Chernoff's bound on having count or more is
//       exp(-(count ln(count / expected) - count + expected)). At most 1 / LeastShare keys can have a share near LeastShare, and keys
//       with smaller shares add less. So the bound must be below (1 - Confidence) * LeastShare.
namespace Cairn.Server.Metrics;

/// <summary>Computes bounds on the share of a key from a sample of requests.</summary>
internal static class ShareEstimate
{
    /// <summary>The confidence of the bounds.</summary>
    public const double Confidence = 0.999;

    /// <summary>The minimum share of a key that stands out: the share of each counted key if all were equally frequent.</summary>
    public const double LeastShare = 1.0 / KeySamples.MaxKeys;

    private const double DeviationsOfConfidence = 3.29;

    /// <summary>Returns whether a key with this count in the sample has at least <see cref="LeastShare"/> of all requests (I1).</summary>
    public static bool StandsOut(long count, long samples)
    {
        double expected = samples * LeastShare;
        return count > expected && (count * Math.Log(count / expected)) - count + expected >= -Math.Log((1 - Confidence) * LeastShare);
    }

    /// <summary>Returns the lower bound of the share of a key with this count in the sample.</summary>
    public static double Lowest(long count, long samples) => Bound(count, samples, -1);

    /// <summary>Returns the upper bound of the share of a key with this count in the sample.</summary>
    public static double Highest(long count, long samples) => Bound(count, samples, 1);

    // Wilson's score interval. It is also accurate for small samples and for shares near 0 and 1.
    private static double Bound(double count, double samples, int side)
    {
        const double Z = DeviationsOfConfidence;
        double share = count / samples;
        double middle = share + (Z * Z / (2 * samples));
        double width = Z * Math.Sqrt((share * (1 - share) / samples) + (Z * Z / (4 * samples * samples)));
        return Math.Clamp((middle + (side * width)) / (1 + (Z * Z / samples)), 0, 1);
    }
}
