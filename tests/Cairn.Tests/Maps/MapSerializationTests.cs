using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Cairn.Tests.Maps;

/// <summary>Every value is read as it was written, as a key and as a value.</summary>
public sealed partial class MapSerializationTests : StoreTest
{
    private enum Small : byte
    {
        Zero,
        Most = 255,
    }

    private enum Wide : long
    {
        Least = long.MinValue,
    }

    [Fact]
    public void Numbers_come_back()
    {
        AssertBack<sbyte>(sbyte.MinValue, -1, 0, sbyte.MaxValue);
        AssertBack<byte>(0, 1, byte.MaxValue);
        AssertBack<short>(short.MinValue, -1, 0, short.MaxValue);
        AssertBack<ushort>(0, 1, ushort.MaxValue);
        AssertBack(int.MinValue, -1, 0, int.MaxValue);
        AssertBack<uint>(0, 1, uint.MaxValue);
        AssertBack(long.MinValue, -1, 0, long.MaxValue);
        AssertBack<ulong>(0, 1, ulong.MaxValue);
        AssertBack(nint.MinValue, -1, nint.MaxValue);
        AssertBack(nuint.MinValue, nuint.MaxValue);
        AssertBack(Int128.MinValue, -1, Int128.MaxValue);
        AssertBack(UInt128.MinValue, UInt128.MaxValue);
        AssertBack(float.NegativeInfinity, -1.5f, 0, float.Epsilon, float.NaN);
        AssertBack(double.NegativeInfinity, -1.5, 0, double.Epsilon, double.NaN);
        AssertBack(Half.MinValue, (Half)0.5f, Half.NaN);
        AssertBack(decimal.MinValue, -0.1m, 0m, 79228162514264337593543950335m);
    }

    [Fact]
    public void Other_fixed_types_come_back()
    {
        AssertBack(false, true);
        AssertBack('\0', 'a', '\uD800', '\uFFFF');
        AssertBack(Guid.Empty, new Guid("00112233-4455-6677-8899-aabbccddeeff"));
        AssertBack(Small.Zero, Small.Most, (Small)77);
        AssertBack(Wide.Least, (Wide)5);
        AssertBack(TimeSpan.MinValue, TimeSpan.Zero, TimeSpan.FromTicks(1), TimeSpan.MaxValue);
        AssertBack(DateOnly.MinValue, new DateOnly(2026, 11, 22), DateOnly.MaxValue);
        AssertBack(TimeOnly.MinValue, new TimeOnly(1, 2, 3, 4), TimeOnly.MaxValue);
    }

    [Fact]
    public void Moment_comes_back_with_its_kind_and_its_offset()
    {
        DateTime[] moments =
        [
            DateTime.MinValue, DateTime.MaxValue, new(2026, 11, 22, 1, 2, 3, DateTimeKind.Utc), new(2026, 11, 22, 1, 2, 3, DateTimeKind.Local),
        ];
        DateTimeOffset[] offsets =
        [
            DateTimeOffset.MinValue, DateTimeOffset.MaxValue, new(2026, 11, 22, 1, 2, 3, TimeSpan.FromMinutes(-14 * 60)),
            new(2026, 11, 22, 1, 2, 3, TimeSpan.FromMinutes(345)),
        ];

        AssertBack(moments);
        AssertBack(offsets);

        PersistentMap<int, DateTime> kinds = Store.Map("kinds", PersistentMapTests.Kept<int, DateTime>());
        PersistentMap<int, DateTimeOffset> withOffset = Store.Map("offsets", PersistentMapTests.Kept<int, DateTimeOffset>());
        kinds[1] = moments[3];
        withOffset[1] = offsets[3];
        Assert.Equal(DateTimeKind.Local, kinds[1].Kind);
        Assert.Equal(TimeSpan.FromMinutes(345), withOffset[1].Offset);
    }

    [Fact]
    public void Text_comes_back_also_if_it_is_empty_long_or_no_valid_unicode()
    {
        AssertBack("", "a", "Dune", "é", "\U0001F4DA", "\uD800", "a\uDC00b", "\0", new string('x', 84), new string('x', 85), new string('é', 5_000));
    }

