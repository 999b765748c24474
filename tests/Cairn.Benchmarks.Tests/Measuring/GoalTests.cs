using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Tests.Measuring;

public class GoalTests
{
    [Theory]
    [InlineData(0.61, true)]
    [InlineData(0.62, true)]
    [InlineData(0.63, false)]
    public void Upper_bound_is_met_up_to_the_bound(double ratio, bool isMet) =>
        Assert.Equal(isMet, Goal.AtMost(0.62).IsMetBy(ratio));

    [Theory]
    [InlineData(1.79, false)]
    [InlineData(1.8, true)]
    [InlineData(1.81, true)]
    public void Lower_bound_is_met_from_the_bound(double ratio, bool isMet) =>
        Assert.Equal(isMet, Goal.AtLeast(1.8).IsMetBy(ratio));

    [Fact]
    public void Finding_without_a_figure_does_not_meet_its_goal()
    {
        var finding = new Finding("get", "Cairn", "peer") { Goal = Goal.AtMost(1) };

        Assert.False(finding.IsMet);
    }

    [Fact]
    public void Finding_without_a_goal_neither_meets_nor_misses_it()
    {
        var finding = new Finding("get", "Cairn", "peer") { Ratio = 0.5 };

        Assert.Null(finding.IsMet);
    }
}
