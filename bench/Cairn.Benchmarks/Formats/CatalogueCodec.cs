using Cairn.Caching;
using Cairn.Caching.Protobuf;
using Cairn.Caching.Serialization;

namespace Cairn.Benchmarks.Formats;

/// <summary>Writes and reads the catalogue in one format, as a hybrid cache does inside its envelope.</summary>
internal sealed class CatalogueCodec : IDisposable
{
    private readonly Codecs _codecs;
    private readonly Codec<Catalogue> _codec;
    private readonly PooledBuffer _written = new();
    private byte[] _plain = [];
    private int _plainBytes;

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

    /// <summary>Writes the catalogue into the codec's own buffer.</summary>
    /// <returns>The bytes written. They are valid until the next call.</returns>
    public ReadOnlyMemory<byte> Write(Catalogue value)
    {
        _written.Reset();
        return _codecs.TrySerialize(_codec, value, _written)
            ? _written.WrittenMemory
            : throw new InvalidDataException($"{Name} is too long.");
    }

    public Catalogue Read(ReadOnlyMemory<byte> bytes) => _codec.Deserialize(bytes);

    /// <summary>Writes the catalogue and compresses it as the cache does.</summary>
    /// <returns>The compressed bytes. They are valid until the next call.</returns>
    public ReadOnlyMemory<byte> WriteCompressed(Catalogue value)
    {
        _plainBytes = Write(value).Length;
        return Compression.TryCompress(_written, 0, _codecs.Options.CompressionQuality)
            ? _written.WrittenMemory
            : throw new InvalidDataException($"{Name} does not become shorter.");
    }

    /// <summary>Reads what <see cref="WriteCompressed"/> wrote last.</summary>
    public Catalogue ReadCompressed(ReadOnlyMemory<byte> bytes)
    {
        if (_plain.Length < _plainBytes)
        {
            _plain = new byte[_plainBytes];
        }

        return Compression.TryDecompress(bytes.Span, _plain.AsSpan(0, _plainBytes))
            ? Read(_plain.AsMemory(0, _plainBytes))
            : throw new InvalidDataException($"{Name} is not what was written.");
    }

    public void Dispose() => _written.Dispose();
}
