namespace Cairn.Benchmarks.Measuring;

/// <summary>Summaries of rounds. Medians, because a disturbed round should cost its weight and no more.</summary>
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
    /// The median over rounds of subject divided by peer. The two are divided within a round, when the machine was in the
    /// same state for both; dividing two medians would compare different moments.
    /// </summary>
    /// <exception cref="ArgumentException">The two do not have the same rounds.</exception>
    public static double MedianOfRatios(IReadOnlyList<double> subject, IReadOnlyList<double> peer)
    {
        if (subject.Count != peer.Count)
        {
            throw new ArgumentException($"{subject.Count} rounds cannot be compared with {peer.Count}.", nameof(peer));
        }

        return Median(subject.Zip(peer, (ours, theirs) => ours / theirs));
    }
}
