using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Serialization;

/// <summary>The serialization options of one cache, derived from its public options.</summary>
internal sealed record CodecOptions
{
    /// <summary>1 MiB, as in Microsoft's implementation.</summary>
    public const int DefaultMaximumPayloadBytes = 1 << 20;

    // Below this length, compression takes as long as serialization, and saves bytes that fit into two pages.
    public const int DefaultCompressionThresholdBytes = 4096;

    // JSON of 4 to 40 KB shrinks to a third. Quality 0 saves a few per cent less; quality 2 saves a few more in up to twice the time.
    public const int DefaultCompressionQuality = 1;

    /// <summary>The highest quality of Brotli.</summary>
    public const int HighestCompressionQuality = 11;

    /// <summary>The source of serializers and of Microsoft's keyed JsonSerializerOptions.</summary>
    public IServiceProvider? Services { get; init; }

    /// <summary>
    /// Serializers, each an <see cref="IHybridCacheSerializer{T}"/> of a type. The last one for a type applies, before those of
    /// <see cref="Services"/>.
    /// </summary>
    public IReadOnlyList<object> Serializers { get; init; } = [];

    /// <summary>Factories of serializers, tried from the last to the first, before those of <see cref="Services"/>.</summary>
    public IReadOnlyList<IHybridCacheSerializerFactory> Factories { get; init; } = [];

    /// <summary>Formats of types that the application sets, which override their <see cref="CairnSerializerAttribute"/>.</summary>
    public IReadOnlyDictionary<Type, CairnFormat> Formats { get; init; } = new Dictionary<Type, CairnFormat>();

    /// <summary>The JSON options of types for which the services have none; null for those of <see cref="JsonSettings"/>.</summary>
    public JsonSerializerOptions? Json { get; init; }

    /// <summary>Resolvers such as source-generated contexts, tried from first to last before those of the JSON options.</summary>
    public IReadOnlyList<IJsonTypeInfoResolver> JsonResolvers { get; init; } = [];

    /// <summary>Called once for each type that has attributes for XML and is written as JSON, because the framework cannot create it.</summary>
    public Action<Type>? OnJsonInsteadOfXml { get; init; }

    /// <summary>True if many callers may receive the same object, of any type.</summary>
    public bool ShareAllTypes { get; init; }

    /// <summary>Types whose objects many callers may receive although the type does not declare it.</summary>
    public IReadOnlySet<Type> ShareableTypes { get; init; } = new HashSet<Type>();

    /// <summary>The longest payload in bytes, before compression.</summary>
    public int MaximumPayloadBytes { get; init; } = DefaultMaximumPayloadBytes;

    public bool DisableCompression { get; init; }

    /// <summary>The length in bytes from which payloads are compressed. The compressed form is kept if it saves an eighth.</summary>
    public int CompressionThresholdBytes { get; init; } = DefaultCompressionThresholdBytes;

    /// <summary>The Brotli quality, 0 to 11.</summary>
    public int CompressionQuality { get; init; } = DefaultCompressionQuality;
}
