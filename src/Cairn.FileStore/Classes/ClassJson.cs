using System.Diagnostics.CodeAnalysis;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Cairn.FileStore.Classes;

/// <summary>Objects to JSON and back.</summary>
internal sealed class ClassJson
{
    private readonly JsonSerializerOptions _options;

    public ClassJson(JsonSerializerOptions? options)
    {
        _options = options is null ? new JsonSerializerOptions { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping } : new JsonSerializerOptions(options);
        if (_options.TypeInfoResolver is null && JsonSerializer.IsReflectionEnabledByDefault)
        {
            _options.TypeInfoResolver = Reflection();
        }

        _options.WriteIndented = false; // An entry is a line.
        _options.MakeReadOnly();
    }

    public string Serialize<T>(T value) => JsonSerializer.Serialize(value, InfoOf<T>());

    public T? Deserialize<T>(string text) => JsonSerializer.Deserialize(text, InfoOf<T>());

    private JsonTypeInfo<T> InfoOf<T>() => (JsonTypeInfo<T>)_options.GetTypeInfo(typeof(T));

    [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = "Called only where JsonSerializer.IsReflectionEnabledByDefault, which is false in trimmed applications unless they ask for it.")]
    [UnconditionalSuppressMessage("AOT", "IL3050", Justification = "As for IL2026.")]
    private static DefaultJsonTypeInfoResolver Reflection() => new();
}
