using Cairn.Cli.Load;

namespace Cairn.Cli.Tests.Load;

public sealed class KeyChooserTests
{
    private const int Draws = 400_000;

    [Theory]
    [InlineData(null)]
    [InlineData(0.5)]
    [InlineData(0.99)]
    [InlineData(1.0)]
    [InlineData(2.5)]
    public void Keys_are_wanted_as_often_as_their_distribution_says(double? exponent)
    {
        const int Keys = 50;
        long[] counts = Count(Keys, exponent, seed: 7);

        double[] weights = [.. Enumerable.Range(1, Keys).Select(rank => Math.Pow(rank, -(exponent ?? 0)))];
        double sum = weights.Sum();

        // Ranks are spread over the keys, so only the ordered counts can be compared. A deviation of five standard deviations does not occur.
        Array.Sort(counts);
        Array.Reverse(counts);
        if (exponent is null)
        {
            Assert.All(counts, count => Assert.InRange(count, Expected(1.0 / Keys).Low, Expected(1.0 / Keys).High));
        }
        else
        {
            Assert.All(counts.Zip(weights).Take(10), pair =>
                Assert.InRange(pair.First, Expected(pair.Second / sum).Low, Expected(pair.Second / sum).High));
        }
    }

    [Theory]
    [InlineData(1, null)]
    [InlineData(1, 0.99)]
    [InlineData(2, 0.99)]
    [InlineData(999_983, 0.99)]
    [InlineData(1_000_000_000, 0.99)]
    [InlineData(1_000_000_000, null)]
    public void Every_key_lies_within_its_range(int keys, double? exponent)
    {
        var chooser = new KeyChooser(keys, exponent, seed: 3);

        Assert.All(Enumerable.Range(0, 10_000).Select(_ => chooser.NextKey()), key => Assert.InRange(key, 0u, (uint)keys - 1));
    }

    [Fact]
    public void Every_rank_has_a_key_of_its_own()
    {
        long[] counts = Count(100, 0.1, seed: 1);

        Assert.DoesNotContain(0, counts);
    }

    [Fact]
    public void Equal_seeds_give_equal_keys()
    {
        Assert.Equal(Count(100, 0.99, seed: 5), Count(100, 0.99, seed: 5));
        Assert.NotEqual(Count(100, 0.99, seed: 5), Count(100, 0.99, seed: 6));
    }

    private static (long Low, long High) Expected(double part)
    {
        double deviation = Math.Sqrt(Draws * part * (1 - part));
        return ((long)((Draws * part) - (5 * deviation)), (long)((Draws * part) + (5 * deviation)));
    }

    private static long[] Count(int keys, double? exponent, ulong seed)
    {
        var chooser = new KeyChooser(keys, exponent, seed);
        long[] counts = new long[keys];
        for (int i = 0; i < Draws; i++)
        {
            counts[chooser.NextKey()]++;
        }

        return counts;
    }
}
