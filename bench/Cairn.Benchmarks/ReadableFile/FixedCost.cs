using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.ReadableFile;

/// <summary>A limit in time, as a peer: another contender's cost and so many nanoseconds more, or those alone.</summary>
internal sealed class FixedCost(string name, double nanoseconds, OperationContender? on = null) : IContender
{
    public string Name { get; } = name;

    public void WarmUp() => on?.WarmUp();

    public Sample Measure(int round)
    {
        Sample sample = on?.Measure(round) ?? default;
        return sample with { CpuNs = sample.CpuNs + nanoseconds, WallNs = sample.WallNs + nanoseconds };
    }

    public void Dispose()
    {
    }
}
