using System.Collections.Concurrent;
using Cairn.Server.Logging;

namespace Cairn.Server.Tests.Testing;

internal sealed class TestLog : ServerLog
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly object _gate = new();

    public ConcurrentQueue<(ServerLogLevel Level, string Message)> Lines { get; } = [];

    public override void Write(ServerLogLevel level, string message)
    {
        lock (_gate)
        {
            Lines.Enqueue((level, message));
            Monitor.PulseAll(_gate);
        }
    }

    /// <summary>Waits for a line that satisfies the condition.</summary>
    public void WaitFor(Func<(ServerLogLevel Level, string Message), bool> isIt)
    {
        lock (_gate)
        {
            while (!Lines.Any(isIt))
            {
                if (!Monitor.Wait(_gate, Patience))
                {
                    throw new TimeoutException("Nothing like this was logged.");
                }
            }
        }
    }
}
