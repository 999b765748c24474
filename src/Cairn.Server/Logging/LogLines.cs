using Microsoft.Extensions.Logging;

namespace Cairn.Server.Logging;

/// <summary>Writes log messages that are complete lines of text.</summary>
internal static class LogLines
{
    // The text is the state. It is not a template, because messages contain clients' input, in which braces mean nothing.
    public static void Write(this ILogger log, LogLevel level, string message) =>
        log.Log(level, default, message, null, static (text, _) => text);
}
