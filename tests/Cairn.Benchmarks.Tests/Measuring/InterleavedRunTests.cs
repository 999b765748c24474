using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Tests.Measuring;

public class InterleavedRunTests
{
    [Fact]
    public void Every_round_measures_every_contender_once_and_starts_with_another_one()
    {
        var calls = new List<string>();
        using var a = new FakeContender("a", calls);
        using var b = new FakeContender("b", calls);
        using var c = new FakeContender("c", calls);

        InterleavedRun.Run([a, b, c], rounds: 3, _ => { });

        Assert.Equal(["a 0", "b 0", "c 0", "b 1", "c 1", "a 1", "c 2", "a 2", "b 2"], calls);
    }

    [Fact]
    public void Samples_are_in_the_order_of_the_rounds()
    {
        using var a = new FakeContender("a", calls: null, new Sample(1, 1, 0), new Sample(2, 2, 0));
        using var b = new FakeContender("b", calls: null, new Sample(3, 3, 0), new Sample(4, 4, 0));

        var samples = InterleavedRun.Run([a, b], rounds: 2, _ => { });

        Assert.Equal([1, 2], samples[a].Select(sample => sample.CpuNs));
        Assert.Equal([3, 4], samples[b].Select(sample => sample.CpuNs));
    }
}
