using System.Globalization;
using System.Runtime.Serialization;
using System.Text;
using System.Xml;
using System.Xml.Serialization;
using Cairn.Caching.Serialization;

namespace Cairn.Caching.Tests.Serialization;

/// <summary>XML made to attack its reader is a miss, in bounded time and memory.</summary>
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

    [Theory]
    [InlineData(true, 1, 250, 0)]
    [InlineData(true, 1, 0, 250)]
    [InlineData(true, 50, 2, 2)]
    [InlineData(false, 1, XmlLimits.MaxAttributes + 1, 0)]
    [InlineData(false, 1, 0, XmlLimits.MaxAttributes + 1)]
    [InlineData(false, 100, 3, 3)]
    [InlineData(false, 1, 10_000, 0)]
    [InlineData(false, 1, 0, 10_000)]
    public void Attributes_and_namespaces_that_are_open_at_once_are_bounded(bool isRead, int levels, int attributes, int namespaces)
    {
        var xml = new StringBuilder();
        for (int level = 0; level < levels; level++)
        {
            xml.Append(level == 0 ? "<Node" : "<Child");
            for (int i = 0; i < attributes; i++)
            {
                xml.Append(CultureInfo.InvariantCulture, $" a{i}='v'");
            }

            for (int i = 0; i < namespaces; i++)
            {
                xml.Append(CultureInfo.InvariantCulture, $" xmlns:n{i}=\"urn:{i}\"");
            }

            xml.Append('>');
        }

        xml.Append(string.Concat(Enumerable.Repeat("</Child>", levels - 1))).Append("</Node>");

        EnvelopeStatus expected = isRead ? EnvelopeStatus.Ok : EnvelopeStatus.Unreadable;
        Assert.Equal(expected, ReadXml<Node>(xml.ToString()));
        Assert.Equal(expected, ReadBinary<Link>(writer => WriteLevels(writer, levels, attributes, namespaces)));

        static void WriteLevels(XmlDictionaryWriter writer, int levels, int attributes, int namespaces)
        {
            for (int level = 0; level < levels; level++)
            {
                writer.WriteStartElement(level == 0 ? nameof(Link) : nameof(Link.Next), "urn:l");
                for (int i = level == 0 ? 1 : 0; i < namespaces; i++)
                {
                    writer.WriteXmlnsAttribute($"n{i}", $"urn:{i}"); // The first level has a namespace of its own.
                }

                for (int i = 0; i < attributes; i++)
                {
                    writer.WriteAttributeString($"a{i}", "v");
                }
            }
        }
    }

    [Fact]
    public void Attributes_of_elements_that_have_ended_do_not_count()
    {
        string siblings = string.Concat(Enumerable.Repeat("<Other a='1' b='2' xmlns:c='3'/><Other a='>' b=\"!-- = --\"></Other>", 5_000));

        Assert.Equal(EnvelopeStatus.Ok, ReadXml<Node>($"<Node>{siblings}<Name>Dune</Name></Node>"));
        Assert.Equal(EnvelopeStatus.Ok, ReadBinary<Link>(writer =>
        {
            writer.WriteStartElement(nameof(Link), "urn:l");
            for (int i = 0; i < 5_000; i++)
            {
                writer.WriteStartElement("Other", "urn:o");
                writer.WriteAttributeString("a", "1");
                writer.WriteAttributeString("b", "urn:b", "2");
                writer.WriteEndElement();
            }
        }));
    }

    [Theory]
    [InlineData("a=b > \"c\" 'd' ]]> & = = = <")]
    [InlineData("<Node a=\"1\" b='2'><!-- <![CDATA[ --></Node>")]
    [InlineData("-->")]
    public void Text_that_looks_like_tags_comes_back(string text)
    {
        using var buffer = new PooledBuffer();
        Default.TrySerialize(Default.Of<Node>(), new Node { Name = text }, buffer);
        Assert.Equal(EnvelopeStatus.Ok, Read(EnvelopeOf<Node>(buffer.WrittenSpan.ToArray()), out Node? node));
        Assert.Equal(text, node!.Name);

        string section = text.Replace("]]>", "]]]]><![CDATA[>", StringComparison.Ordinal);
        Assert.Equal(
            EnvelopeStatus.Ok,
            Read(EnvelopeOf<Node>(Encoding.UTF8.GetBytes($"<?xml version='1.0'?><!-- a='<' --><Node><Name><![CDATA[{section}]]></Name></Node>")), out node));
        Assert.Equal(text, node!.Name);
    }

    [Fact]
    public void Every_value_that_a_contract_may_have_passes_the_limits_of_binary_xml()
    {
        var all = new Everything
        {
            Text = new string('x', 70_000), Short = "s", Bytes = new byte[70_000], FewBytes = [1, 2], Flags = [true, false], Shorts = [1, 2], Ints = [1, 2],
            Longs = [1, 2], Floats = [1, 2], Doubles = [1, 2], Decimals = [1, 2], Dates = [new DateTime(2030, 1, 1, 0, 0, 0, DateTimeKind.Utc)], Ids = [Guid.NewGuid()],
            Times = [TimeSpan.FromDays(1)], One = 1, Zero = 0, Yes = true, Number = ulong.MaxValue, Small = sbyte.MinValue, Letter = 'x', Any = 5L,
            Names = new Dictionary<string, long>(StringComparer.Ordinal) { ["a"] = 1, ["b"] = 300 }, Unicode = "\u20AC\u4E2D",
        };

        using var buffer = new PooledBuffer();
        Default.TrySerialize(Default.Of<Everything>(), all, buffer);

        Assert.Equal(EnvelopeStatus.Ok, Read(EnvelopeOf<Everything>(buffer.WrittenSpan.ToArray()), out Everything? read));
        Assert.Equivalent(all, read, strict: true);
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

        // No names after the document, because it contains its own.
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

    [DataContract(Namespace = "urn:l")]
    [CairnSerializer(CairnFormat.Binary)]
    public sealed class Everything
    {
        [DataMember]
        public string? Text { get; set; }

        [DataMember]
        public string? Short { get; set; }

        [DataMember]
        public string? Unicode { get; set; }

        [DataMember]
        public byte[]? Bytes { get; set; }

        [DataMember]
        public byte[]? FewBytes { get; set; }

        [DataMember]
        public bool[]? Flags { get; set; }

        [DataMember]
        public short[]? Shorts { get; set; }

        [DataMember]
        public int[]? Ints { get; set; }

        [DataMember]
        public long[]? Longs { get; set; }

        [DataMember]
        public float[]? Floats { get; set; }

        [DataMember]
        public double[]? Doubles { get; set; }

        [DataMember]
        public decimal[]? Decimals { get; set; }

        [DataMember]
        public DateTime[]? Dates { get; set; }

        [DataMember]
        public Guid[]? Ids { get; set; }

        [DataMember]
        public TimeSpan[]? Times { get; set; }

        [DataMember]
        public int One { get; set; }

        [DataMember]
        public long Zero { get; set; }

        [DataMember]
        public bool Yes { get; set; }

        [DataMember]
        public ulong Number { get; set; }

        [DataMember]
        public sbyte Small { get; set; }

        [DataMember]
        public char Letter { get; set; }

        [DataMember]
        public object? Any { get; set; }

        [DataMember]
        public Dictionary<string, long>? Names { get; set; }
    }

    [DataContract(Name = "Secret", Namespace = "urn:l")]
    public sealed class Secret
    {
        public Secret() => Created++;

        public static int Created { get; private set; }
    }
}
