using Cairn.Server.Metrics;

namespace Cairn.Server.Tests.Metrics;

public sealed class LatencyHistogramTests
{
    [Fact]
    public void Time_that_is_read_is_at_most_a_thirty_second_above_the_true_one()
    {
        var random = new Random(7);
        for (int i = 0; i < 20_000; i++)
        {
            long ns = random.NextInt64(1, 1L << random.Next(1, 37));
            var histogram = new LatencyHistogram();
            histogram.Record(ns);
            histogram.Record(LatencyHistogram.LongestNs); // Otherwise the histogram would return the longest latency exactly.

            Assert.InRange(histogram.Percentile(0.5), ns, (long)(ns * (1 + LatencyHistogram.RelativeError)));
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-5)]
    [InlineData(1)]
    [InlineData(32)]
    public void Shortest_times_are_exact(long ns)
    {
        var histogram = new LatencyHistogram();

        histogram.Record(ns);

        Assert.Equal(Math.Max(ns, 0), histogram.Percentile(1));
        Assert.Equal(1, histogram.CountUpToPowerOfTwo(5));
    }

    [Fact]
    public void Powers_of_two_divide_exactly()
    {
        for (int power = 5; power < 37; power++)
        {
            var histogram = new LatencyHistogram();
            histogram.Record(1L << power, count: 3);
            histogram.Record((1L << power) + 1, count: 4);

            Assert.Equal(3, histogram.CountUpToPowerOfTwo(power));
            Assert.Equal(7, histogram.CountUpToPowerOfTwo(power + 1));
            Assert.Equal(7, histogram.Count);
        }
    }

    [Fact]
    public void Time_beyond_the_longest_bin_counts_there_and_is_still_the_maximum()
    {
        var histogram = new LatencyHistogram();

        histogram.Record(LatencyHistogram.LongestNs * 3);

        Assert.Equal(1, histogram.CountUpToPowerOfTwo(37));
        Assert.Equal(LatencyHistogram.LongestNs, histogram.Percentile(1));
        Assert.Equal(LatencyHistogram.LongestNs * 3, histogram.MaxNs);
    }

    [Fact]
    public void Percentiles_are_those_of_the_sorted_times()
    {
        var histogram = new LatencyHistogram();
        for (int us = 1; us <= 1000; us++)
        {
            histogram.Record(us * 1000);
        }

        Assert.InRange(histogram.Percentile(0.5), 500_000, 516_000);
        Assert.InRange(histogram.Percentile(0.99), 990_000, 1_000_000);
        Assert.Equal(1_000_000, histogram.Percentile(1));
        Assert.Equal(500_500_000, histogram.SumNs);
    }

    [Fact]
    public void Sum_of_two_holds_the_times_of_both()
    {
        var first = new LatencyHistogram();
        var second = new LatencyHistogram();
        first.Record(100);
        second.Record(5000, count: 2);

        first.Add(second);

        Assert.Equal((3, 10_100, 5000), (first.Count, first.SumNs, first.MaxNs));
        Assert.Equal([1, 2], first.Filled().Select(cell => cell.Count));
    }

    [Fact]
    public void Difference_of_two_moments_has_what_came_between_them()
    {
        var histogram = new LatencyHistogram();
        histogram.Record(10, count: 5);
        var earlier = new LatencyHistogram();
        earlier.Add(histogram);
        histogram.Record(10);
        histogram.Record(20, count: 2);

        LatencyHistogram difference = histogram.Since(earlier);

        Assert.Equal([(10, 10, 1), (20, 20, 2)], difference.Filled());
        Assert.Equal(50.0 / 3, difference.MeanNs);
    }

    [Fact]
    public void Cells_lie_next_to_each_other()
    {
        var histogram = new LatencyHistogram();
        for (long ns = 0; ns <= 1 << 20; ns++)
        {
            histogram.Record(ns);
        }

        long next = 0;
        Assert.All(histogram.Filled(), cell =>
        {
            Assert.Equal((next, cell.To - cell.From + 1), (cell.From, cell.Count));
            next = cell.To + 1;
        });
    }

    [Fact]
    public void Nothing_recorded_has_no_percentile() => Assert.Equal(0, new LatencyHistogram().Percentile(0.5));
}
