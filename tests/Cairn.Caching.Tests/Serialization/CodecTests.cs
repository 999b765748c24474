using System.Globalization;
using System.Net;
using System.Runtime.Serialization;
using System.Xml;
using System.Xml.Linq;
using System.Xml.Schema;
using System.Xml.Serialization;
using Cairn.Caching.Serialization;

namespace Cairn.Caching.Tests.Serialization;

/// <summary>Values of all kinds are read as they were written.</summary>
public sealed class CodecTests : SerializationTest
{
    public enum Small : byte
    {
        None,
        Most = 255,
    }

    public enum Signed : sbyte
    {
        Least = -128,
        None = 0,
    }

    public enum Wide : long
    {
        Least = long.MinValue,
        None = 0,
        Most = long.MaxValue,
    }

    // Not theory data, because the test attribute would replace halves of surrogate pairs.
    [Fact]
    public void Text_comes_back_even_if_it_is_no_valid_unicode()
    {
        foreach (string text in new[] { "", "Dune", "Ürdü 東京 🏜", "\0", "\uFEFFmark", "half \uD83C of a pair", "\uDC00", "ÿþ" })
        {
            Assert.Equal(text, RoundTrip(text));
            Assert.Equal(text + new string('y', 5000), RoundTrip(text + new string('y', 5000)));
        }
    }

    [Fact]
    public void Text_is_stored_as_utf8_without_anything_around_it()
    {
        Assert.Equal("Ürdü"u8, Serialized("Ürdü"));
        Assert.Equal(new byte[] { 0xFF, 0x00, 0xD8 }, Serialized("\uD800"));
    }

    [Fact]
    public void Bytes_come_back_as_a_copy()
    {
        byte[] bytes = TestBytes.Of(1000);

        Assert.Equal(bytes, RoundTrip(bytes));
        Assert.Empty(RoundTrip(Array.Empty<byte>())!);
        Assert.Equal(bytes, RoundTrip<ReadOnlyMemory<byte>>(bytes).ToArray());
    }

    [Fact]
    public void Numbers_times_and_similar_values_return_at_their_limits()
    {
        ComesBack(false, true);
        ComesBack(byte.MinValue, byte.MaxValue);
        ComesBack(sbyte.MinValue, sbyte.MaxValue);
        ComesBack(short.MinValue, short.MaxValue);
        ComesBack(ushort.MinValue, ushort.MaxValue);
        ComesBack(int.MinValue, -1, int.MaxValue);
        ComesBack(uint.MinValue, uint.MaxValue);
        ComesBack(long.MinValue, long.MaxValue);
        ComesBack(ulong.MinValue, ulong.MaxValue);
        ComesBack(Int128.MinValue, Int128.MaxValue);
        ComesBack(UInt128.MinValue, UInt128.MaxValue);
        ComesBack(Half.NaN, Half.MinValue, Half.MaxValue);
        ComesBack(float.NaN, float.NegativeInfinity, float.Epsilon, -0f);
        ComesBack(double.NaN, double.PositiveInfinity, double.Epsilon, -0d);
        ComesBack(decimal.MinValue, decimal.MaxValue, 1.00m, -0.0000001m);
        ComesBack('\0', '\uD800', char.MaxValue);
        ComesBack(Guid.Empty, new Guid("00112233-4455-6677-8899-aabbccddeeff"));
        ComesBack(TimeSpan.MinValue, TimeSpan.MaxValue);
        ComesBack(DateOnly.MinValue, DateOnly.MaxValue);
        ComesBack(TimeOnly.MinValue, TimeOnly.MaxValue);
        ComesBack(DateTimeOffset.MinValue, DateTimeOffset.MaxValue, new DateTimeOffset(2026, 1, 2, 3, 4, 5, TimeSpan.FromHours(-14)));
    }

    [Fact]
    public void Scale_of_a_decimal_comes_back()
    {
        Assert.Equal("1.00", RoundTrip(1.00m).ToString(CultureInfo.InvariantCulture));
    }

    [Theory]
    [InlineData(DateTimeKind.Unspecified)]
    [InlineData(DateTimeKind.Utc)]
    [InlineData(DateTimeKind.Local)]
    public void Kind_of_a_time_comes_back(DateTimeKind kind)
    {
        var time = new DateTime(2026, 7, 1, 12, 0, 0, kind);

        DateTime read = RoundTrip(time);

        Assert.Equal(time, read);
        Assert.Equal(kind, read.Kind);
    }

    [Fact]
    public void Enumerations_come_back_with_values_that_have_no_name()
    {
        ComesBack(Small.None, Small.Most, (Small)7);
        ComesBack(Signed.Least, Signed.None, (Signed)(-1));
        ComesBack(Wide.Least, Wide.None, Wide.Most);
        ComesBack(DayOfWeek.Saturday, (DayOfWeek)(-1));
        ComesBack(TypeCode.Empty);
        Assert.Single(Serialized(Small.Most));
        Assert.Equal(Serialized(Signed.Least), Serialized<Signed?>(Signed.Least));
    }

