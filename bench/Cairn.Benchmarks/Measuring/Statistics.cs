namespace Cairn.Benchmarks.Measuring;

/// <summary>Summarises rounds by medians, so that a disturbed round has little influence.</summary>
internal static class Statistics
{
    /// <exception cref="ArgumentException">There are no values.</exception>
    public static double Median(IEnumerable<double> values)
    {
        var sorted = values.Order().ToArray();
        if (sorted.Length == 0)
        {
            throw new ArgumentException("Nothing has no median.", nameof(values));
        }

        var middle = sorted.Length / 2;
        return sorted.Length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /// <summary>
    /// Returns the median over the rounds of subject divided by peer. The division is done within a round, when the machine is in the
    /// same state for both. A division of two medians would compare different moments.
    /// </summary>
    /// <exception cref="ArgumentException">The two lists do not have the same number of rounds.</exception>
    public static double MedianOfRatios(IReadOnlyList<double> subject, IReadOnlyList<double> peer)
    {
        if (subject.Count != peer.Count)
        {
            throw new ArgumentException($"{subject.Count} rounds cannot be compared with {peer.Count}.", nameof(peer));
        }

        return Median(subject.Zip(peer, (ours, theirs) => ours / theirs));
    }
}
