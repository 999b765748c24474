using System.Buffers;
using System.Collections.Concurrent;
using System.Collections.ObjectModel;
using System.Runtime.Serialization;
using Cairn.Caching.Protobuf.Tests.Wire;
using Google.Protobuf;
using ProtoBuf;
using ProtoBuf.Meta;

namespace Cairn.Caching.Protobuf.Tests.Contracts;

/// <summary>The types that can be contracts. All their content survives serialization.</summary>
public sealed class ContractTests
{
    [Fact]
    public void Every_scalar_type_comes_back_as_it_was()
    {
        foreach (Scalars value in new[] { new Scalars(), Scalars.Smallest, Scalars.Largest, Scalars.Usual })
        {
            Assert.Equal(value, Wired.Copy(value));
        }
    }

    [Fact]
    public void Every_kind_of_list_and_dictionary_comes_back()
    {
        var value = new Collections
        {
            Array = ["a", "b"],
            Enumerable = [1, 2, 3],
            Collection = [Guid.NewGuid(), Guid.Empty],
            ReadOnly = [1.5m, -2.25m],
            Set = new HashSet<long> { 5, -5 },
            Observable = ["x"],
            Sorted = new SortedDictionary<string, string>(StringComparer.Ordinal) { ["k"] = "v", ["l"] = "" },
            Concurrent = new ConcurrentDictionary<int, Guid>([new(1, Guid.NewGuid()), new(0, Guid.Empty)]),
            Blobs = [[1, 2], [], [3]],
            Times = [DateTime.UnixEpoch, DateTime.MinValue, DateTime.MaxValue],
        };
        value.WithoutSetter.Add(7);

        Collections copy = Wired.Copy(value);

        Assert.Equal(value.Array, copy.Array);
        Assert.Equal(value.Enumerable, copy.Enumerable);
        Assert.Equal(value.Collection, copy.Collection);
        Assert.Equal(value.ReadOnly, copy.ReadOnly);
        Assert.Equal(value.Set, copy.Set);
        Assert.Equal(value.Observable, copy.Observable);
        Assert.Equal(value.Sorted, copy.Sorted);
        Assert.Equal(value.Concurrent.OrderBy(pair => pair.Key), copy.Concurrent!.OrderBy(pair => pair.Key));
        Assert.Equal(value.Blobs, copy.Blobs);
        Assert.Equal(value.Times, copy.Times);
        Assert.Equal([7], copy.WithoutSetter);
    }

    [Fact]
    public void Record_without_a_constructor_that_takes_nothing_comes_back()
    {
        var value = new CatalogueRecord("a", "", "c", Guid.NewGuid());

        Assert.Equal(value, Wired.Copy(value));
    }

    [Fact]
    public void Struct_and_nullable_struct_come_back()
    {
        var value = new Place { Here = new Point { X = 1, Y = -2 }, There = new Point() };

        Place copy = Wired.Copy(value);

        Assert.Equal(value.Here, copy.Here);
        Assert.Equal(value.There, copy.There);
        Assert.Null(Wired.Copy(new Place()).There);
        Assert.Equal(new Point { X = 9 }, Wired.Copy(new Point { X = 9 }));
    }

    [Fact]
    public void Members_that_are_not_public_and_have_no_setter_come_back()
    {
        Hidden copy = Wired.Copy(new Hidden(1, 2, 3));

        Assert.Equal((1, 2, 3), copy.Values);
    }

    [Fact]
    public void Constructor_is_run_unless_the_contract_says_to_skip_it()
    {
        Assert.Equal("made", Wired.Copy(new Constructed()).Note);
        Assert.Null(Wired.Copy(new NotConstructed()).Note);
    }

    [Fact]
    public void Zero_that_the_constructor_would_undo_is_written()
    {
        Assert.Equal(0, Wired.Copy(new Preset { Count = 0 }).Count);
        Assert.Equal(5, Wired.Copy(new Preset()).Count);
    }

    [Fact]
    public void Members_of_a_base_type_are_written_too()
    {
        Derived copy = Wired.Copy(new Derived { Own = 1, Inherited = 2 });

        Assert.Equal((1, 2), (copy.Own, copy.Inherited));
    }

