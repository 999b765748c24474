using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Cairn.FileStore.Classes;

/// <summary>Serializes objects to JSON and deserializes them.</summary>
internal sealed class ClassJson
{
    private readonly JsonSerializerOptions _options;
    private JsonTypeInfo? _last;

    /// <summary>Creates the object. Null uses the options of the original library.</summary>
    public ClassJson(JsonSerializerOptions? options)
    {
        _options = options is null ? new JsonSerializerOptions { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping } : new JsonSerializerOptions(options);
        if (_options.TypeInfoResolver is null && JsonSerializer.IsReflectionEnabledByDefault)
        {
            _options.TypeInfoResolver = Reflection();
        }

        _options.MakeReadOnly();
    }

    public byte[] Serialize(object value, Type type) => JsonSerializer.SerializeToUtf8Bytes(value, InfoOf(type));

    public string SerializeToText(object value, Type type) => JsonSerializer.Serialize(value, InfoOf(type));

    // Not generic: generic code shared by all classes would look up its type argument at runtime in each call.
    public object? Deserialize(ReadOnlySpan<byte> utf8, Type type) => JsonSerializer.Deserialize(utf8, InfoOf(type));

    public object? Deserialize(string text, Type type) => JsonSerializer.Deserialize(text, InfoOf(type));

    private JsonTypeInfo InfoOf(Type type)
    {
        // Most callers read one type many times. A stale value only costs a lookup.
        if (Volatile.Read(ref _last) is { } last && last.Type == type)
        {
            return last;
        }

        JsonTypeInfo info = _options.GetTypeInfo(type);
        Volatile.Write(ref _last, info);
        return info;
    }

    [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = "Called only where JsonSerializer.IsReflectionEnabledByDefault, which is false in trimmed applications unless they ask for it.")]
    [UnconditionalSuppressMessage("AOT", "IL3050", Justification = "As for IL2026.")]
    private static DefaultJsonTypeInfoResolver Reflection() => new();
}
