using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Tests.Measuring;

public class ComparisonTests
{
    private static readonly Sample[] _subject = [new(CpuNs: 10, WallNs: 40, BytesAllocated: 8) { MedianLatencyNs = 100, TailLatencyNs = 300 }];
    private static readonly Sample[] _peer = [new(CpuNs: 20, WallNs: 160, BytesAllocated: 16) { MedianLatencyNs = 400, TailLatencyNs = 400 }];

    [Theory]
    [InlineData(nameof(Quantity.CpuTime), 0.5)]
    [InlineData(nameof(Quantity.WallTime), 0.25)]
    [InlineData(nameof(Quantity.Throughput), 4)]
    [InlineData(nameof(Quantity.CpuThroughput), 2)]
    [InlineData(nameof(Quantity.MedianLatency), 0.25)]
    [InlineData(nameof(Quantity.TailLatency), 0.75)]
    [InlineData(nameof(Quantity.AllocatedBytes), 0.5)]
    [InlineData(nameof(Quantity.Allocation), 8)]
    public void Ratio_is_of_the_quantity_asked_for(string quantity, double expected)
    {
        using var subject = new FakeContender("subject");
        using var peer = new FakeContender("peer");
        var comparison = new Comparison("get", subject, peer, Enum.Parse<Quantity>(quantity), Goal: null);

        Assert.Equal(expected, comparison.Answer(_subject, _peer).Ratio);
    }

    [Fact]
    public void Finding_carries_the_costs_of_both_sides()
    {
        using var subject = new FakeContender("subject");
        using var peer = new FakeContender("peer");

        var finding = new Comparison("get", subject, peer, Quantity.CpuTime, Goal.AtMost(0.6)).Answer(_subject, _peer);

        Assert.Equal(("get", "subject", "peer"), (finding.Case, finding.Subject, finding.Against));
        Assert.Equal(_subject[0], finding.Measured);
        Assert.Equal(_peer[0], finding.Peer);
        Assert.True(finding.IsMet);
    }
}