    [Fact]
    public void Longest_key_of_text_has_65536_bytes()
    {
        PersistentMap<string, int> map = Store.Map("texts", PersistentMapTests.Kept<string, int>());

        map[new string('x', 65_536)] = 1;

        Assert.Equal(1, map[new string('x', 65_536)]);
        Assert.Throws<ArgumentException>(() => map[new string('x', 65_537)] = 1);
    }

    [Fact]
    public void Arrays_are_compared_by_their_bytes()
    {
        PersistentMap<byte[], byte[]> map = Store.Map("bytes", PersistentMapTests.Kept<byte[], byte[]>());

        map[[1, 2]] = [];
        map[[1, 2]] = [3];

        Assert.Equal([3], map[[1, 2]]);
        Assert.Equal([3], map.GetAll()[[1, 2]]);
        Assert.True(map.GetAll().ContainsKey([1, 2]));
        Assert.False(map.Contains([1]));
        Assert.Throws<ArgumentException>(() => map[[]] = [1]);
    }

    [Fact]
    public void Objects_come_back_as_json()
    {
        PersistentMap<Shelf, Book> map = Store.Map("books", PersistentMapTests.Kept<Shelf, Book>());
        var book = new Book("Dune <&>", 1965, ["sand", "spice"], double.NaN);

        map[new Shelf(2, "left")] = book;

        Book back = map[new Shelf(2, "left")];
        Assert.Equal(book.Title, back.Title);
        Assert.Equal(book.Tags, back.Tags);
        Assert.Equal(book.Price, back.Price);
        Assert.Equal("Dune <&>", map.GetAll()[new Shelf(2, "left")].Title);
        Assert.Contains("Dune <&>", Store.Collection("books").GetString("""{"Row":2,"Side":"left"}"""), StringComparison.Ordinal);
    }

