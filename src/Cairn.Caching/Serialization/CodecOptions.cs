using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Serialization;

/// <summary>How values of one cache are serialized: what its public options come to.</summary>
internal sealed record CodecOptions
{
    /// <summary>1 MiB, as in Microsoft's implementation.</summary>
    public const int DefaultMaximumPayloadBytes = 1 << 20;

    // Below, compressing takes as long as serializing does, to save bytes that fit into two pages.
    public const int DefaultCompressionThresholdBytes = 4096;

    // JSON of 4 to 40 KB becomes a third; quality 0 saves a few percent less, 2 a few more in up to twice the time.
    public const int DefaultCompressionQuality = 1;

    /// <summary>Brotli's own.</summary>
    public const int HighestCompressionQuality = 11;

    /// <summary>Where serializers and Microsoft's keyed JsonSerializerOptions are looked up.</summary>
    public IServiceProvider? Services { get; init; }

    /// <summary>Each an <see cref="IHybridCacheSerializer{T}"/> of some type. The last for a type wins, and over those of <see cref="Services"/>.</summary>
    public IReadOnlyList<object> Serializers { get; init; } = [];

    /// <summary>Asked from the last to the first, before those of <see cref="Services"/>.</summary>
    public IReadOnlyList<IHybridCacheSerializerFactory> Factories { get; init; } = [];

    /// <summary>Formats of types by the application's choice, which wins over their <see cref="CairnSerializerAttribute"/>.</summary>
    public IReadOnlyDictionary<Type, CairnFormat> Formats { get; init; } = new Dictionary<Type, CairnFormat>();

    /// <summary>For types for which the services have no options of their own; null for those of <see cref="JsonSettings"/>.</summary>
    public JsonSerializerOptions? Json { get; init; }

    /// <summary>Source-generated contexts and the like, asked first to last before what the options have.</summary>
    public IReadOnlyList<IJsonTypeInfoResolver> JsonResolvers { get; init; } = [];

    /// <summary>True if all objects may be given to many callers.</summary>
    public bool ShareAllTypes { get; init; }

    /// <summary>Types whose objects may be given to many callers although nothing in the type says so.</summary>
    public IReadOnlySet<Type> ShareableTypes { get; init; } = new HashSet<Type>();

    /// <summary>The longest payload, before compression.</summary>
    public int MaximumPayloadBytes { get; init; } = DefaultMaximumPayloadBytes;

    public bool DisableCompression { get; init; }

    /// <summary>Payloads from this length on are compressed, and kept so if it saves an eighth.</summary>
    public int CompressionThresholdBytes { get; init; } = DefaultCompressionThresholdBytes;

    /// <summary>0 to 11, as Brotli has it.</summary>
    public int CompressionQuality { get; init; } = DefaultCompressionQuality;
}
