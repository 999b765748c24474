using System.Collections.Concurrent;
using Cairn.Server.Connections;

namespace Cairn.Server.Tests.Testing;

internal sealed class TestLog : ServerLog
{
    private volatile TaskCompletionSource _written = NextLine();

    public ConcurrentQueue<(ServerLogLevel Level, string Message)> Lines { get; } = [];

    public override void Write(ServerLogLevel level, string message)
    {
        Lines.Enqueue((level, message));
        Interlocked.Exchange(ref _written, NextLine()).TrySetResult();
    }

    /// <summary>Waits until a line like this is there.</summary>
    public async Task UntilAsync(Func<(ServerLogLevel Level, string Message), bool> isIt)
    {
        while (true)
        {
            Task written = _written.Task; // Taken first: a line that comes while the others are looked at completes it.
            if (Lines.Any(isIt))
            {
                return;
            }

            await written.WaitAsync(TimeSpan.FromSeconds(30));
        }
    }

    private static TaskCompletionSource NextLine() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
