namespace Cairn.Cli.Output;

// Shows the progress of long work: one line on standard error, which is updated in place and erased at the end. Without a terminal, nothing
// is shown.
internal sealed class ProgressLine : IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(100);

    // Shorter work shows no progress.
    private static readonly TimeSpan Delay = TimeSpan.FromMilliseconds(400);

    private readonly ToolConsole _console;
    private readonly string _action;
    private readonly string? _unit;
    private readonly bool _isShown;
    private readonly long _startedAt;
    private TimeSpan _nextAt = Delay;
    private bool _isOnScreen;

    /// <summary>Creates a line for work that begins now.</summary>
    /// <param name="console">The console.</param>
    /// <param name="action">The work, such as "Exporting".</param>
    /// <param name="unit">The counted unit, such as "entries"; null for bytes.</param>
    public ProgressLine(ToolConsole console, string action, string? unit)
    {
        _console = console;
        _action = action;
        _unit = unit;
        _isShown = console.IsErrorTerminal;
        _startedAt = console.Clock.GetTimestamp();
    }

    /// <summary>Reports progress. It is cheap enough to be called for every entry.</summary>
    /// <param name="count">The number of units done.</param>
    /// <param name="done">The amount of <paramref name="total"/> that is done.</param>
    /// <param name="total">The total amount; 0 if it is unknown.</param>
    public void Report(long count, long done, long total)
    {
        if (!_isShown)
        {
            return;
        }

        TimeSpan elapsed = _console.Clock.GetElapsedTime(_startedAt);
        if (elapsed < _nextAt)
        {
            return;
        }

        _nextAt = elapsed + Interval;
        Show(Describe(count, done, total, elapsed));
    }

    /// <summary>Shows this text at once.</summary>
    public void Show(string text)
    {
        if (!_isShown)
        {
            return;
        }

        int width = Math.Max(1, _console.Width - 1);
        _console.Error.Write($"\r{(text.Length > width ? text[..width] : text)}\e[K");
        _isOnScreen = true;
    }

    public void Dispose()
    {
        if (_isOnScreen)
        {
            _console.Error.Write("\r\e[K");
            _isOnScreen = false;
        }
    }

    private string Describe(long count, long done, long total, TimeSpan elapsed)
    {
        long rate = (long)(count / elapsed.TotalSeconds);
        string text = _unit is null
            ? $"{_action} · {Figures.Bytes(count)} · {Figures.Bytes(rate)}/s"
            : $"{_action} · {Figures.Count(count)} {_unit} · {Figures.Count(rate)}/s";
        if (total <= 0 || done <= 0)
        {
            return text;
        }

        // A store changes while it is read, so it may have more entries than at first.
        double part = Math.Min(1, (double)done / total);
        return $"{text} · {Figures.Percent(part)} · {Figures.Time(elapsed * ((1 - part) / part))} left";
    }
}
