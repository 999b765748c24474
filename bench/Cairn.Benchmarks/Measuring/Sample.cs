using System.Runtime.InteropServices;

namespace Cairn.Benchmarks.Measuring;

/// <summary>The cost of one operation, on average over one round.</summary>
/// <param name="CpuNs">The processor time of the whole process, so that garbage collection on other threads counts.</param>
/// <param name="WallNs">The elapsed time divided by the operations of all threads or processes.</param>
/// <param name="BytesAllocated">The managed memory that the measuring thread allocated.</param>
[StructLayout(LayoutKind.Auto)]
internal readonly record struct Sample(double CpuNs, double WallNs, double BytesAllocated)
{
    /// <summary>Gets the median latency, from sending a request to receiving the whole reply; 0 if the case sends nothing.</summary>
    public double MedianLatencyNs { get; init; }

    /// <summary>Gets the 99th percentile of the latency.</summary>
    public double TailLatencyNs { get; init; }

    /// <summary>Returns a sample with the median of each component.</summary>
    public static Sample Median(IReadOnlyCollection<Sample> samples) => new(
        Statistics.Median(samples.Select(sample => sample.CpuNs)),
        Statistics.Median(samples.Select(sample => sample.WallNs)),
        Statistics.Median(samples.Select(sample => sample.BytesAllocated)))
    {
        MedianLatencyNs = Statistics.Median(samples.Select(sample => sample.MedianLatencyNs)),
        TailLatencyNs = Statistics.Median(samples.Select(sample => sample.TailLatencyNs)),
    };
}
