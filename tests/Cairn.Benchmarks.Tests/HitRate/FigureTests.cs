using Cairn.HitRate;

namespace Cairn.Benchmarks.Tests.HitRate;

/// <summary>Figures of the tables of hit ratios.</summary>
public class FigureTests
{
    [Theory]
    [InlineData(1.234, "+1.23")]
    [InlineData(-1.236, "-1.24")]
    [InlineData(0.001, "+0.00")]
    [InlineData(-0.001, "+0.00")]
    [InlineData(double.NaN, "")]
    public void Difference_has_one_sign(double number, string expected) => Assert.Equal(expected, Figure.Signed(number));
}
