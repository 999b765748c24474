using Microsoft.Extensions.Logging;

namespace Cairn.Cli.Serving;

/// <summary>Passes the text of each message to a function, whatever its level.</summary>
internal sealed class WarningLogger(Action<string> warn) : ILogger
{
    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => logLevel != LogLevel.None;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (IsEnabled(logLevel))
        {
            warn(formatter(state, exception));
        }
    }
}
