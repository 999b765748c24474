namespace Cairn.Benchmarks.Hybrid;

/// <summary>The hybrid cache, as applications call it, against the framework's cache of objects and a plain dictionary.</summary>
// Microsoft's own implementation of HybridCache is no peer here: its package (Microsoft.Extensions.Caching.Hybrid) has dependencies
// that not every feed carries.
internal sealed class HybridArea : IArea
{
    public string Name => "hybrid";

    public string Summary => "hits and misses of the hybrid cache, alone and over a store file, against ConcurrentDictionary and IMemoryCache";

    public void Run(AreaRun run)
    {
        var scale = run.Settings.IsQuick ? HybridScale.Quick : HybridScale.Full;
        HitCases.Measure(run, scale);
        foreach (var entries in scale.OtherSizes)
        {
            HitCases.MeasureSize(run, scale with { Entries = entries });
        }

        ParallelHitCases.Measure(run, scale);
        MissCases.Measure(run, scale);
        SharedHitCases.Measure(run, scale);
    }
}
