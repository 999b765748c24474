// What a random sample says about shares of everything it was taken from.
//
//   I1  StandsOut is true for no key whose share is below LeastShare, with Confidence for all keys of a report together. Of samples requests, such
//       a key has expected = samples * LeastShare at most. Chernoff's bound on having count or more is
//       exp(-(count ln(count / expected) - count + expected)), and no more than 1 / LeastShare keys can have a share near LeastShare;
//       keys with smaller shares add less. So the bound has to be below (1 - Confidence) * LeastShare.
namespace Cairn.Server.Metrics;

/// <summary>Bounds on the share of a key, from a sample of requests.</summary>
internal static class ShareEstimate
{
    /// <summary>How certain the bounds are.</summary>
    public const double Confidence = 0.999;

    /// <summary>The share that a key must have to stand out: what each of the keys that are counted would have if all were equal.</summary>
    public const double LeastShare = 1.0 / KeySamples.MaxKeys;

    private const double DeviationsOfConfidence = 3.29;

    /// <summary>Whether a key that the sample has so often has at least <see cref="LeastShare"/> of all requests (I1).</summary>
    public static bool StandsOut(long count, long samples)
    {
        double expected = samples * LeastShare;
        return count > expected && (count * Math.Log(count / expected)) - count + expected >= -Math.Log((1 - Confidence) * LeastShare);
    }

    /// <summary>The share that a key has at least, if the sample has it so often.</summary>
    public static double Lowest(long count, long samples) => Bound(count, samples, -1);

    /// <summary>The share that a key has at most, if the sample has it so often.</summary>
    public static double Highest(long count, long samples) => Bound(count, samples, 1);

    // Wilson's score interval: right for small samples and for shares near 0 and 1 as well.
    private static double Bound(double count, double samples, int side)
    {
        const double Z = DeviationsOfConfidence;
        double share = count / samples;
        double middle = share + (Z * Z / (2 * samples));
        double width = Z * Math.Sqrt((share * (1 - share) / samples) + (Z * Z / (4 * samples * samples)));
        return Math.Clamp((middle + (side * width)) / (1 + (Z * Z / samples)), 0, 1);
    }
}
