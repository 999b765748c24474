using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.ReadableFile;

/// <summary>A time limit as a peer: a fixed number of nanoseconds, alone or in addition to another contender's cost.</summary>
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
