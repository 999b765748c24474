using System.Runtime.InteropServices;

namespace Cairn.Benchmarks.Measuring;

/// <summary>What one operation cost, on average over one round.</summary>
/// <param name="CpuNs">Processor time of the whole process, so that garbage collection on other threads counts.</param>
/// <param name="WallNs">Elapsed time divided by operations; with several threads or processes, by all of theirs.</param>
/// <param name="BytesAllocated">Managed memory allocated by the measuring thread.</param>
[StructLayout(LayoutKind.Auto)]
internal readonly record struct Sample(double CpuNs, double WallNs, double BytesAllocated)
{
    /// <summary>What half of the requests took at most, from sending to the whole reply; 0 where nothing is sent.</summary>
    public double MedianLatencyNs { get; init; }

    /// <summary>What 99 of 100 requests took at most.</summary>
    public double TailLatencyNs { get; init; }

    /// <summary>The median of each part for itself.</summary>
    public static Sample Median(IReadOnlyCollection<Sample> samples) => new(
        Statistics.Median(samples.Select(sample => sample.CpuNs)),
        Statistics.Median(samples.Select(sample => sample.WallNs)),
        Statistics.Median(samples.Select(sample => sample.BytesAllocated)))
    {
        MedianLatencyNs = Statistics.Median(samples.Select(sample => sample.MedianLatencyNs)),
        TailLatencyNs = Statistics.Median(samples.Select(sample => sample.TailLatencyNs)),
    };
}
