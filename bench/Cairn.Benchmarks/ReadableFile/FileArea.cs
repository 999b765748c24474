namespace Cairn.Benchmarks.ReadableFile;

/// <summary>The readable file, as applications call it, against a dictionary, System.Text.Json and plain limits.</summary>
internal sealed class FileArea : IArea
{
    public string Name => "file";

    public string Summary => "reads and writes of the readable file, against ConcurrentDictionary, System.Text.Json and limits in time";

    public void Run(AreaRun run)
    {
        FileScale scale = run.Settings.IsQuick ? FileScale.Quick : FileScale.Full;
        foreach (int entries in scale.Sizes)
        {
            FileReadCases.Measure(run, scale, entries);
        }

        FileWriteCases.Measure(run, scale);
        FileWriteCases.MeasureSight(run, scale);
        FileWriteCases.MeasureFirstRead(run, scale);
        FileCrowdCases.Measure(run);
    }
}