    [Fact]
    public void Addresses_and_versions_come_back()
    {
        Assert.Equal("http://example.org/ü?q=1#f", RoundTrip(new Uri("http://example.org/ü?q=1#f"))!.OriginalString);
        Assert.Equal("a/b", RoundTrip(new Uri("a/b", UriKind.Relative))!.OriginalString);
        Assert.Equal(new Version(1, 2), RoundTrip(new Version(1, 2)));
        Assert.Equal(new Version(1, 2, 3, 4), RoundTrip(new Version(1, 2, 3, 4)));
    }

    [Fact]
    public void Objects_come_back_with_fields_and_unusual_numbers()
    {
        var value = new Holder { Text = "<\u0001é>", Numbers = [double.NaN, double.NegativeInfinity, 0.1], Field = 7 };

        Holder read = RoundTrip(value)!;

        Assert.NotSame(value, read);
        Assert.Equal(value.Text, read.Text);
        Assert.Equal(value.Numbers, read.Numbers);
        Assert.Equal(7, read.Field);
    }

    [Fact]
    public void Generic_nested_and_tuple_types_come_back()
    {
        Assert.Equal(new Box<int[]>.Lid<string>(["a", "b"], "c").Names, RoundTrip(new Box<int[]>.Lid<string>(["a", "b"], "c"))!.Names);
        Assert.Equal((1, "b"), RoundTrip((1, "b")));
        Assert.Equal([(1, "b"), (2, "d")], RoundTrip(new List<(int, string)> { (1, "b"), (2, "d") }));
        Assert.Equal((1, (2, 3)), RoundTrip<(int, (int, int)?)?>((1, (2, 3))));
        Assert.Equal(new Dictionary<string, int[]> { ["a"] = [1] }, RoundTrip(new Dictionary<string, int[]> { ["a"] = [1] }));
        Assert.Equal(new DateTime?[] { null, DateTime.UnixEpoch }, RoundTrip(new DateTime?[] { null, DateTime.UnixEpoch }));
    }

    [Fact]
    public void Options_of_the_application_that_leave_fields_out_do_not_empty_tuples()
    {
        var codecs = new Codecs(new() { Json = new() { PropertyNamingPolicy = System.Text.Json.JsonNamingPolicy.CamelCase } });

        Assert.Equal([(1, "b")], RoundTrip(new List<(int, string)> { (1, "b") }, codecs));
        Assert.Equal(0, RoundTrip(new Holder { Field = 7 }, codecs)!.Field);
    }

    [Fact]
    public void Xml_comes_back_with_every_character()
    {
        var value = new XmlBook { Title = "a\r\nb\tc\u0001 & <d> \"e\" 🏜 ]]>", Pages = 412, Empty = "", Missing = null, Cover = TestBytes.Of(100) };

        XmlBook read = RoundTrip(value)!;

        Assert.Equal((byte)CairnFormat.Xml, Default.Of<XmlBook>().Format);
        Assert.Equal(value.Title, read.Title);
        Assert.Equal(value.Pages, read.Pages);
        Assert.Equal("", read.Empty);
        Assert.Null(read.Missing);
        Assert.Equal(value.Cover, read.Cover);
    }

    [Fact]
    public void Type_that_writes_its_own_xml_comes_back()
    {
        Assert.Equal((byte)CairnFormat.Xml, Default.Of<OwnXml>().Format);
        Assert.Equal("Dune", RoundTrip(new OwnXml { Title = "Dune" })!.Title);
        Assert.Equal("<a b=\"1\"> <c /> </a>", RoundTrip(XElement.Parse("<a b=\"1\"> <c /> </a>", LoadOptions.PreserveWhitespace))!.ToString(SaveOptions.DisableFormatting));
    }

    [Fact]
    public void Data_contract_comes_back_with_its_derived_types_and_references()
    {
        var shared = new Person { Name = "Frank\u0001" };
        var value = new Contract { Author = shared, Editor = shared, Pages = [1, 2, 3], Price = 9.90m, Shape = new Circle { Radius = 2 } };

        Contract read = RoundTrip(value)!;

        Assert.Equal((byte)CairnFormat.Binary, Default.Of<Contract>().Format);
        Assert.Equal(shared.Name, read.Author!.Name);
        Assert.Same(read.Author, read.Editor);
        Assert.Equal(value.Pages, read.Pages);
        Assert.Equal(value.Price, read.Price);
        Assert.Equal(2, Assert.IsType<Circle>(read.Shape).Radius);
    }

    // As in the framework. A string that is the whole value is read as it was written.
    [Fact]
    public void Half_of_a_surrogate_pair_inside_of_an_object_is_replaced_or_refused()
    {
        Assert.Equal("a\uFFFD", RoundTrip(new Holder { Text = "a\uD800" })!.Text);
        Assert.Equal("a\uFFFD", RoundTrip(new XmlBook { Title = "a\uD800" })!.Title);
        Assert.Throws<System.Text.EncoderFallbackException>(() => Write(new Contract { Author = new() { Name = "a\uD800" } }));
    }

