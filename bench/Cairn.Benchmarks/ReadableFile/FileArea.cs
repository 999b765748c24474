namespace Cairn.Benchmarks.ReadableFile;

/// <summary>Compares the readable file, as applications call it, with a dictionary, System.Text.Json and fixed limits.</summary>
internal sealed class FileArea : IArea
{
    public string Name => "file";

    public void Run(AreaRun run)
    {
        FileScale scale = run.Settings.IsQuick ? FileScale.Quick : FileScale.Full;
        foreach (int entries in scale.Sizes)
        {
            FileReadCases.Measure(run, scale, entries);
        }

        FileWriteCases.Measure(run, scale);
        FileWriteCases.MeasureAgainstWholeFile(run, scale);
        FileWriteCases.MeasureSight(run, scale);
        FileWriteCases.MeasureFirstRead(run, scale);
        FileCrowdCases.Measure(run);
    }
}