    [Fact]
    public void Fields_without_numbers_are_numbered_by_name_where_the_contract_says_so()
    {
        byte[] bytes = Wired.Write(new Implied { B = 2, A = 1, Ignored = 9 });

        Assert.Equal("08011002", Convert.ToHexString(bytes));
    }

    [Fact]
    public void Members_named_at_the_type_are_written()
    {
        Assert.Equal("0803", Convert.ToHexString(Wired.Write(new Partial { Count = 3 })));
    }

    [Fact]
    public void Group_is_written_between_two_tags_and_read_back()
    {
        var value = new Grouped { One = new Author { Born = 7 }, Many = [new Author { Name = "x" }, new Author()] };

        byte[] bytes = Wired.Write(value);
        Grouped copy = Wired.Copy(value);

        Assert.Equal("0B10070C" + "130A017814" + "1314", Convert.ToHexString(bytes));
        Assert.Equal(7, copy.One!.Born);
        Assert.Equal(["x", null], copy.Many!.Select(author => author.Name));
    }

    [Fact]
    public void Times_and_identifiers_have_the_forms_of_their_compatibility_level()
    {
        var moment = new DateTime(2026, 11, 22, 1, 2, 3, 456, DateTimeKind.Utc);
        var value = new Modern { When = moment, Took = TimeSpan.FromSeconds(-1.5), Id = Guid.NewGuid(), Price = 12.50m };

        byte[] bytes = Wired.Write(value);
        Modern copy = Wired.Copy(value);

        Assert.Equal((value.When, value.Took, value.Id, value.Price, (byte)2), (copy.When, copy.Took, copy.Id, copy.Price, copy.Price.Scale));
        var timestamp = Google.Protobuf.WellKnownTypes.Timestamp.Parser.ParseFrom(bytes.AsSpan(2, bytes[1]));
        Assert.Equal(moment, timestamp.ToDateTime());
    }

    [Fact]
    public void Known_bytes_of_times_and_identifiers()
    {
        var id = new Guid("00112233-4455-6677-8899-aabbccddeeff");
        string guid = Convert.ToHexString(Wired.Write(new CatalogueRecord(null!, null!, null!, id)));
        string time = Convert.ToHexString(Wired.Write(new Usual { Day = new DateTime(1970, 1, 3), Hours = TimeSpan.FromHours(-2) }));

        // bcl.Guid: two fixed64. bcl.DateTime: 2 days. bcl.TimeSpan: -2 with a scale of 1 (hours). Both numbers are zigzag-encoded.
        Assert.Equal("221209332211005544776611" + "8899AABBCCDDEEFF", guid);
        Assert.Equal("0A020804" + "120408031001", time);
    }

    [Fact]
    public void Callbacks_run_before_and_after()
    {
        var value = new Called { Number = 1 };

        Called copy = Wired.Copy(value);

        Assert.Equal(["writing", "written"], value.Calls);
        Assert.Equal(["reading", "read"], copy.Calls);
    }

    public static TheoryData<Type, string> Refusals => new()
    {
        { typeof(OfObjects), "System.Object" },
        { typeof(ListOfLists), "Nested or jagged" },
        { typeof(OfUnmarked), "Contracts.Unmarked" },
        { typeof(PresetNullable), "Remove the initial value" },
        { typeof(PrivateInherited), "PrivateBase.A" },
    };

    [Theory]
    [MemberData(nameof(Refusals))]
    public void Type_that_cannot_be_written_whole_is_refused_each_time_with_the_reason(Type type, string reason)
    {
        string? told = (string?)typeof(ContractTests).GetMethod(nameof(ReasonOf), System.Reflection.BindingFlags.NonPublic | System.Reflection.BindingFlags.Static)!
            .MakeGenericMethod(type).Invoke(null, null);

        Assert.Contains(reason, told, StringComparison.Ordinal);
    }

