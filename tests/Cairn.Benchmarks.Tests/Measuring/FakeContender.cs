using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Tests.Measuring;

/// <summary>A contender that returns given samples, and records each call.</summary>
internal sealed class FakeContender(string name, List<string>? calls = null, params Sample[] samples) : IContender
{
    public string Name { get; } = name;

    public bool IsDisposed { get; private set; }

    public void WarmUp()
    {
    }

    public Sample Measure(int round)
    {
        calls?.Add($"{Name} {round}");
        return samples.Length == 0 ? default : samples[round % samples.Length];
    }

    public void Dispose() => IsDisposed = true;
}
