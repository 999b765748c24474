namespace Cairn.Benchmarks.Map;

/// <summary>Compares persistent maps with in-process dictionaries and with maps of the JVM.</summary>
internal sealed class MapArea : IArea
{
    public string Name => "map";

    public void Run(AreaRun run)
    {
        var scale = run.Settings.IsQuick ? MapScale.Quick : MapScale.Full;
        MemoryCases.Measure(run, scale);
        MemoryCases.MeasureJava(run, scale);
        DurableCases.Measure(run, scale);
        ReplayCases.Measure(run, scale);
    }
}
