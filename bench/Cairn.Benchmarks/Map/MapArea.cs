namespace Cairn.Benchmarks.Map;

/// <summary>Persistent maps against dictionaries of the process and maps of the JVM.</summary>
internal sealed class MapArea : IArea
{
    public string Name => "map";

    public string Summary => "put, get and copy of persistent maps, against dictionaries, MapDB and the disk";

    public void Run(AreaRun run)
    {
        var scale = run.Settings.IsQuick ? MapScale.Quick : MapScale.Full;
        MemoryCases.Measure(run, scale);
        MemoryCases.MeasureJava(run, scale);
        DurableCases.Measure(run, scale);
        ReplayCases.Measure(run, scale);
    }
}
