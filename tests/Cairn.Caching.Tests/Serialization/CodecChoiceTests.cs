using System.Buffers;
using System.Collections.ObjectModel;
using System.Data;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.Serialization;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Xml.Serialization;
using Cairn.Caching.Serialization;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Caching.Tests.Serialization;

/// <summary>The choice of a type's serializer. The numbers are those at the top of Codecs.</summary>
public sealed partial class CodecChoiceTests : SerializationTest
{
    // 1
    [Fact]
    public void Registered_serializer_wins_over_everything_and_the_last_one_over_the_others()
    {
        var services = new ServiceCollection()
            .AddSingleton<IHybridCacheSerializer<MarkedAsXml>>(new Marking<MarkedAsXml>(1))
            .AddSingleton<IHybridCacheSerializer<MarkedAsXml>>(new Marking<MarkedAsXml>(2))
            .AddSingleton<IHybridCacheSerializerFactory>(new MarkingFactory(3))
            .BuildServiceProvider();

        var fromServices = new Codecs(new() { Services = services });
        var fromOptions = new Codecs(new()
        {
            Services = services,
            Serializers = [new Marking<MarkedAsXml>(4), new Marking<MarkedAsXml>(5), new Marking<int>(6)],
        });

        Assert.Equal(2, MarkOf(fromServices, new MarkedAsXml()));
        Assert.Equal(5, MarkOf(fromOptions, new MarkedAsXml()));
        Assert.Equal((byte)CairnFormat.Custom, fromOptions.Of<MarkedAsXml>().Format);
    }

    // 1
    [Fact]
    public void Registered_serializer_is_for_exactly_its_type()
    {
        var codecs = new Codecs(new() { Serializers = [new Marking<Base>(1), new Marking<int>(2), new Marking<string>(3)] });

        Assert.Equal((byte)CairnFormat.Json, codecs.Of<Derived>().Format);
        Assert.Equal((byte)CairnFormat.Raw, codecs.Of<int?>().Format);
        Assert.Equal(2, MarkOf(codecs, 42));
        Assert.Equal(3, MarkOf(codecs, "Dune"));
    }

    // 2
    [Fact]
    public void Last_factory_that_knows_the_type_wins()
    {
        var services = new ServiceCollection()
            .AddSingleton<IHybridCacheSerializerFactory>(new MarkingFactory(1))
            .AddSingleton<IHybridCacheSerializerFactory>(new MarkingFactory(2))
            .AddSingleton<IHybridCacheSerializerFactory>(new MarkingFactory(3, typeof(Derived)))
            .BuildServiceProvider();

        var fromServices = new Codecs(new() { Services = services });
        var fromOptions = new Codecs(new() { Services = services, Factories = [new MarkingFactory(4, typeof(Base)), new MarkingFactory(5, typeof(string))] });

        Assert.Equal(2, MarkOf(fromServices, new Base()));
        Assert.Equal(3, MarkOf(fromServices, new Derived()));
        Assert.Equal(2, MarkOf(fromServices, "Dune"));
        Assert.Equal(4, MarkOf(fromOptions, new Base()));
        Assert.Equal(3, MarkOf(fromOptions, new Derived()));
    }

    // 2
    [Fact]
    public void Factory_that_says_its_format_leaves_types_alone_that_ask_for_another()
    {
        var codecs = new Codecs(new() { Factories = [new ProtobufFactory()] });

        Assert.Equal((byte)CairnFormat.Protobuf, codecs.Of<Base>().Format);
        Assert.Equal((byte)CairnFormat.Protobuf, codecs.Of<MarkedAsProtobuf>().Format);
        Assert.Equal((byte)CairnFormat.Xml, codecs.Of<MarkedAsXml>().Format);
        Assert.Equal((byte)CairnFormat.Json, codecs.Of<MarkedAsJson>().Format);
    }

    [Fact]
    public void Serializers_that_come_with_microsofts_implementation_are_not_a_choice()
    {
        var services = new ServiceCollection()
            .AddSingleton<IHybridCacheSerializer<string>>(new Marking<string>(1))
            .AddSingleton<IHybridCacheSerializer<string>>(new Microsoft.Extensions.Caching.Hybrid.Internal.DefaultSerializer())
            .AddSingleton<IHybridCacheSerializerFactory>(new Microsoft.Extensions.Caching.Hybrid.Internal.DefaultFactory())
            .BuildServiceProvider();

        var codecs = new Codecs(new() { Services = services });

        Assert.Equal(1, MarkOf(codecs, "Dune"));
        Assert.Equal((byte)CairnFormat.Json, codecs.Of<Base>().Format);
    }