    [Fact]
    public void Metadata_that_was_generated_is_used()
    {
        var options = PersistentMapTests.Kept<int, Book>() with { JsonOptions = Generated.Default.Options };
        PersistentMap<int, Book> map = Store.Map("books", options);

        map[1] = new Book("Dune", 1965, [], 9);

        Assert.Equal("Dune", map[1].Title);
        Assert.StartsWith("{\"title\":", Store.Collection("books").GetString(BitConverter.GetBytes(1)), StringComparison.Ordinal);
        var refused = Assert.Throws<InvalidOperationException>(() =>
            Store.Map("others", PersistentMapTests.Kept<int, StringBuilder>() with { JsonOptions = Generated.Default.Options }));
        Assert.Contains("System.Text.StringBuilder", refused.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("others", Store.CollectionNames);
    }

    [Fact]
    public void Own_serializer_is_used_for_keys_and_values()
    {
        var options = PersistentMapTests.Kept<int, int>() with { KeySerializer = new DecimalText(), ValueSerializer = new DecimalText() };
        PersistentMap<int, int> map = Store.Map("numbers", options);

        map[12] = 345;
        map[12] = 346;

        Assert.Equal("346", Store.Collection("numbers").GetString("12"));
        Assert.Equal(346, map[12]);
        Assert.Equal([KeyValuePair.Create(12, 346)], map);
        Assert.Equal([KeyValuePair.Create(12, 346)], map.GetAll());
    }

    [Fact]
    public void Serializer_that_throws_stores_nothing_and_the_map_stays_usable()
    {
        PersistentMap<int, int> map = Store.Map("numbers", PersistentMapTests.Kept<int, int>() with { ValueSerializer = new DecimalText() });
        map[1] = 1;

        Assert.Throws<InvalidOperationException>(() => map[1] = -1);

        Assert.Equal(1, map[1]);
        map[1] = 2;
        Assert.Equal(2, map[1]);
    }

    [Fact]
    public void Serializer_may_use_a_map_itself()
    {
        PersistentMap<string, string> names = Store.Map("names", PersistentMapTests.Kept<string, string>());
        PersistentMap<int, string> map = Store.Map(
            "numbers", PersistentMapTests.Kept<int, string>() with { ValueSerializer = new ByName(names) });

        map[1] = new string('x', 1000);

        Assert.Equal(new string('x', 1000), map[1]);
        Assert.Single(names.GetAll());
    }

    [Fact]
    public void Entry_that_the_map_did_not_write_is_reported()
    {
        PersistentMap<int, int> map = Store.Map("numbers", PersistentMapTests.Kept<int, int>());
        Store.Collection("numbers").Set(BitConverter.GetBytes(1), "twelve"u8);
        Store.Collection("numbers").Set("long key", "1234"u8);

        Assert.Throws<InvalidDataException>(() => map[1]);
        Assert.Throws<InvalidDataException>(() => map.GetAll());
        Assert.Throws<InvalidDataException>(() => map.Sum(entry => entry.Value));
    }

    [Fact]
    public void Format_name_of_a_serializer_is_one_line()
    {
        var unnamed = new DecimalText { FormatId = "" };
        var twoLines = new DecimalText { FormatId = "a\nb" };

        Assert.Throws<ArgumentException>(() => Store.Map("a", PersistentMapTests.Kept<int, int>() with { KeySerializer = unnamed }));
        Assert.Throws<ArgumentException>(() => Store.Map("a", PersistentMapTests.Kept<int, int>() with { ValueSerializer = twoLines }));
    }

    private void AssertBack<T>(params T[] values)
        where T : notnull
    {
        PersistentMap<T, int> keys = Store.Map($"keys of {typeof(T).Name}", PersistentMapTests.Kept<T, int>());
        PersistentMap<int, T> items = Store.Map($"values of {typeof(T).Name}", PersistentMapTests.Kept<int, T>());
        PersistentMap<T, T> both = Store.Map($"both of {typeof(T).Name}", PersistentMapTests.Kept<T, T>());

        // Twice, because a value takes another path when it replaces one.
        for (int pass = 0; pass < 2; pass++)
        {
            for (int i = 0; i < values.Length; i++)
            {
                keys[values[i]] = i + pass;
                items[i] = values[i];
                both[values[i]] = values[i];
            }
        }

        for (int i = 0; i < values.Length; i++)
        {
            Assert.Equal(i + 1, keys[values[i]]);
            Assert.Equal(values[i], items[i]);
            Assert.Equal(values[i], both[values[i]]);
        }

        Assert.Equal(values.ToHashSet(), both.GetAllKeys().ToHashSet());
        Assert.Equal(values.ToHashSet(), items.GetAllValues().ToHashSet());
        Assert.All(both, entry => Assert.Equal(entry.Key, entry.Value));
        Assert.Equal(values.Length, both.Count);
    }

    private sealed record Shelf(int Row, string Side);

    internal sealed record Book(string Title, int Year, string[] Tags, double Price);

    [JsonSourceGenerationOptions(JsonSerializerDefaults.Web)]
    [JsonSerializable(typeof(Book))]
    private sealed partial class Generated : JsonSerializerContext;

    // Non-negative numbers as text.
    private sealed class DecimalText : IMapSerializer<int>
    {
        public string FormatId { get; init; } = "decimal/1";

        public void Write(int value, IBufferWriter<byte> target)
        {
            target.Write("0"u8[..(value < 0 ? 1 : 0)]);
            target.Write(Encoding.UTF8.GetBytes(
                value >= 0 ? value.ToString(CultureInfo.InvariantCulture) : throw new InvalidOperationException("below zero")));
        }

        public int Read(ReadOnlySpan<byte> source) => int.Parse(source, CultureInfo.InvariantCulture);
    }

    // Puts the text into another map under its length, and the length into this one.
    private sealed class ByName(PersistentMap<string, string> names) : IMapSerializer<string>
    {
        public string FormatId => "by-name";

        public void Write(string value, IBufferWriter<byte> target)
        {
            target.Write("length "u8);
            names[$"length {value.Length}"] = value;
            target.Write(Encoding.UTF8.GetBytes($"{value.Length}"));
        }

        public string Read(ReadOnlySpan<byte> source) => names[Encoding.UTF8.GetString(source)];
    }
}
