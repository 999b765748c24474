using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Cairn.Caching.Serialization;

// Metadata is created at the first use: it is never needed where objects are shared and there is no second level.
internal sealed class JsonCodec<T>(JsonSettings settings, CodecOptions options) : Codec<T>(options)
{
    private Found? _found;

    public override byte Format => (byte)CairnFormat.Json;

    public override string? Problem => Find().Problem;

    public override void Serialize(T value, IBufferWriter<byte> target)
    {
        JsonTypeInfo<T> info = Info();
        Utf8JsonWriter writer = JsonWriters.Take(target, info.Options);
        try
        {
            JsonSerializer.Serialize(writer, value, info);
            writer.Flush();
        }
        finally
        {
            JsonWriters.Return(writer, info.Options);
        }
    }

    public override T Deserialize(ReadOnlyMemory<byte> source) => JsonSerializer.Deserialize(source.Span, Info())!;

    private JsonTypeInfo<T> Info()
    {
        (JsonTypeInfo<T>? info, string? problem) = Find();
        return info ?? throw new InvalidOperationException(problem);
    }

    private Found Find()
    {
        // A concurrent second search is harmless.
        if (_found is not { } found)
        {
            _found = found = new(settings.Find<T>(out string? problem), problem);
        }

        return found;
    }

    private sealed record Found(JsonTypeInfo<T>? Info, string? Problem);
}

/// <summary>Keeps one writer for each thread: creating one costs more than writing a small object.</summary>
internal static class JsonWriters
{
    [ThreadStatic]
    private static Utf8JsonWriter? t_writer;

    [ThreadStatic]
    private static JsonSerializerOptions? t_options;

    public static Utf8JsonWriter Take(IBufferWriter<byte> target, JsonSerializerOptions options)
    {
        Utf8JsonWriter? writer = t_writer;
        if (writer is null || t_options != options)
        {
            // The content comes from a serializer, which writes valid JSON.
            return new(target, new JsonWriterOptions { Encoder = options.Encoder, MaxDepth = options.MaxDepth, SkipValidation = true });
        }

        // Removed while it is in use: a converter may use the cache, which may serialize.
        t_writer = null;
        writer.Reset(target);
        return writer;
    }

    public static void Return(Utf8JsonWriter writer, JsonSerializerOptions options)
    {
        // Releases the target, and the content that was not flushed because of an exception.
        writer.Reset(NoTarget.Instance);
        t_writer = writer;
        t_options = options;
    }

    private sealed class NoTarget : IBufferWriter<byte>
    {
        public static readonly NoTarget Instance = new();

        public void Advance(int count) => throw new NotSupportedException();

        public Memory<byte> GetMemory(int sizeHint = 0) => throw new NotSupportedException();

        public Span<byte> GetSpan(int sizeHint = 0) => throw new NotSupportedException();
    }
}
