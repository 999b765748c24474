using System.Text.Encodings.Web;
using System.Text.Json;

namespace Cairn.Cli.Output;

/// <summary>One JSON object on a line of its own. Disposing it ends the line.</summary>
internal readonly struct JsonLine : IDisposable
{
    // Readable: only what JSON and terminals require is escaped. The output is not put into web pages unescaped by anybody
    // who knows what is in a cache.
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