    [Fact]
    public void Value_of_fixed_length_with_another_length_is_unreadable()
    {
        Assert.Throws<InvalidDataException>(() => Default.Of<int>().Deserialize(new byte[3]));
        Assert.Throws<InvalidDataException>(() => Default.Of<DayOfWeek>().Deserialize(new byte[8]));
        Assert.Throws<InvalidDataException>(() => Default.Of<DayOfWeek?>().Deserialize(new byte[8]));
        Assert.Throws<InvalidDataException>(() => Default.Of<bool>().Deserialize(new byte[] { 2 }));
    }

    [Fact]
    public void Type_that_has_changed_is_unreadable_not_an_exception()
    {
        byte[] envelope = Write(new Holder { Text = "Dune" });
        var changed = new Codecs(new() { Json = new() { Converters = { new RefusingConverter() } } });

        Assert.Equal(EnvelopeStatus.Unreadable, Read<Holder>(envelope, out _, changed));
    }

    [Fact]
    public void Converter_may_use_the_cache_while_it_writes()
    {
        var codecs = new Codecs(new() { Json = new() { Converters = { new NestingConverter() } } });

        byte[] envelope = Write(new List<IPAddress> { IPAddress.Loopback, IPAddress.Any }, codecs);

        Assert.Equal(EnvelopeStatus.Ok, Read(envelope, out List<IPAddress>? read, codecs));
        Assert.Equal([IPAddress.Loopback, IPAddress.Any], read);
    }

    private static void ComesBack<T>(params T[] values)
        where T : struct
    {
        foreach (T value in values)
        {
            Assert.Equal(value, RoundTrip(value));
            Assert.Equal(value, RoundTrip<T?>(value));
            Assert.Equal(Serialized(value), Serialized<T?>(value));
        }
    }

    private static byte[] Serialized<T>(T value)
    {
        using var buffer = new PooledBuffer();
        Default.Of<T>().Serialize(value, buffer);
        return buffer.WrittenSpan.ToArray();
    }

    public sealed class Holder
    {
#pragma warning disable CA1051 // The test checks that fields are read too.
        public int Field;
#pragma warning restore CA1051

        public string? Text { get; set; }

        public double[]? Numbers { get; set; }
    }

    public sealed class Box<T>
    {
        public sealed record Lid<TName>(TName[] Names, TName Last);
    }

    [XmlRoot("book")]
    public sealed class XmlBook
    {
        public string? Title { get; set; }

        public int Pages { get; set; }

        public string? Empty { get; set; }

        public string? Missing { get; set; }

        public byte[]? Cover { get; set; }
    }

    public sealed class OwnXml : IXmlSerializable
    {
        public string Title { get; set; } = "";

        public XmlSchema? GetSchema() => null;

        public void ReadXml(XmlReader reader) => Title = reader.ReadElementContentAsString();

        public void WriteXml(XmlWriter writer) => writer.WriteString(Title);
    }

    [DataContract(IsReference = true)]
    public sealed class Person
    {
        [DataMember]
        public string? Name { get; set; }
    }

    [DataContract]
    [KnownType(typeof(Circle))]
    public class Shape;

    [DataContract]
    public sealed class Circle : Shape
    {
        [DataMember]
        public double Radius { get; set; }
    }

    [DataContract]
    [CairnSerializer(CairnFormat.Binary)]
    public sealed class Contract
    {
        [DataMember]
        public Person? Author { get; set; }

        [DataMember]
        public Person? Editor { get; set; }

        [DataMember]
        public int[]? Pages { get; set; }

        [DataMember]
        public decimal Price { get; set; }

        [DataMember]
        public Shape? Shape { get; set; }
    }

    private sealed class RefusingConverter : System.Text.Json.Serialization.JsonConverter<Holder>
    {
        public override Holder Read(ref System.Text.Json.Utf8JsonReader reader, Type typeToConvert, System.Text.Json.JsonSerializerOptions options) =>
            throw new NotSupportedException();

        public override void Write(System.Text.Json.Utf8JsonWriter writer, Holder value, System.Text.Json.JsonSerializerOptions options) =>
            writer.WriteNullValue();
    }

    private sealed class NestingConverter : System.Text.Json.Serialization.JsonConverter<IPAddress>
    {
        public override IPAddress Read(ref System.Text.Json.Utf8JsonReader reader, Type typeToConvert, System.Text.Json.JsonSerializerOptions options) =>
            IPAddress.Parse(reader.GetString()!);

        public override void Write(System.Text.Json.Utf8JsonWriter writer, IPAddress value, System.Text.Json.JsonSerializerOptions options)
        {
            Assert.Equal(["a"], RoundTrip<List<string>>(["a"]));
            writer.WriteStringValue(value.ToString());
        }
    }
}
