using Cairn.Caching;
using Cairn.Caching.Protobuf;
using Cairn.Caching.Serialization;
using Cairn.Cli;

namespace Cairn.Benchmarks.Formats;

/// <summary>Writes and reads the catalogue in one format, as a hybrid cache does within its envelope.</summary>
internal sealed class CatalogueCodec : IDisposable
{
    private readonly Codecs _codecs;
    private readonly Codec<Catalogue> _codec;
    private readonly PooledBuffer _written = new();

    public CatalogueCodec(CairnFormat format)
    {
        Format = format;
        _codecs = new Codecs(new CodecOptions
        {
            Formats = new Dictionary<Type, CairnFormat> { [typeof(Catalogue)] = format },
            Factories = [new CairnProtobufSerializerFactory()],
            JsonResolvers = [CatalogueJson.Default],
            MaximumPayloadBytes = int.MaxValue,
        });
        _codec = _codecs.Of<Catalogue>();
    }

    public CairnFormat Format { get; }

    public string Name => Format switch
    {
        CairnFormat.Json => "JSON",
        CairnFormat.Xml => "XML",
        CairnFormat.Binary => "binary XML",
        _ => "protobuf",
    };

    /// <summary>Writes into the codec's own buffer.</summary>
    /// <returns>What was written, until the next call.</returns>
    public ReadOnlyMemory<byte> Write(Catalogue value)
    {
        _written.Reset();
        return _codecs.TrySerialize(_codec, value, _written)
            ? _written.WrittenMemory
            : throw new InvalidDataException($"{Name} is too long.");
    }

    public Catalogue Read(ReadOnlyMemory<byte> bytes) => _codec.Deserialize(bytes);

    /// <summary>How long <paramref name="value"/> is once compressed as the cache compresses it.</summary>
    public int CompressedBytes(Catalogue value)
    {
        Write(value);
        return Compression.TryCompress(_written, 0, _codecs.Options.CompressionQuality)
            ? _written.WrittenBytes
            : throw new InvalidDataException($"{Name} does not become shorter.");
    }

    public void Dispose() => _written.Dispose();
}
