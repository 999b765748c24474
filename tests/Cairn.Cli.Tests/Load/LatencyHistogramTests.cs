using Cairn.Cli.Load;

namespace Cairn.Cli.Tests.Load;

public sealed class LatencyHistogramTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(127)]
    [InlineData(128)]
    [InlineData(255)]
    [InlineData(256)]
    [InlineData(257)]
    [InlineData(1_000_003)]
    [InlineData(987_654_321_000)]
    public void Latency_is_told_within_a_hundredth(long nanoseconds)
    {
        var histogram = new LatencyHistogram();

        histogram.Record(nanoseconds, 1);

        Assert.InRange(histogram.At(0.5), nanoseconds, nanoseconds + (nanoseconds / 100));
        (long from, long to, long count) = Assert.Single(histogram.Filled());
        Assert.InRange(nanoseconds, from, to);
        Assert.Equal(1, count);
    }

    [Theory]
    [InlineData(-5, 0)]
    [InlineData(long.MaxValue, (1L << 40) - 1)]
    public void Latency_beyond_the_ends_is_counted_at_the_end(long nanoseconds, long counted)
    {
        var histogram = new LatencyHistogram();

        histogram.Record(nanoseconds, 3);

        Assert.Equal((3, counted), (histogram.Count, histogram.At(1)));
    }

    [Fact]
    public void Percentiles_are_those_of_the_sorted_latencies()
    {
        var histogram = new LatencyHistogram();
        for (int i = 1; i <= 100; i++)
        {
            histogram.Record(i, 1);
        }

        Assert.Equal((1, 50, 99, 100), (histogram.At(0), histogram.At(0.5), histogram.At(0.99), histogram.At(1)));
        Assert.Equal(50.5, histogram.Mean);
    }

    [Fact]
    public void Difference_of_two_moments_has_what_came_between_them()
    {
        var histogram = new LatencyHistogram();
        histogram.Record(10, 5);
        var earlier = new LatencyHistogram();
        earlier.Add(histogram);

        histogram.Record(10, 1);
        histogram.Record(20, 2);

        Assert.Equal([(10, 10, 1), (20, 20, 2)], histogram.Since(earlier).Filled());
    }

    [Fact]
    public void Bins_lie_next_to_each_other()
    {
        var histogram = new LatencyHistogram();
        for (long latency = 1; latency < 1 << 20; latency++)
        {
            histogram.Record(latency, 1);
        }

        long next = 1;
        Assert.All(histogram.Filled(), bin =>
        {
            Assert.Equal((next, bin.To - bin.From + 1), (bin.From, bin.Count));
            next = bin.To + 1;
        });
    }
}
