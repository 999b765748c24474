namespace Cairn.Benchmarks.Hybrid;

/// <summary>Compares the hybrid cache, as applications call it, with other caches for .NET and with a plain dictionary.</summary>
internal sealed class HybridArea : IArea
{
    public string Name => "hybrid";

    public void Run(AreaRun run)
    {
        var scale = run.Settings.IsQuick ? HybridScale.Quick : HybridScale.Full;
        foreach (var entries in scale.HitSizes)
        {
            HitCases.Measure(run, scale with { Entries = entries });
        }

        foreach (var entries in scale.OtherSizes.Prepend(scale.Entries))
        {
            HitCases.MeasureSize(run, scale with { Entries = entries });
        }

        ParallelHitCases.Measure(run, scale);
        MissCases.Measure(run, scale);
        MissCases.MeasureSecondLevel(run, scale);
        SharedHitCases.Measure(run, scale);
    }
}
