namespace Cairn.Cli.Output;

// How far long work is: one line on standard error, written over as it grows and wiped at the end. Only for people: without
// a terminal there is none.
internal sealed class ProgressLine : IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(100);

    // Work that ends sooner needs none.
    private static readonly TimeSpan Delay = TimeSpan.FromMilliseconds(400);

    private readonly ToolConsole _console;
    private readonly string _action;
    private readonly string? _unit;
    private readonly bool _isShown;
    private readonly long _startedAt;
    private TimeSpan _nextAt = Delay;
    private bool _isOnScreen;

    /// <summary>Begins the work, whose time counts from now.</summary>
    /// <param name="console">Where to.</param>
    /// <param name="action">What is being done, such as "Exporting".</param>
    /// <param name="unit">What is counted, such as "entries"; null for bytes.</param>
    public ProgressLine(ToolConsole console, string action, string? unit)
    {
        _console = console;
        _action = action;
        _unit = unit;
        _isShown = console.IsErrorTerminal;
        _startedAt = console.Clock.GetTimestamp();
    }

    /// <summary>Says what has been done so far; cheap enough to be called for every entry.</summary>
    /// <param name="count">Things done.</param>
    /// <param name="done">How much of <paramref name="total"/> is done.</param>
    /// <param name="total">How much there is to do; 0 if nobody knows.</param>
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

    /// <summary>Shows a text of one's own, at once.</summary>
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

        // A store changes while it is read, so there may be more than was counted at first.
        double part = Math.Min(1, (double)done / total);
        return $"{text} · {Figures.Percent(part)} · {Figures.Time(elapsed * ((1 - part) / part))} left";
    }
}
