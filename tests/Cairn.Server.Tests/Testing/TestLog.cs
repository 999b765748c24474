using System.Collections.Concurrent;
using Cairn.Server.Logging;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Tests.Testing;

internal sealed class TestLog : ILogger
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly object _gate = new();

    public ConcurrentQueue<(LogLevel Level, string Message)> Lines { get; } = [];

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        lock (_gate)
        {
            Lines.Enqueue((logLevel, formatter(state, exception)));
            Monitor.PulseAll(_gate);
        }
    }

    /// <summary>Waits for a line that satisfies the condition.</summary>
    public void WaitFor(Func<(LogLevel Level, string Message), bool> isIt)
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
