using Cairn.Server;
using Microsoft.Extensions.Logging;

namespace Cairn.Cli.Serving;

/// <summary>The format of a server's log.</summary>
internal enum ServerLogFormat
{
    /// <summary>Lines for people: time, level and message.</summary>
    Text = 0,

    /// <summary>One JSON object per line.</summary>
    Json,

    /// <summary>Lines for systemd's journal, which adds the time and reads the level from a number before the message.</summary>
    Journal,
}

/// <summary>Writes the messages of a server to standard error or to a file, one per line. Safe from any thread.</summary>
internal sealed class ServerLogWriter(TextWriter standardError, TimeProvider clock, ServerLogFormat format, LogLevel least) : ILogger
{
    private readonly Lock _writing = new();
    private TextWriter? _file;

    /// <summary>Redirects the log to a file, or with null back to standard error. Closes the previous file.</summary>
    public void Redirect(TextWriter? file)
    {
        TextWriter? before;
        lock (_writing)
        {
            before = _file;
            _file = file;
        }

        try
        {
            before?.Dispose();
        }
        catch (Exception e) when (e is IOException or ArgumentOutOfRangeException)
        {
            // The same failure was already reported when the line was written.
        }
    }

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => logLevel >= least && logLevel != LogLevel.None;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        Write(logLevel, formatter(state, exception));

    public void Write(LogLevel level, string message)
    {
        if (!IsEnabled(level))
        {
            return;
        }

        string line = format switch
        {
            ServerLogFormat.Json => JsonOf(level, message),
            ServerLogFormat.Journal => $"<{PriorityOf(level)}>{message}",
            _ => $"{Now()} {NameOf(level),-7} {message}",
        };
        lock (_writing)
        {
            try
            {
                (_file ?? standardError).WriteLine(line);
            }
            catch (Exception e) when (e is IOException or ArgumentOutOfRangeException)
            {
                // The reader has closed the log, the disk is full, or the file is too large, which .NET reports as an argument out of range. The server
                // continues without the log.
            }
        }
    }

    private static string NameOf(LogLevel level) => level switch
    {
        LogLevel.Debug => "debug",
        LogLevel.Information => "info",
        LogLevel.Warning => "warning",
        _ => "error",
    };

    // The priorities of syslog(3).
    private static int PriorityOf(LogLevel level) => level switch
    {
        LogLevel.Debug => 7,
        LogLevel.Information => 6,
        LogLevel.Warning => 4,
        _ => 3,
    };

    private string JsonOf(LogLevel level, string message)
    {
        using var bytes = new MemoryStream();
        using (var json = new System.Text.Json.Utf8JsonWriter(bytes))
        {
            json.WriteStartObject();
            json.WriteString("time"u8, Now());
            json.WriteString("level"u8, NameOf(level));
            json.WriteString("message"u8, message);
            json.WriteEndObject();
        }

        return System.Text.Encoding.UTF8.GetString(bytes.GetBuffer(), 0, (int)bytes.Length);
    }

    private string Now() => clock.GetUtcNow().ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);
}