    [Fact]
    public void Types_that_say_nothing_are_left_to_others()
    {
        var factory = new CairnProtobufSerializerFactory();

        Assert.False(factory.TryCreateSerializer<Unmarked>(out _));
        Assert.False(factory.TryCreateSerializer<WithoutNumbers>(out _));
        Assert.False(factory.TryCreateSerializer<string>(out _));
        Assert.False(factory.TryCreateSerializer<List<int>>(out _));
        Assert.False(factory.TryCreateSerializer<object>(out _));
        Assert.True(factory.TryCreateSerializer<Author[]>(out _));
        Assert.True(factory.TryCreateSerializer<Dictionary<string, Author>>(out _));
        Assert.True(factory.TryCreateSerializer<BookMessage>(out _));
        Assert.True(factory.TryCreateSerializer<List<BookMessage>>(out _));
    }

    [Fact]
    public void Lists_and_dictionaries_alone_come_back_and_empty_ones_as_empty()
    {
        Assert.Equal(["x", "y"], Wired.Copy<Author[]>([new Author { Name = "x" }, new Author { Name = "y" }]).Select(author => author.Name));
        Assert.Equal(3, Wired.Copy(new Dictionary<string, Author>(StringComparer.Ordinal) { ["k"] = new Author { Born = 3 } })["k"].Born);
        Assert.Empty(Wired.Copy<Author[]>([]));
        Assert.Empty(Wired.Copy<IReadOnlyList<Author>>([]));
        Assert.Empty(Wired.Copy<IReadOnlyDictionary<string, Author>>(new Dictionary<string, Author>(StringComparer.Ordinal)));
        Assert.Empty(Wired.Copy<HashSet<Author>>([]));
        BookMessage book = WireTests.RandomBook(new Random(1));
        Assert.Equal([book, book], Wired.Copy<List<BookMessage>>([book, book]));
    }

    [Fact]
    public void Null_in_a_list_is_refused_and_in_a_dictionary_it_is_an_empty_value()
    {
        Assert.ThrowsAny<Exception>(() => Wired.Write(new Book { Tags = ["a", null!] }));
        Assert.ThrowsAny<Exception>(() => Wired.Write(new Book { Translators = [null!] }));
        Assert.Null(Wired.Copy(new Book { Editors = new Dictionary<int, Author> { [1] = null! } }).Editors![1].Name);
    }

    [Fact]
    public void Object_that_contains_itself_is_refused_and_the_next_one_is_written()
    {
        var node = new Node();
        node.Next = node;

        ProtoException failure = Assert.Throws<ProtoException>(() => Wired.Write(node));

        Assert.Contains("recursion", failure.Message, StringComparison.Ordinal);
        Assert.Equal(2, Wired.Copy(new Node { Next = new Node { Value = 2 } }).Next!.Value);
    }

    [Fact]
    public void Object_of_more_than_100_levels_is_refused()
    {
        var node = new Node();
        for (int i = 0; i < 101; i++)
        {
            node = new Node { Next = node };
        }

        Assert.Contains("depth", Assert.Throws<InvalidOperationException>(() => Wired.Write(node)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Array_that_the_constructor_fills_is_replaced_when_it_is_read()
    {
        Assert.Equal([3], Wired.Copy(new PresetArray { Numbers = [3] }).Numbers);
    }

    [Fact]
    public void Type_that_another_one_includes_comes_back_as_that_type()
    {
        Including copy = Wired.Copy<Including>(new Included { A = 1, B = 2 });

        Assert.Equal((1, 2), (copy.A, Assert.IsType<Included>(copy).B));
    }

    [Fact]
    public void Factory_uses_the_model_that_the_application_gives_it()
    {
        RuntimeTypeModel model = CairnProtobufSerializerFactory.CreateModel();
        model.Add(typeof(Unmarked), applyDefaultBehaviour: false).Add(1, nameof(Unmarked.A));

        Assert.True(new CairnProtobufSerializerFactory(model).TryCreateSerializer<OfUnmarked>(out var serializer));
        var target = new ArrayBufferWriter<byte>();
        serializer.Serialize(new OfUnmarked { A = new Unmarked { A = 5 } }, target);

        Assert.Equal("0A020805", Convert.ToHexString(target.WrittenSpan));
    }

    private static string ReasonOf<T>()
    {
        T value = Activator.CreateInstance<T>();
        Exception first = Assert.ThrowsAny<Exception>(() => Wired.Copy(value));
        Exception second = Assert.ThrowsAny<Exception>(() => Wired.Copy(value));
        Assert.Equal(first.Message, second.Message);
        return first.GetType() + " " + first.Message;
    }
}
