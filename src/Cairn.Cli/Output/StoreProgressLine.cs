namespace Cairn.Cli.Output;

/// <summary>Shows the progress of long operations of the library as a line.</summary>
internal sealed class StoreProgressLine(ToolConsole console) : IProgress<StoreProgress>, IDisposable
{
    private ProgressLine? _line;
    private string? _what;

    public void Report(StoreProgress value)
    {
        if (_what != value.What)
        {
            // Another step begins, which has its own rate.
            _line?.Dispose();
            _line = new ProgressLine(console, value.What, unit: null);
            _what = value.What;
        }

        _line!.Report(value.Done, value.Done, value.Total);
    }

    public void Dispose() => _line?.Dispose();
}
