using System.Buffers;

namespace Cairn.Tests.Maps;

/// <summary>A map opens only with the types with which it was created.</summary>
public sealed class MapTypeTests : StoreTest
{
    [Fact]
    public void Other_type_of_keys_is_refused_by_both_names()
    {
        Create<string, int>();

        var refused = Assert.Throws<StoreException>(() => Store.Map("stock", PersistentMapTests.Kept<int, int>()));

        Assert.Contains("The keys of the map 'stock' are System.String as utf-8", refused.Message, StringComparison.Ordinal);
        Assert.Contains("System.Int32 as fixed", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Other_type_of_values_is_refused_by_both_names()
    {
        Create<string, int>();

        var refused = Assert.Throws<StoreException>(() => Store.Map("stock", PersistentMapTests.Kept<string, List<string>>()));

        Assert.Contains("The values of the map 'stock' are System.Int32 as fixed", refused.Message, StringComparison.Ordinal);
        Assert.Contains("System.Collections.Generic.List`1[System.String] as json", refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(Durability.ProcessCrash)]
    [InlineData(Durability.GroupCommit)]
    public void Types_outlive_the_clearing_of_everything(Durability durability)
    {
        PersistentMap<string, int> map = Store.Map("stock", PersistentMapTests.Kept<string, int>() with { Durability = durability });
        map["tea"] = 3;

        Assert.True(Store.ClearAll());

        Assert.Empty(map.GetAll());
        Assert.Throws<StoreException>(() => OpenAgain().Map("stock", PersistentMapTests.Kept<int, int>() with { Durability = durability }));
        map["tea"] = 4;
        Assert.Equal(4, OpenAgain().Map("stock", PersistentMapTests.Kept<string, int>() with { Durability = durability })["tea"]);
    }

    [Fact]
    public void Type_of_the_same_size_is_another_type()
    {
        Create<string, int>();

        Assert.Throws<StoreException>(() => Store.Map("stock", PersistentMapTests.Kept<string, uint>()));
    }

    [Fact]
    public void Other_serializer_is_refused_and_another_version_of_it_too()
    {
        Store.Map("stock", PersistentMapTests.Kept<string, int>() with { ValueSerializer = new Zero("zero/1") });

        Store.Map("stock", PersistentMapTests.Kept<string, int>() with { ValueSerializer = new Zero("zero/1") });
        Assert.Throws<StoreException>(() => Store.Map("stock", PersistentMapTests.Kept<string, int>() with { ValueSerializer = new Zero("zero/2") }));
        Assert.Throws<StoreException>(() => Store.Map("stock", PersistentMapTests.Kept<string, int>()));
    }

    [Fact]
    public void Types_are_recorded_in_the_file()
    {
        Create<string, int>()["Dune"] = 1;
        Store.Dispose();

        using CairnStore again = OpenAgain();

        Assert.Throws<StoreException>(() => again.Map("stock", PersistentMapTests.Kept<string, long>()));
        Assert.Equal(1, again.Map("stock", PersistentMapTests.Kept<string, int>())["Dune"]);
    }

    [Fact]
    public void Map_of_its_own_file_is_closed_again_when_it_is_refused()
    {
        PersistentMap.Open(Options, PersistentMapTests.Kept<string, int>()).Dispose();

        Assert.Throws<StoreException>(() => PersistentMap.Open(Options, PersistentMapTests.Kept<string, long>()));

        using CairnStore store = OpenAgain();
        Assert.Equal(1, store.GetStatistics().Openings);
    }

    [Fact]
    public void Renamed_type_is_accepted_by_its_old_name()
    {
        Store.Map("stock", PersistentMapTests.Kept<string, int>() with { ValueTypeName = "Shop.Copies", KeyTypeName = "Shop.Title" });

        Store.Map("stock", PersistentMapTests.Kept<string, int>() with { ValueTypeName = "Shop.Copies", KeyTypeName = "Shop.Title" });
        Assert.Throws<StoreException>(() => Store.Map("stock", PersistentMapTests.Kept<string, int>() with { KeyTypeName = "Shop.Title" }));
        Assert.Throws<ArgumentException>(() => Store.Map("stock", PersistentMapTests.Kept<string, int>() with { KeyTypeName = "" }));
    }

    [Fact]
    public void Refused_opening_changes_no_option_of_the_map()
    {
        PersistentMap<string, int> map = Create<string, int>();

        Assert.Throws<StoreException>(() =>
            Store.Map("stock", PersistentMapTests.Kept<string, long>() with { DefaultExpiration = TimeSpan.FromSeconds(1) }));

        map["Dune"] = 1;
        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(1, map["Dune"]);
    }

    [Fact]
    public void Types_survive_the_clearing_of_a_map()
    {
        Create<string, int>().Clear();

        Assert.Throws<StoreException>(() => Store.Map("stock", PersistentMapTests.Kept<string, long>()));
    }

    [Theory]
    [InlineData("cairn.maps")]
    [InlineData("cairn.maps.durable")]
    public void Names_under_which_types_are_recorded_are_taken(string name)
    {
        Assert.Throws<ArgumentException>(() => Store.Map(name, PersistentMapTests.Kept<string, int>()));
    }

    private PersistentMap<TKey, TValue> Create<TKey, TValue>()
        where TKey : notnull
        where TValue : notnull =>
        Store.Map("stock", PersistentMapTests.Kept<TKey, TValue>());

    private sealed class Zero(string format) : IMapSerializer<int>
    {
        public string FormatId => format;

        public void Write(int value, IBufferWriter<byte> target) => target.Write("0"u8);

        public int Read(ReadOnlySpan<byte> source) => 0;
    }
}
