using System.Runtime.Serialization;
using System.Text;
using System.Xml;
using System.Xml.Serialization;
using Cairn.Caching.Serialization;

namespace Cairn.Caching.Tests.Serialization;

/// <summary>XML that was made to harm whoever reads it is a miss, in bounded time and memory.</summary>
public sealed class HostileXmlTests : SerializationTest
{
    [Theory]
    [InlineData("""<!DOCTYPE Node [<!ENTITY a "x">]><Node><Name>&a;</Name></Node>""")]
    [InlineData("""<!DOCTYPE Node SYSTEM "file:///etc/passwd"><Node />""")]
    [InlineData("""<!DOCTYPE Node [<!ENTITY a SYSTEM "file:///etc/passwd">]><Node><Name>&a;</Name></Node>""")]
    [InlineData("<Node><Name>&unknown;</Name></Node>")]
    [InlineData("<Node>")]
    [InlineData("<Other />")]
    [InlineData("")]
    [InlineData("{}")]
    public void Document_type_definitions_and_entities_are_refused(string xml)
    {
        Assert.Equal(EnvelopeStatus.Unreadable, ReadXml<Node>(xml));
    }

    [Fact]
    public void Depth_is_bounded()
    {
        Assert.Equal(EnvelopeStatus.Ok, ReadXml<Node>(Nested(100)));
        Assert.Equal(EnvelopeStatus.Unreadable, ReadXml<Node>(Nested(XmlLimits.MaxDepth + 1)));
        Assert.Equal(EnvelopeStatus.Unreadable, ReadXml<Node>(Nested(50_000)));

        static string Nested(int depth) => string.Concat(
            "<Node>", string.Concat(Enumerable.Repeat("<Child>", depth - 1)), string.Concat(Enumerable.Repeat("</Child>", depth - 1)), "</Node>");
    }

    [Fact]
    public void Depth_of_binary_xml_is_bounded()
    {
        Assert.Equal(EnvelopeStatus.Ok, ReadBinary<Link>(writer => WriteChain(writer, 100)));
        Assert.Equal(EnvelopeStatus.Unreadable, ReadBinary<Link>(writer => WriteChain(writer, XmlLimits.MaxDepth + 1)));
        Assert.Equal(EnvelopeStatus.Unreadable, ReadBinary<Link>(writer => WriteChain(writer, 50_000)));

        static void WriteChain(XmlDictionaryWriter writer, int depth)
        {
            writer.WriteStartElement(nameof(Link), "urn:l");
            for (int level = 1; level < depth; level++)
            {
                writer.WriteStartElement(nameof(Link.Next), "urn:l");
            }
        }
    }

    [Fact]
    public void Type_that_only_the_data_names_is_never_created()
    {
        Assert.Equal(EnvelopeStatus.Ok, ReadBinary<Link>(writer => WriteAnything(writer, "d:Link")));
        Assert.Equal(EnvelopeStatus.Unreadable, ReadBinary<Link>(writer => WriteAnything(writer, "d:Secret")));
        ReadXml<Node>("""<Node xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><Anything i:type="Secret" /></Node>""");
        Assert.Equal(0, Secret.Created);

        static void WriteAnything(XmlDictionaryWriter writer, string type)
        {
            writer.WriteStartElement(nameof(Link), "urn:l");
            writer.WriteStartElement(nameof(Link.Anything), "urn:l");
            writer.WriteAttributeString("xmlns", "d", null, "urn:l");
            writer.WriteAttributeString("i", "type", "http://www.w3.org/2001/XMLSchema-instance", type);
            writer.WriteEndElement();
        }
    }

    [Fact]
    public void Announced_size_of_an_array_is_not_allocated()
    {
        Assert.Equal(EnvelopeStatus.Ok, ReadBinary<Link>(writer => WriteArray(writer, 2)));
        long before = GC.GetAllocatedBytesForCurrentThread();

        ReadBinary<Link>(writer => WriteArray(writer, 2_000_000_000));

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 32 << 20);

        static void WriteArray(XmlDictionaryWriter writer, int size)
        {
            writer.WriteStartElement(nameof(Link), "urn:l");
            writer.WriteStartElement(nameof(Link.Pages), "urn:l");
            writer.WriteAttributeString("z", "Size", "http://schemas.microsoft.com/2003/10/Serialization/", $"{size}");
            writer.WriteElementString("long", "http://schemas.microsoft.com/2003/10/Serialization/Arrays", "1");
            writer.WriteElementString("long", "http://schemas.microsoft.com/2003/10/Serialization/Arrays", "2");
            writer.WriteEndElement();
        }
    }

    [Fact]
    public void Value_deeper_than_is_read_is_the_same_limit_for_json_when_it_is_written()
    {
        var deep = new List<object>();
        for (int level = 0; level < 100; level++)
        {
            deep = [deep];
        }

        Assert.Throws<System.Text.Json.JsonException>(() => Write(deep));
    }

    private static EnvelopeStatus ReadXml<T>(string xml) => Read<T>(EnvelopeOf<T>(Encoding.UTF8.GetBytes(xml)), out _);

    private static EnvelopeStatus ReadBinary<T>(Action<XmlDictionaryWriter> write)
    {
        using var stream = new MemoryStream();
        using (XmlDictionaryWriter writer = XmlDictionaryWriter.CreateBinaryWriter(stream, null, null, ownsStream: false))
        {
            write(writer);
        }

        // No names behind the document: it has its own.
        return Read<T>(EnvelopeOf<T>([.. stream.ToArray(), 0, 0, 0, 0]), out _);
    }

    [Theory]
    [InlineData("00000000")]
    [InlineData("FFFFFFFF")]
    [InlineData("05000000")]
    [InlineData("0000")]
    [InlineData("")]
    [InlineData("8080808080808001" + "08000000")]
    [InlineData("7F41" + "02000000")]
    public void Names_behind_a_binary_document_that_are_damaged_make_it_unreadable(string end)
    {
        Assert.Equal(EnvelopeStatus.Unreadable, Read<Link>(EnvelopeOf<Link>(Convert.FromHexString(end)), out _));
    }

    [Fact]
    public void Each_name_of_a_binary_document_is_written_once()
    {
        var chain = new Link();
        for (int i = 0; i < 20; i++)
        {
            chain = new Link { Next = chain };
        }

        using var buffer = new PooledBuffer();
        Default.TrySerialize(Default.Of<Link>(), chain, buffer);

        Assert.Equal(1, buffer.WrittenSpan.Count("Next"u8));
    }

    private static byte[] EnvelopeOf<T>(byte[] payload)
    {
        using var buffer = new PooledBuffer();
        Codec<T> codec = Default.Of<T>();
        Assert.True(Default.TryWrite(buffer, Key, PlainHeader, new LocalPayload(payload, codec.Format, codec.TypeId)));
        return buffer.WrittenSpan.ToArray();
    }

    [CairnSerializer(CairnFormat.Xml)]
    [XmlRoot("Node")]
    public sealed class Node
    {
        public string? Name { get; set; }

        public Node? Child { get; set; }

        public object? Anything { get; set; }
    }

    [DataContract(Name = "Link", Namespace = "urn:l")]
    [CairnSerializer(CairnFormat.Binary)]
    public sealed class Link
    {
        [DataMember]
        public object? Anything { get; set; }

        [DataMember]
        public Link? Next { get; set; }

        [DataMember]
        public long[]? Pages { get; set; }
    }

    [DataContract(Name = "Secret", Namespace = "urn:l")]
    public sealed class Secret
    {
        public Secret() => Created++;

        public static int Created { get; private set; }
    }
}
