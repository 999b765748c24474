using System.Diagnostics;

namespace Cairn.Benchmarks;

// What a long run says while it runs, on standard error: what it is at, which passes, and what its reader must know,
// which stays. A terminal shows the first as one changing line; a log gets a line of it now and then.
internal sealed class RunLog(TextWriter target, bool isTerminal) : IDisposable
{
    private static readonly TimeSpan LogInterval = TimeSpan.FromSeconds(5);

    private long? _lastProgress;

    public static RunLog OnStandardError() => new(Console.Error, !Console.IsErrorRedirected);

    /// <summary>What the run is at.</summary>
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

    /// <summary>Something that must not be missed.</summary>
    public void Say(string message) => target.WriteLine(isTerminal ? $"\r\e[K{message}" : message);

    public void Dispose()
    {
        if (isTerminal)
        {
            target.Write("\r\e[K");
        }
    }
}
