using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Cairn.Dashboard.Tests.Serving;

/// <summary>The messages that an application or a server logs as errors or worse.</summary>
internal sealed class ErrorLog : ILoggerProvider, ILogger
{
    public ConcurrentQueue<string> Errors { get; } = [];

    public ILogger CreateLogger(string categoryName) => this;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (logLevel >= LogLevel.Error)
        {
            Errors.Enqueue($"{formatter(state, exception)} {exception}");
        }
    }

    public void Dispose()
    {
    }
}
