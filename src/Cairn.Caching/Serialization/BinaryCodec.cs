using System.Runtime.Serialization;
using System.Xml;

namespace Cairn.Caching.Serialization;

/// <summary>
/// The framework's DataContractSerializer as binary XML that contains each name once (<see cref="BinaryNames"/>). Types come from the
/// contract and its known types, never from the data.
/// </summary>
[RequiresUnreferencedCode("DataContractSerializer looks at the members of types at run time.")]
[RequiresDynamicCode("DataContractSerializer makes code at run time.")]
internal sealed class BinaryCodec<T>(CodecOptions options) : Codec<T>(options)
{
    // Written values are the application's own, so the writer has no limit of objects; the limit of bytes applies.
    private readonly Lazy<DataContractSerializer> _writer = new(() => new(typeof(T)));

    // Each object takes at least one byte. Arrays are allocated only after their number of elements was checked against this limit.
    private readonly Lazy<DataContractSerializer> _reader = new(() => new(
        typeof(T), new DataContractSerializerSettings { MaxItemsInObjectGraph = options.MaximumPayloadBytes }));

    public override byte Format => (byte)CairnFormat.Binary;

    public override void Serialize(T value, IBufferWriter<byte> target)
    {
        var names = new BinaryNames();
        using (var stream = new BufferStream(target))
        using (var writer = XmlDictionaryWriter.CreateBinaryWriter(stream, dictionary: null, names, ownsStream: false))
        {
            _writer.Value.WriteObject(writer, value);
        }

        names.WriteTo(target);
    }

    public override T Deserialize(ReadOnlyMemory<byte> source)
    {
        XmlBinaryReaderSession names = BinaryNames.Read(source.Span, out int documentBytes);
        XmlBinaryScan.Check(source.Span[..documentBytes]);
        ArraySegment<byte> array = XmlLimits.ArrayOf(source[..documentBytes]);
        using var reader = XmlDictionaryReader.CreateBinaryReader(
            array.Array!, array.Offset, array.Count, dictionary: null, XmlLimits.QuotasOf(array.Count), names);
        return (T)_reader.Value.ReadObject(reader, verifyObjectName: true)!;
    }
}
