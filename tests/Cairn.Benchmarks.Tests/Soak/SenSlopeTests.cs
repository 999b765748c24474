using Cairn.Soak.Drift;

namespace Cairn.Benchmarks.Tests.Soak;

public class SenSlopeTests
{
    [Fact]
    public void Line_has_its_own_slope_and_an_interval_that_is_a_point()
    {
        SenSlope slope = SenSlope.Of([.. Enumerable.Range(0, 20).Select(x => ((double)x, 5 + (3.0 * x)))]);

        Assert.Equal(3, slope.Slope, 9);
        Assert.Equal(3, slope.Low, 9);
        Assert.Equal(3, slope.High, 9);
    }

    [Fact]
    public void Wild_points_do_not_move_the_slope()
    {
        (double X, double Y)[] points = [.. Enumerable.Range(0, 21).Select(x => ((double)x, 2.0 * x))];
        points[4].Y = 1_000;
        points[15].Y = -5_000;

        Assert.InRange(SenSlope.Of(points).Slope, 1.9, 2.1);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(3)]
    public void Few_points_prove_nothing(int count)
    {
        SenSlope slope = SenSlope.Of([.. Enumerable.Range(0, count).Select(x => ((double)x, 10.0 * x))]);

        Assert.Equal(double.NegativeInfinity, slope.Low);
        Assert.Equal(double.PositiveInfinity, slope.High);
    }
}
