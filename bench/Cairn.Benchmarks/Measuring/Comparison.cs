namespace Cairn.Benchmarks.Measuring;

/// <summary>What is divided when a contender is compared.</summary>
internal enum Quantity
{
    /// <summary>Processor time per operation, the subject's by the peer's.</summary>
    CpuTime,

    /// <summary>Elapsed time per operation, the subject's by the peer's: for peers in other runtimes.</summary>
    WallTime,

    /// <summary>Operations per second, the subject's by the peer's.</summary>
    Throughput,

    /// <summary>Operations per second of processor time, the subject's by the peer's.</summary>
    CpuThroughput,

    /// <summary>The median of how long requests took, the subject's by the peer's.</summary>
    MedianLatency,

    /// <summary>What 99 of 100 requests took at most, the subject's by the peer's.</summary>
    TailLatency,

    /// <summary>Bytes allocated per operation, the subject's by the peer's.</summary>
    AllocatedBytes,

    /// <summary>Bytes allocated per operation, the subject's alone, as a multiple of one byte.</summary>
    Allocation,
}

/// <summary>A question answered by samples of the same rounds.</summary>
/// <param name="Case">What is done, as tables and reports call it.</param>
/// <param name="Subject">The contender in question.</param>
/// <param name="Against">The one it is compared with; <see langword="null"/> for <see cref="Quantity.Allocation"/>.</param>
/// <param name="Goal">The ratio wanted; <see langword="null"/> when the comparison only informs.</param>
internal sealed record Comparison(string Case, IContender Subject, IContender? Against, Quantity Quantity, Goal? Goal)
{
    /// <summary>The finding before anything is measured.</summary>
    public Finding Pending => new(Case, Subject.Name, Against?.Name ?? "1 byte") { Goal = Goal };

    /// <summary>The finding, from every round's sample of both.</summary>
    /// <param name="subject">The subject's rounds.</param>
    /// <param name="peer">The peer's, of the same rounds; empty without a peer.</param>
    public Finding Answer(IReadOnlyList<Sample> subject, IReadOnlyList<Sample> peer) => Pending with
    {
        Measured = Sample.Median(subject),
        Peer = Against is null ? null : Sample.Median(peer),
        Ratio = Quantity switch
        {
            Quantity.CpuTime => Statistics.MedianOfRatios(CpuNs(subject), CpuNs(peer)),
            Quantity.WallTime => Statistics.MedianOfRatios(WallNs(subject), WallNs(peer)),
            Quantity.Throughput => Statistics.MedianOfRatios(WallNs(peer), WallNs(subject)),
            Quantity.CpuThroughput => Statistics.MedianOfRatios(CpuNs(peer), CpuNs(subject)),
            Quantity.MedianLatency => Statistics.MedianOfRatios(
                [.. subject.Select(sample => sample.MedianLatencyNs)], [.. peer.Select(sample => sample.MedianLatencyNs)]),
            Quantity.TailLatency => Statistics.MedianOfRatios(
                [.. subject.Select(sample => sample.TailLatencyNs)], [.. peer.Select(sample => sample.TailLatencyNs)]),
            Quantity.AllocatedBytes => Statistics.MedianOfRatios(
                [.. subject.Select(sample => sample.BytesAllocated)], [.. peer.Select(sample => sample.BytesAllocated)]),
            Quantity.Allocation => Statistics.Median(subject.Select(sample => sample.BytesAllocated)),
            _ => throw new InvalidOperationException($"{Quantity} is not a quantity to compare."),
        },
    };

    private static double[] CpuNs(IReadOnlyList<Sample> samples) => [.. samples.Select(sample => sample.CpuNs)];

    private static double[] WallNs(IReadOnlyList<Sample> samples) => [.. samples.Select(sample => sample.WallNs)];
}
