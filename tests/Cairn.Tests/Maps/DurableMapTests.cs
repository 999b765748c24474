namespace Cairn.Tests.Maps;

/// <summary>Maps whose writes wait for the disk, which is the default.</summary>
public sealed class DurableMapTests : StoreTest
{
    [Theory]
    [InlineData(Durability.Default)]
    [InlineData(Durability.GroupCommit)]
    [InlineData(Durability.EveryOperation)]
    public void Every_operation_does_what_it_does_without_the_log(Durability durability)
    {
        PersistentMap<int, int> map = Store.Map("numbers", new MapOptions<int, int> { Durability = durability });

        map[1] = 1;
        map[1] = 2;
        map.Set(2, 2, TimeSpan.FromMinutes(1));
        Assert.True(map.TryAdd(3, 3));
        Assert.Equal(4, map.AddOrUpdate(4, 4, static (_, value) => value));
        Assert.True(map.Remove(3));
        Assert.True(map.Remove(4, out int removed));
        Assert.Equal(4, removed);

        Assert.Equal([KeyValuePair.Create(1, 2), KeyValuePair.Create(2, 2)], map.GetAll().OrderBy(entry => entry.Key));
        Clock.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal([1], map.GetAllKeys());
        map.Clear();
        Assert.Empty(map);
    }

    [Theory]
    [InlineData(Durability.ProcessCrash)]
    [InlineData(Durability.GroupCommit)]
    public async Task Puts_and_removals_that_are_awaited_are_done(Durability durability)
    {
        PersistentMap<int, string> map = Store.Map("texts", new MapOptions<int, string> { Durability = durability });

        await Task.WhenAll(Enumerable.Range(0, 200).Select(i => map.SetAsync(i, $"{i}").AsTask()));
        Assert.True(await map.RemoveAsync(7));
        Assert.False(await map.RemoveAsync(7));

        Assert.Equal(199, map.Count);
        Assert.Equal("42", map[42]);
    }

    [Fact]
    public void Types_are_recorded_as_durably_as_the_map()
    {
        Store.Map<string, int>("stock")["Dune"] = 1;

        Assert.NotNull(Store.Collection("cairn.maps.durable").GetString("stock"));
        Assert.DoesNotContain("cairn.maps", Store.CollectionNames);
        Assert.Throws<StoreException>(() => Store.Map<string, long>("stock"));
    }
}
