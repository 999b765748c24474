using System.Diagnostics;

namespace Cairn.Benchmarks;

// Messages of a long run on standard error: progress, which is replaced, and messages for the user, which stay. A terminal shows
// progress as one changing line; a log gets a progress line at intervals.
internal sealed class RunLog(TextWriter target, bool isTerminal) : IDisposable
{
    private static readonly TimeSpan LogInterval = TimeSpan.FromSeconds(5);

    private long? _lastProgress;

    public static RunLog OnStandardError() => new(Console.Error, !Console.IsErrorRedirected);

    /// <summary>Reports the present step of the run.</summary>
    public void Progress(string message)
    {
        if (isTerminal)
        {
            target.Write($"\r\e[K{message}");
        }
        else if (_lastProgress is not { } last || Stopwatch.GetElapsedTime(last) >= LogInterval)
        {
            target.WriteLine(message);
            _lastProgress = Stopwatch.GetTimestamp();
        }
    }

    /// <summary>Prints a message that the user must not miss.</summary>
    public void Say(string message) => target.WriteLine(isTerminal ? $"\r\e[K{message}" : message);

    public void Dispose()
    {
        if (isTerminal)
        {
            target.Write("\r\e[K");
        }
    }
}
