using System.Globalization;
using Cairn.Server;

namespace Cairn.Cli.Serving;

/// <summary>How the log of a server is written.</summary>
internal enum ServerLogFormat
{
    /// <summary>For people: time, level, message.</summary>
    Text = 0,

    /// <summary>One JSON object a line.</summary>
    Json,

    /// <summary>For systemd's journal, which knows the time and reads the level from a number before the message.</summary>
    Journal,
}

/// <summary>Writes what a server says to standard error, or to a file, a line each.</summary>
internal sealed class ServerLogWriter(TextWriter standardError, TimeProvider clock, ServerLogFormat format, ServerLogLevel least)
{
    private readonly Lock _writing = new();
    private TextWriter? _file;

    /// <summary>Writes to a file from now on, or, with null, to standard error again. The file before it is closed.</summary>
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
        catch (IOException)
        {
            // What it could not take before, it cannot take now.
        }
    }

    public void Write(ServerLogLevel level, string message)
    {
        if (level < least)
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
            catch (IOException)
            {
                // Nobody reads the log any more, which is no reason to end.
            }
        }
    }

    private static string NameOf(ServerLogLevel level) => level switch
    {
        ServerLogLevel.Debug => "debug",
        ServerLogLevel.Information => "info",
        ServerLogLevel.Warning => "warning",
        _ => "error",
    };

    // Of syslog(3).
    private static int PriorityOf(ServerLogLevel level) => level switch
    {
        ServerLogLevel.Debug => 7,
        ServerLogLevel.Information => 6,
        ServerLogLevel.Warning => 4,
        _ => 3,
    };

    private string JsonOf(ServerLogLevel level, string message)
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
