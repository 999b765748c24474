using System.Xml;
using System.Xml.Serialization;

namespace Cairn.Caching.Serialization;

/// <summary>The framework's XmlSerializer, as UTF-8 without declaration or indentation.</summary>
[RequiresUnreferencedCode("XmlSerializer looks at the members of types at run time.")]
[RequiresDynamicCode("XmlSerializer makes code at run time.")]
internal sealed class XmlCodec<T>(CodecOptions options) : Codec<T>(options)
{
    // Created once, when it is needed, because the creation compiles code for the type.
    private readonly Lazy<XmlSerializer> _serializer = new(() => new XmlSerializer(typeof(T)));

    public override byte Format => (byte)CairnFormat.Xml;

    public override string? Problem
    {
        get
        {
            try
            {
                _ = _serializer.Value;
                return null;
            }
            catch (Exception exception) when (exception is InvalidOperationException or NotSupportedException)
            {
                return $"XmlSerializer cannot serialize {typeof(T)}: {(exception.InnerException ?? exception).Message}";
            }
        }
    }

    public override void Serialize(T value, IBufferWriter<byte> target)
    {
        using var stream = new BufferStream(target);
        using var writer = XmlDictionaryWriter.CreateTextWriter(stream, System.Text.Encoding.UTF8, ownsStream: false);
        _serializer.Value.Serialize(writer, value);
    }

    public override T Deserialize(ReadOnlyMemory<byte> source)
    {
        XmlTextScan.Check(source.Span);
        ArraySegment<byte> array = XmlLimits.ArrayOf(source);
        using var reader = XmlDictionaryReader.CreateTextReader(
            array.Array!, array.Offset, array.Count, System.Text.Encoding.UTF8, XmlLimits.QuotasOf(array.Count), onClose: null);
        return (T)_serializer.Value.Deserialize(reader)!;
    }
}
