using System.Text.Encodings.Web;
using System.Text.Json;

namespace Cairn.Cli.Output;

/// <summary>Writes one JSON object as a line. Disposing it ends the line.</summary>
internal readonly struct JsonLine : IDisposable
{
    // For readability, escapes only what JSON and terminals require. The output must be escaped again before it is inserted into a web
    // page, like all data from a cache.
    public static readonly JsonWriterOptions Options = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    private readonly ToolOutput _output;

    public JsonLine(ToolOutput output)
    {
        _output = output;
        Writer = new Utf8JsonWriter(output, Options);
        Writer.WriteStartObject();
    }

    public Utf8JsonWriter Writer { get; }

    public void Dispose()
    {
        Writer.WriteEndObject();
        Writer.Dispose();
        _output.WriteLine();
    }
}