    // 3
    [Fact]
    public void Format_of_the_options_wins_over_the_types_own_mark()
    {
        var codecs = new Codecs(new()
        {
            Formats = new Dictionary<Type, CairnFormat>
            {
                [typeof(MarkedAsXml)] = CairnFormat.Json,
                [typeof(Base)] = CairnFormat.Xml,
                [typeof(Contract)] = CairnFormat.Binary,
                [typeof(int)] = CairnFormat.Json,
            },
        });

        Assert.Equal((byte)CairnFormat.Json, codecs.Of<MarkedAsXml>().Format);
        Assert.Equal((byte)CairnFormat.Xml, codecs.Of<Base>().Format);
        Assert.Equal((byte)CairnFormat.Binary, codecs.Of<Contract>().Format);
        Assert.Equal((byte)CairnFormat.Json, codecs.Of<int>().Format);
        Assert.Equal(42, RoundTrip(42, codecs));
    }

    // 3
    [Fact]
    public void Mark_of_a_type_is_not_inherited()
    {
        Assert.Equal((byte)CairnFormat.Xml, Default.Of<MarkedAsXml>().Format);
        Assert.Equal((byte)CairnFormat.Json, Default.Of<BelowMarked>().Format);
    }

    // 4 to 6
    [Fact]
    public void Without_registration_and_mark_the_type_decides()
    {
        Assert.Equal((byte)CairnFormat.Raw, Default.Of<string>().Format);
        Assert.Equal((byte)CairnFormat.Raw, Default.Of<byte[]>().Format);
        Assert.Equal((byte)CairnFormat.Raw, Default.Of<Guid?>().Format);
        Assert.Equal((byte)CairnFormat.Raw, Default.Of<DayOfWeek?>().Format);
        Assert.Equal((byte)CairnFormat.Xml, Default.Of<WithXmlRoot>().Format);
        Assert.Equal((byte)CairnFormat.Xml, Default.Of<WithXmlAttribute>().Format);
        Assert.Equal((byte)CairnFormat.Json, Default.Of<PositionalWithXmlElement>().Format); // XmlSerializer cannot create it.
        Assert.Equal((byte)CairnFormat.Json, Default.Of<Contract>().Format); // [DataContract] alone is no mark.
        Assert.Equal((byte)CairnFormat.Json, Default.Of<int[]>().Format);
    }

    [Fact]
    public void Marked_type_that_is_written_as_JSON_is_reported_once_and_no_other_type_is()
    {
        var reported = new List<Type>();
        var codecs = new Codecs(new()
        {
            OnJsonInsteadOfXml = reported.Add,
            Formats = new Dictionary<Type, CairnFormat> { [typeof(PositionalByChoice)] = CairnFormat.Json },
        });

        for (int i = 0; i < 2; i++)
        {
            Assert.Equal((byte)CairnFormat.Json, codecs.Of<PositionalWithXmlElement>().Format);
            Assert.Equal((byte)CairnFormat.Json, codecs.Of<PositionalWithXmlParameter>().Format);
            Assert.Equal((byte)CairnFormat.Json, codecs.Of<PositionalByChoice>().Format);
            Assert.Equal((byte)CairnFormat.Xml, codecs.Of<WithXmlAttribute>().Format);
            Assert.Equal((byte)CairnFormat.Json, codecs.Of<Contract>().Format);
        }

        Assert.Equal([typeof(PositionalWithXmlElement), typeof(PositionalWithXmlParameter)], reported);
    }

    [Fact]
    public async Task Log_says_once_that_and_why_a_marked_type_is_written_as_JSON()
    {
        var loggers = new RecordingLoggers();
        await using CairnHybridCache cache = CairnHybridCache.Create(loggers: loggers);

        await cache.SetAsync("a", new PositionalWithXmlParameter("1"));
        await cache.SetAsync("b", new PositionalWithXmlParameter("2"));

        string line = Assert.Single(loggers.Lines, line => line.Contains(nameof(PositionalWithXmlParameter), StringComparison.Ordinal));
        Assert.Contains("written as JSON", line, StringComparison.Ordinal);
        Assert.Contains("a public constructor without parameters", line, StringComparison.Ordinal);
    }

    [Fact]
    public void Type_always_has_the_same_codec()
    {
        var codecs = new Codecs(new());
        Codec<Base> first = codecs.Of<Base>();

        Parallel.For(0, 100, _ =>
        {
            Assert.Same(first, codecs.Of<Base>());
            Assert.Same(codecs.Of<Dictionary<Base, int>>(), codecs.Of<Dictionary<Base, int>>());
        });

        Assert.NotSame(first, Default.Of<Base>());
    }

