using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;

namespace Cairn.Maps;

// The codec for types without a built-in format. It writes the JSON of System.Text.Json.
internal sealed class MapJsonCodec<T> : MapCodec<T>
{
    // The settings for maps: no part of a value is left out or refused.
    private static readonly JsonSerializerOptions Faithful = new()
    {
        IncludeFields = true,
        NumberHandling = JsonNumberHandling.AllowNamedFloatingPointLiterals,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    [ThreadStatic]
    private static Utf8JsonWriter? t_writer;

    [ThreadStatic]
    private static MapJsonCodec<T>? t_writerOf;

    private readonly JsonTypeInfo<T> _info;
    private readonly JsonWriterOptions _writerOptions;

    /// <summary>Creates a codec with the given settings, or with the settings above.</summary>
    /// <exception cref="InvalidOperationException">There is no metadata for the type, or it cannot be serialized.</exception>
    public MapJsonCodec(JsonSerializerOptions? options)
    {
        options ??= Faithful;
        _info = InfoFrom(options);

        // A serializer writes the objects, and its JSON is always valid.
        _writerOptions = new JsonWriterOptions { Encoder = options.Encoder, MaxDepth = options.MaxDepth, SkipValidation = true };
    }

    public override string FormatId => "json";

    public override ReadOnlySpan<byte> Write(T value, Span<byte> scratch, scoped ref PooledWriter? writer)
    {
        ArgumentNullException.ThrowIfNull(value);
        writer = PooledWriter.Take();

        // The writer is taken away while it is used, because a converter can use a map. A new writer is created if two maps of one type alternate, which is
        // rare.
        Utf8JsonWriter json = t_writer is { } free && t_writerOf == this ? free : new Utf8JsonWriter(writer, _writerOptions);
        t_writer = null;
        json.Reset(writer);
        try
        {
            JsonSerializer.Serialize(json, value, _info);
            json.Flush();
            return writer.Written;
        }
        finally
        {
            // Drops unflushed data after an exception. The writer keeps a reference to a buffer of this thread, which stays in memory anyway.
            json.Reset();
            t_writer = json;
            t_writerOf = this;
        }
    }

    public override T Read(ReadOnlySpan<byte> source) =>
        JsonSerializer.Deserialize(source, _info)
        ?? throw new InvalidDataException($"A {typeof(T)} in a map is null as JSON. It was not written by the map.");

    private static JsonTypeInfo<T> InfoFrom(JsonSerializerOptions options)
    {
        if (options.TypeInfoResolver is null && MapReflection.IsAllowed)
        {
            options = new JsonSerializerOptions(options) { TypeInfoResolver = new DefaultJsonTypeInfoResolver() };
        }

        try
        {
            if (options.TypeInfoResolver is not null && options.TryGetTypeInfo(typeof(T), out JsonTypeInfo? info))
            {
                return (JsonTypeInfo<T>)info;
            }
        }
        catch (Exception exception) when (exception is InvalidOperationException or NotSupportedException or ArgumentException or JsonException)
        {
            throw new InvalidOperationException(
                $"System.Text.Json cannot serialize {typeof(T)}: {exception.Message} Give the map's options an {nameof(IMapSerializer<>)} for it.", exception);
        }

        throw new InvalidOperationException(
            $"There is no JSON metadata for {typeof(T)}, and reflection is off. Set the map's {nameof(MapOptions<,>.JsonOptions)} to the Options of a " +
            $"JsonSerializerContext that has [JsonSerializable] for it, or give it an {nameof(IMapSerializer<>)}.");
    }
}
