using System.Text.Json;

namespace Cairn.Cli.Output;

/// <summary>Writes messages to standard error: a line that begins with the tool's name, or a JSON object with --json.</summary>
internal static class ErrorMessages
{
    /// <summary>Writes the error that ends the command with this exit code.</summary>
    public static void WriteError(ToolConsole console, bool isJson, string message, int exitCode) =>
        Write(console, isJson, message, "error", message, exitCode);

    /// <summary>Writes a warning that does not change the exit code.</summary>
    public static void WriteWarning(ToolConsole console, bool isJson, string message) =>
        Write(console, isJson, $"warning: {message}", "warning", message, null);

    /// <summary>Writes a note about the result.</summary>
    public static void WriteNote(ToolConsole console, bool isJson, string message) => Write(console, isJson, message, "note", message, null);

    private static void Write(ToolConsole console, bool isJson, string line, string property, string message, int? exitCode)
    {
        if (isJson)
        {
            WriteJson(console, property, message, exitCode);
        }
        else
        {
            console.Error.WriteLine($"{ToolIdentity.Name}: {line}");
        }
    }

    // A separate method, so that the JSON library is loaded only when it is needed.
    private static void WriteJson(ToolConsole console, string property, string message, int? exitCode)
    {
        var bytes = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(bytes, JsonLine.Options))
        {
            writer.WriteStartObject();
            writer.WriteString(property, message);
            if (exitCode is { } code)
            {
                writer.WriteNumber("exitCode"u8, code);
            }

            writer.WriteEndObject();
        }

        console.Error.WriteLine(Encoding.UTF8.GetString(bytes.WrittenSpan));
    }
}
