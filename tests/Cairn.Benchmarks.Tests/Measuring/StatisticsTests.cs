using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Tests.Measuring;

public class StatisticsTests
{
    [Fact]
    public void Median_of_an_odd_number_of_values_is_the_middle_one() =>
        Assert.Equal(2, Statistics.Median([9, 1, 2]));

    [Fact]
    public void Median_of_an_even_number_of_values_lies_between_the_middle_two() =>
        Assert.Equal(2.5, Statistics.Median([9, 1, 2, 3]));

    [Fact]
    public void Nothing_has_no_median() =>
        Assert.Throws<ArgumentException>(() => Statistics.Median([]));

    [Fact]
    public void Ratios_are_taken_within_a_round_and_not_between_medians()
    {
        // The ratio of the two medians would be 1.
        double[] subject = [10, 20, 30];
        double[] peer = [20, 40, 20];

        var ratio = Statistics.MedianOfRatios(subject, peer);

        Assert.Equal(0.5, ratio);
    }

    [Fact]
    public void Different_numbers_of_rounds_cannot_be_compared() =>
        Assert.Throws<ArgumentException>(() => Statistics.MedianOfRatios([1, 2], [1]));

    [Fact]
    public void Sample_median_takes_each_part_for_itself()
    {
        Sample[] samples = [new(1, 30, 5), new(2, 20, 5), new(3, 10, 0)];

        Assert.Equal(new Sample(2, 20, 5), Sample.Median(samples));
    }
}
