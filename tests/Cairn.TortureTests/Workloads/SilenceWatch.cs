namespace Cairn.TortureTests.Workloads;

/// <summary>Reads the lines of a child process, and kills it when it has printed nothing for too long.</summary>
internal sealed class SilenceWatch : IDisposable
{
    private readonly ChildProcess _child;
    private readonly TimeSpan _longestSilence;
    private readonly Timer _timer;
    private volatile bool _isKilled;

    public SilenceWatch(ChildProcess child, TimeSpan longestSilence)
    {
        _child = child;
        _longestSilence = longestSilence;
        _timer = new Timer(_ =>
        {
            _isKilled = true;
            child.BeginKill();
        });
    }

    /// <summary>Gets the reason why there was no line.</summary>
    public string Cause => _isKilled ? $"The process sent nothing for {_longestSilence.TotalSeconds:N0} seconds" : "The process crashed";

    /// <summary>Returns the child's next line, or null if the child ended or was killed because it printed nothing.</summary>
    public string? TryReadLine()
    {
        _timer.Change(_longestSilence, Timeout.InfiniteTimeSpan);
        string? line = _child.TryReadLine();
        _timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        return line;
    }

    public void Dispose() => _timer.Dispose();
}