    [Fact]
    public void Json_options_of_the_services_are_taken_as_microsofts_implementation_takes_them()
    {
        var services = new ServiceCollection()
            .AddKeyedSingleton<JsonSerializerOptions>(typeof(IHybridCacheSerializer<>), new JsonSerializerOptions { PropertyNamingPolicy = JsonNamingPolicy.CamelCase })
            .AddKeyedSingleton<JsonSerializerOptions>(typeof(IHybridCacheSerializer<Derived>), new JsonSerializerOptions { PropertyNamingPolicy = JsonNamingPolicy.KebabCaseUpper })
            .BuildServiceProvider();
        var codecs = new Codecs(new() { Services = services, Json = new() });

        Assert.Equal("""{"id":7}""", TextOf(codecs, new Base { Id = 7 }));
        Assert.Equal("""{"ID":7}""", TextOf(codecs, new Derived { Id = 7 }));
        Assert.Equal("""{"Id":7}""", TextOf(new Codecs(new() { Json = new() }), new Base { Id = 7 }));
    }

    [Fact]
    public void Source_generated_metadata_is_asked_before_reflection()
    {
        var codecs = new Codecs(new() { JsonResolvers = [GeneratedContext.Default] });

        Assert.Equal("""{"generated":7}""", TextOf(codecs, new Generated { Id = 7 }));
        Assert.Equal("""{"Id":7}""", TextOf(codecs, new Base { Id = 7 }));
    }

    [Fact]
    public void Without_reflection_generated_and_raw_types_work_and_others_say_what_to_register()
    {
        using ChildProcess child = ChildProcess.Start(typeof(Program), "serialize-without-reflection");

        Assert.Equal("generated True: ", child.ReadLine());
        Assert.Equal("int True: ", child.ReadLine());
        string json = child.ReadLine();
        Assert.StartsWith("json False: ", json, StringComparison.Ordinal);
        Assert.Contains(typeof(Base).ToString(), json, StringComparison.Ordinal);
        Assert.Contains("JsonSerializerContext", json, StringComparison.Ordinal);
        string xml = child.ReadLine();
        Assert.StartsWith("xml False: ", xml, StringComparison.Ordinal);
        Assert.Contains("reflection is off", xml, StringComparison.Ordinal);
    }

    internal static void RunWithoutReflection(string[] arguments)
    {
        AppContext.SetSwitch("System.Text.Json.JsonSerializer.IsReflectionEnabledByDefault", false);
        var codecs = new Codecs(new() { JsonResolvers = [GeneratedContext.Default] });
        Say("generated", codecs.Of<Generated>(), new Generated { Id = 7 });
        Say("int", codecs.Of<int>(), 7);
        Say("json", codecs.Of<Base>(), new Base());
        Say("xml", codecs.Of<MarkedAsXml>(), new MarkedAsXml());

        void Say<T>(string name, Codec<T> codec, T value)
        {
            bool isRead = false;
            if (codec.Problem is null)
            {
                isRead = Read(Write(value, codecs), out T? _, codecs) == EnvelopeStatus.Ok;
            }

            Console.WriteLine($"{name} {isRead}: {codec.Problem}");
        }
    }

    [Fact]
    public void Format_that_does_not_suit_the_type_is_a_problem_that_names_both()
    {
        AssertProblem<NotAContract>("Binary");
        AssertProblem<MarkedAsProtobuf>("Protobuf");
        AssertProblem<MarkedAsCustom>("Custom");
        AssertProblem<DataSet>("types");
        AssertProblem<DataTable>("types");
    }

    [Fact]
    public void Type_without_a_serializer_can_be_shared_all_the_same()
    {
        var codecs = new Codecs(new() { ShareAllTypes = true });

        Assert.True(codecs.Of<NotAContract>().IsShareable);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(256)]
    [InlineData(-1)]
    public void Serializer_with_a_format_that_is_none_is_a_problem(int format)
    {
        var codecs = new Codecs(new() { Serializers = [new Formatted<Base>((CairnFormat)format)] });

        Assert.NotNull(codecs.Of<Base>().Problem);
    }

    [Fact]
    public void Value_in_another_format_counts_as_missing_unless_the_type_also_reads_it()
    {
        var before = new Codecs(new() { Formats = new Dictionary<Type, CairnFormat> { [typeof(Moved)] = CairnFormat.Json, [typeof(MarkedAsXml)] = CairnFormat.Json } });

        Assert.Equal(EnvelopeStatus.Ok, Read(Write(new Moved { Id = 7 }, before), out Moved? moved));
        Assert.Equal(7, moved!.Id);
        Assert.Equal((byte)CairnFormat.Xml, Default.Of<Moved>().Format);
        Assert.Equal(EnvelopeStatus.OtherFormat, Read<MarkedAsXml>(Write(new MarkedAsXml(), before), out _));
        Assert.Equal(EnvelopeStatus.OtherFormat, Default.TryReadPayload(
            Write(new MarkedAsXml(), before), Key, Default.Of<MarkedAsXml>(), out _, out _));
    }

