namespace Cairn.Benchmarks.Hybrid;

/// <summary>The hybrid cache, as applications call it, against the framework's cache of objects and a plain dictionary.</summary>
internal sealed class HybridArea : IArea
{
    public string Name => "hybrid";

    public string Summary => "hits and misses of the hybrid cache, alone, over a store file and over an IDistributedCache, against Microsoft's, ConcurrentDictionary and IMemoryCache";

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
        PlainCacheCases.Measure(run, scale);
        SharedHitCases.Measure(run, scale);
    }
}
