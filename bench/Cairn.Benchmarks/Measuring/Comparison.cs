namespace Cairn.Benchmarks.Measuring;

/// <summary>The quantity of which a comparison computes the ratio, the subject's divided by the peer's.</summary>
internal enum Quantity
{
    /// <summary>Processor time per operation.</summary>
    CpuTime,

    /// <summary>Elapsed time per operation, for peers in other runtimes.</summary>
    WallTime,

    /// <summary>Operations per second.</summary>
    Throughput,

    /// <summary>Operations per second of processor time.</summary>
    CpuThroughput,

    /// <summary>The median latency of requests.</summary>
    MedianLatency,

    /// <summary>The 99th percentile of the latency of requests.</summary>
    TailLatency,

    /// <summary>Bytes allocated per operation.</summary>
    AllocatedBytes,

    /// <summary>Bytes that the subject allocates per operation, without a peer: as a multiple of one byte.</summary>
    Allocation,
}

/// <summary>A question that the samples of common rounds answer.</summary>
/// <param name="Case">The name of the case in tables and reports.</param>
/// <param name="Subject">The contender in question.</param>
/// <param name="Against">The peer; <see langword="null"/> for <see cref="Quantity.Allocation"/>.</param>
/// <param name="Goal">The required ratio; <see langword="null"/> for a comparison that only informs.</param>
internal sealed record Comparison(string Case, IContender Subject, IContender? Against, Quantity Quantity, Goal? Goal)
{
    /// <summary>Gets the finding before anything is measured.</summary>
    public Finding Pending => new(Case, Subject.Name, Against?.Name ?? "1 byte") { Goal = Goal };

    /// <summary>Computes the finding from the samples of all rounds.</summary>
    /// <param name="subject">The samples of the subject.</param>
    /// <param name="peer">The samples of the peer in the same rounds; empty without a peer.</param>
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
