namespace Cairn.Benchmarks.Store;

/// <summary>How often each key is requested.</summary>
internal enum Distribution
{
    /// <summary>All keys equally often.</summary>
    Uniform,

    /// <summary>The k-th most popular key in proportion to 1 / k^0.99, as in YCSB. Popularity and key order are unrelated.</summary>
    Zipf,
}

/// <summary>Draws key numbers from a distribution.</summary>
internal static class KeyNumbers
{
    private const double ZipfExponent = 0.99;

    /// <summary>Draws <paramref name="count"/> numbers below <paramref name="keys"/>; the same seed gives the same numbers.</summary>
    public static int[] Draw(Distribution distribution, int keys, int count, int seed)
    {
        var random = new Random(seed);
        return distribution switch
        {
            Distribution.Uniform => DrawUniform(keys, count, random),
            Distribution.Zipf => DrawZipf(keys, count, random),
            _ => throw new ArgumentOutOfRangeException(nameof(distribution), distribution, "Not a known distribution."),
        };
    }

    private static int[] DrawUniform(int keys, int count, Random random)
    {
        var numbers = new int[count];
        foreach (ref var number in numbers.AsSpan())
        {
            number = random.Next(keys);
        }

        return numbers;
    }

    // Inverts the cumulative distribution by binary search. That is exact, and fast enough for work outside the measurement.
    private static int[] DrawZipf(int keys, int count, Random random)
    {
        var cumulative = new double[keys];
        var total = 0.0;
        for (var rank = 0; rank < keys; rank++)
        {
            total += Math.Pow(rank + 1, -ZipfExponent);
            cumulative[rank] = total;
        }

        var keyOfRank = new int[keys];
        for (var key = 0; key < keys; key++)
        {
            keyOfRank[key] = key;
        }

        random.Shuffle(keyOfRank);

        var numbers = new int[count];
        foreach (ref var number in numbers.AsSpan())
        {
            var found = Array.BinarySearch(cumulative, random.NextDouble() * total);
            var rank = found >= 0 ? found : ~found;
            number = keyOfRank[Math.Min(rank, keys - 1)];
        }

        return numbers;
    }
}
