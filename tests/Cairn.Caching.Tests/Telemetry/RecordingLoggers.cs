using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Cairn.Caching.Tests;

/// <summary>Keeps every line that is logged.</summary>
internal sealed class RecordingLoggers : ILoggerFactory, ILogger
{
    public ConcurrentQueue<string> Lines { get; } = new();

    public ILogger CreateLogger(string categoryName) => this;

    /// <summary>Returns a logger of a class, whose lines are recorded, too.</summary>
    public ILogger<T> For<T>() => new Logger<T>(this);

    public void AddProvider(ILoggerProvider provider) => throw new NotSupportedException();

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        Lines.Enqueue($"{logLevel} {eventId.Id}: {formatter(state, exception)}");

    public void Dispose()
    {
        // Lines are checked afterwards.
    }
}