    [Fact]
    public void Copies_of_a_value_in_another_format_are_made_by_its_own_reader()
    {
        var before = new Codecs(new() { Formats = new Dictionary<Type, CairnFormat> { [typeof(Moved)] = CairnFormat.Json } });

        Default.TryReadPayload(Write(new Moved { Id = 7 }, before), Key, Default.Of<Moved>(), out _, out LocalPayload? payload);

        Assert.Equal(7, Default.Copy(Default.Of<Moved>(), payload!).Id);
    }

    private static void AssertProblem<T>(string expected)
        where T : new()
    {
        Codec<T> codec = Default.Of<T>();

        Assert.Contains(expected, codec.Problem, StringComparison.Ordinal);
        Assert.Contains(typeof(T).ToString(), codec.Problem, StringComparison.Ordinal);
        Assert.Equal(codec.Problem, Assert.Throws<InvalidOperationException>(() => Write(new T())).Message);
        Assert.Throws<InvalidOperationException>(() => codec.Deserialize(default));
    }

    private static int MarkOf<T>(Codecs codecs, T value)
    {
        using var buffer = new PooledBuffer();
        codecs.Of<T>().Serialize(value, buffer);
        return Assert.Single(buffer.WrittenSpan.ToArray());
    }

    private static string TextOf<T>(Codecs codecs, T value)
    {
        using var buffer = new PooledBuffer();
        codecs.Of<T>().Serialize(value, buffer);
        return System.Text.Encoding.UTF8.GetString(buffer.WrittenSpan);
    }

    public class Base
    {
        public int Id { get; set; }
    }

    public sealed class Derived : Base;

    public sealed class Generated
    {
        [JsonPropertyName("generated")]
        public int Id { get; set; }
    }

    [CairnSerializer(CairnFormat.Xml)]
    public class MarkedAsXml
    {
        public int Id { get; set; }
    }

    public sealed class BelowMarked : MarkedAsXml;

    [CairnSerializer(CairnFormat.Json)]
    [XmlRoot("a")]
    public sealed class MarkedAsJson;

    [CairnSerializer(CairnFormat.Protobuf)]
    public sealed class MarkedAsProtobuf;

    [CairnSerializer(CairnFormat.Custom)]
    public sealed class MarkedAsCustom;

    [CairnSerializer(CairnFormat.Binary)]
    public sealed class NotAContract;

    [CairnSerializer(CairnFormat.Xml, AlsoReads = [CairnFormat.Json])]
    public sealed class Moved
    {
        public int Id { get; set; }
    }

    [XmlRoot("root")]
    public sealed class WithXmlRoot;

    public sealed record WithXmlAttribute
    {
        [XmlAttribute("title")]
        public string Title { get; set; } = "";

        [XmlElement("page")]
        public Collection<int> Pages { get; } = [];
    }

    public sealed record PositionalWithXmlElement([property: XmlElement("t")] string Title);

    public sealed record PositionalWithXmlParameter([XmlAttribute("t")] string Title);

    public sealed record PositionalByChoice([XmlAttribute("t")] string Title);

    [DataContract]
    public sealed class Contract
    {
        [DataMember]
        public int Id { get; set; }
    }

    [JsonSerializable(typeof(Generated))]
    private sealed partial class GeneratedContext : JsonSerializerContext;

    // Writes one byte that identifies it.
    private sealed class Marking<T>(byte mark) : IHybridCacheSerializer<T>
    {
        public T Deserialize(ReadOnlySequence<byte> source) => throw new NotSupportedException();

        public void Serialize(T value, IBufferWriter<byte> target) => target.Write([mark]);
    }

    private sealed class MarkingFactory(byte mark, params Type[] types) : IHybridCacheSerializerFactory
    {
        public bool TryCreateSerializer<T>([NotNullWhen(true)] out IHybridCacheSerializer<T>? serializer)
        {
            serializer = types.Length == 0 || types.Contains(typeof(T)) ? new Marking<T>(mark) : null;
            return serializer is not null;
        }
    }

    private sealed class Formatted<T>(CairnFormat format) : IHybridCacheSerializer<T>, ICairnSerializer
    {
        public CairnFormat Format => format;

        public T Deserialize(ReadOnlySequence<byte> source) => throw new NotSupportedException();

        public void Serialize(T value, IBufferWriter<byte> target) => throw new NotSupportedException();
    }

    private sealed class ProtobufFactory : IHybridCacheSerializerFactory
    {
        public bool TryCreateSerializer<T>([NotNullWhen(true)] out IHybridCacheSerializer<T>? serializer)
        {
            serializer = new Formatted<T>(CairnFormat.Protobuf);
            return true;
        }
    }
}
