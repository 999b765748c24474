using Cairn.Caching;
using Cairn.Caching.Protobuf;
using Cairn.Caching.Serialization;
using MemoryPack;
using MessagePack;

namespace Cairn.Benchmarks.Formats;

/// <summary>Writes and reads the catalogue in one format, as a hybrid cache does inside its envelope.</summary>
internal sealed class CatalogueCodec : IDisposable
{
    private static readonly MessagePackSerializerOptions s_untrusted = MessagePackSerializerOptions.Standard.WithSecurity(MessagePackSecurity.UntrustedData);

    private readonly Codecs _codecs;
    private readonly Codec<Catalogue> _codec;
    private readonly PooledBuffer _written = new();
    private byte[] _plain = [];
    private int _plainBytes;

    public CatalogueCodec(ValueFormat format, bool usesReflection = false)
    {
        Format = format;
        _codecs = new Codecs(new CodecOptions
        {
            Formats = new Dictionary<Type, CairnFormat> { [typeof(Catalogue)] = CairnFormatOf(format) },
            Factories = [new CairnProtobufSerializerFactory()],
            JsonResolvers = usesReflection ? [] : [CatalogueJson.Default],
            MaximumPayloadBytes = int.MaxValue,
        });
        _codec = _codecs.Of<Catalogue>();
    }

    public ValueFormat Format { get; }

    public string Name => Format switch
    {
        ValueFormat.Json => "JSON",
        ValueFormat.Xml => "XML",
        ValueFormat.BinaryXml => "binary XML",
        ValueFormat.Protobuf => "protobuf",
        _ => Format.ToString(),
    };

    /// <summary>Writes the catalogue into the codec's own buffer.</summary>
    /// <returns>The bytes written. They are valid until the next call.</returns>
    public ReadOnlyMemory<byte> Write(Catalogue value)
    {
        _written.Reset();
        switch (Format)
        {
            case ValueFormat.MemoryPack:
                MemoryPackSerializer.Serialize(_written, value);
                return _written.WrittenMemory;
            case ValueFormat.MessagePack:
                MessagePackSerializer.Serialize(_written, value, s_untrusted);
                return _written.WrittenMemory;
        }

        return _codecs.TrySerialize(_codec, value, _written)
            ? _written.WrittenMemory
            : throw new InvalidDataException($"{Name} is too long.");
    }

    public Catalogue Read(ReadOnlyMemory<byte> bytes) => Format switch
    {
        ValueFormat.MemoryPack => MemoryPackSerializer.Deserialize<Catalogue>(bytes.Span)!,
        ValueFormat.MessagePack => MessagePackSerializer.Deserialize<Catalogue>(bytes, s_untrusted),
        _ => _codec.Deserialize(bytes),
    };

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

    // The last two are written by their own libraries, as by the classes of docs/how-to/serialization.md.
    private static CairnFormat CairnFormatOf(ValueFormat format) => format switch
    {
        ValueFormat.Xml => CairnFormat.Xml,
        ValueFormat.BinaryXml => CairnFormat.Binary,
        ValueFormat.Protobuf => CairnFormat.Protobuf,
        _ => CairnFormat.Json,
    };

    public void Dispose() => _written.Dispose();
}
