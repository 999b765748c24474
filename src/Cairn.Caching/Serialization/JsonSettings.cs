using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Caching.Serialization;

// Chooses the JsonSerializerOptions of a type. The first that exist apply: the services' options for the type, the services' options for all
// types (keyed by the serializer's interface, as in Microsoft's implementation), those of the cache's options, and the ones here. Metadata
// comes from the resolvers of the cache's options, then from those of the JsonSerializerOptions, then from reflection where it is on.
internal sealed class JsonSettings(CodecOptions options)
{
    // A cache must neither omit nor refuse parts of a value.
    private static readonly JsonSerializerOptions Faithful = new()
    {
        IncludeFields = true,
        NumberHandling = JsonNumberHandling.AllowNamedFloatingPointLiterals,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    private readonly Lock _gate = new();
    private readonly Dictionary<(JsonSerializerOptions Source, bool WithFields), JsonSerializerOptions> _completed = [];

    /// <summary>Returns the metadata of the type, or null with the reason.</summary>
    public JsonTypeInfo<T>? Find<T>(out string? problem)
    {
        JsonSerializerOptions completed = Complete(OptionsOf<T>(), needsFields: HoldsTuples(typeof(T)));
        problem = null;
        try
        {
            if (completed.TryGetTypeInfo(typeof(T), out JsonTypeInfo? info))
            {
                return (JsonTypeInfo<T>)info;
            }

            problem = $"There is no serializer for {typeof(T)}, and reflection is off. " +
                "Add a JsonSerializerContext that has [JsonSerializable] for it to the cache's options, or register an IHybridCacheSerializer for it.";
        }
        catch (Exception exception) when (exception is InvalidOperationException or NotSupportedException or ArgumentException or JsonException)
        {
            problem = $"System.Text.Json cannot serialize {typeof(T)}: {exception.Message} Register an IHybridCacheSerializer for it.";
        }

        return null;
    }

    private JsonSerializerOptions OptionsOf<T>()
    {
        if (options.Services is IKeyedServiceProvider services)
        {
            object? own = services.GetKeyedService(typeof(JsonSerializerOptions), typeof(IHybridCacheSerializer<T>))
                ?? services.GetKeyedService(typeof(JsonSerializerOptions), typeof(IHybridCacheSerializer<>));
            if (own is not null)
            {
                return (JsonSerializerOptions)own;
            }
        }

        return options.Json ?? Faithful;
    }

    private JsonSerializerOptions Complete(JsonSerializerOptions source, bool needsFields)
    {
        lock (_gate)
        {
            bool withFields = needsFields && !source.IncludeFields;
            if (!_completed.TryGetValue((source, withFields), out JsonSerializerOptions? completed))
            {
                List<IJsonTypeInfoResolver?> resolvers = [.. options.JsonResolvers, source.TypeInfoResolver];
                if (JsonSerializer.IsReflectionEnabledByDefault)
                {
                    resolvers.Add(Reflection());
                }

                completed = new(source)
                {
                    IncludeFields = source.IncludeFields || needsFields,
                    TypeInfoResolver = JsonTypeInfoResolver.Combine([.. resolvers]),
                };
                completed.MakeReadOnly();
                _completed.Add((source, withFields), completed);
            }

            return completed;
        }
    }

    // The items of a value tuple are fields, which System.Text.Json would otherwise omit silently.
    private static bool HoldsTuples(Type type)
    {
        if (type.HasElementType)
        {
            return HoldsTuples(type.GetElementType()!);
        }

        return type.IsConstructedGenericType
            && ((type.IsValueType && typeof(ITuple).IsAssignableFrom(type)) || Array.Exists(type.GenericTypeArguments, HoldsTuples));
    }

    [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = "Called only where JsonSerializer.IsReflectionEnabledByDefault, which is false in trimmed applications unless they ask for it.")]
    [UnconditionalSuppressMessage("AOT", "IL3050", Justification = "As for IL2026.")]
    private static DefaultJsonTypeInfoResolver Reflection() => new();
}
