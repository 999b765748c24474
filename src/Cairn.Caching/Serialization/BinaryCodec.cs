using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.Serialization;
using System.Xml;

namespace Cairn.Caching.Serialization;

/// <summary>The framework's DataContractSerializer as binary XML. Types come from the contract and its known types, never from the data.</summary>
[RequiresUnreferencedCode("DataContractSerializer looks at the members of types at run time.")]
[RequiresDynamicCode("DataContractSerializer makes code at run time.")]
internal sealed class BinaryCodec<T>(CodecOptions options) : Codec<T>(options)
{
    private readonly Lazy<DataContractSerializer> _serializer = new(() => new(typeof(T), new DataContractSerializerSettings
    {
        // Each object takes at least a byte.
        MaxItemsInObjectGraph = options.MaximumPayloadBytes,
    }));

    public override byte Format => (byte)CairnFormat.Binary;

    public override void Serialize(T value, IBufferWriter<byte> target)
    {
        using var stream = new BufferStream(target);
        using var writer = XmlDictionaryWriter.CreateBinaryWriter(stream, dictionary: null, session: null, ownsStream: false);
        _serializer.Value.WriteObject(writer, value);
    }

    public override T Deserialize(ReadOnlyMemory<byte> source)
    {
        ArraySegment<byte> array = XmlLimits.ArrayOf(source);
        using var reader = XmlDictionaryReader.CreateBinaryReader(array.Array!, array.Offset, array.Count, dictionary: null, XmlLimits.QuotasOf(array.Count));
        return (T)_serializer.Value.ReadObject(reader, verifyObjectName: true)!;
    }
}
