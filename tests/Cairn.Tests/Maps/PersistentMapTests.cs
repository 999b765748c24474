namespace Cairn.Tests.Maps;

/// <summary>The result of each operation of a map.</summary>
public class PersistentMapTests : StoreTest
{
    private static readonly MapOptions<string, int> Cached = new() { Region = StoreRegion.Evict };

    /// <summary>Gets the store with the maps. A derived class runs the tests over another kind of store.</summary>
    private protected virtual CairnStore MapStore => Store;

    private PersistentMap<string, int> Map => MapStore.Map("stock", Kept<string, int>());

    [Fact]
    public void Value_that_was_put_is_got_by_every_form_of_reading()
    {
        PersistentMap<string, int> map = Map;

        map.Set("Dune", 3);

        Assert.Equal(3, map.Get("Dune"));
        Assert.Equal(3, map["Dune"]);
        Assert.True(map.TryGet("Dune", out int value));
        Assert.Equal(3, value);
        Assert.True(map.Contains("Dune"));
    }

    [Fact]
    public void Key_without_a_value_is_a_miss_in_every_form_of_reading()
    {
        PersistentMap<string, int> map = Map;

        Assert.Equal(0, map.Get("Dune"));
        Assert.False(map.TryGet("Dune", out int value));
        Assert.Equal(0, value);
        Assert.False(map.Contains("Dune"));
        var missing = Assert.Throws<KeyNotFoundException>(() => map["Dune"]);
        Assert.Contains("'stock'", missing.Message, StringComparison.Ordinal);
        Assert.Contains("'Dune'", missing.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Put_replaces_the_value_and_leaves_one_entry()
    {
        PersistentMap<string, int> map = Map;

        map["Dune"] = 1;
        map["Dune"] = 2;

        Assert.Equal(2, map["Dune"]);
        Assert.Equal(1, map.Count);
    }

    [Fact]
    public void Invalidating_a_key_removes_its_value_and_reports_whether_there_was_one()
    {
        PersistentMap<string, int> map = Map;
        map["Dune"] = 1;

        Assert.True(map.Remove("Dune"));
        Assert.False(map.Remove("Dune"));

        Assert.False(map.Contains("Dune"));
        Assert.Equal(0, map.Count);
    }

    [Fact]
    public void Removed_value_is_returned_once()
    {
        PersistentMap<string, int> map = Map;
        map["Dune"] = 7;

        Assert.True(map.Remove("Dune", out int value));
        Assert.Equal(7, value);
        Assert.False(map.Remove("Dune", out value));
        Assert.Equal(0, value);
    }

    [Fact]
    public void TryAdd_stores_only_where_there_is_no_value()
    {
        PersistentMap<string, int> map = Map;

        Assert.True(map.TryAdd("Dune", 1));
        Assert.False(map.TryAdd("Dune", 2));

        Assert.Equal(1, map["Dune"]);
    }

    [Fact]
    public void GetOrAdd_makes_a_value_only_where_there_is_none()
    {
        PersistentMap<string, int> map = Map;
        int made = 0;

        Assert.Equal(4, map.GetOrAdd("Dune", key => key.Length + made++));
        Assert.Equal(4, map.GetOrAdd("Dune", key => key.Length + made++));
        Assert.Equal(4, map.GetOrAdd("Dune", 9));
        Assert.Equal(9, map.GetOrAdd("Emma", 9));
        Assert.Equal(10, map.GetOrAdd("Odyssey", static (key, more) => key.Length + more, 3));

        Assert.Equal(1, made);
        Assert.Equal(3, map.Count);
    }

    [Fact]
    public void GetOrAdd_returns_what_another_stored_while_the_value_was_made()
    {
        PersistentMap<string, int> map = Map;

        int value = map.GetOrAdd("Dune", _ =>
        {
            map["Dune"] = 1;
            return 2;
        });

        Assert.Equal(1, value);
        Assert.Equal(1, map["Dune"]);
    }

    [Fact]
    public void GetOrAdd_stores_nothing_if_making_the_value_fails()
    {
        PersistentMap<string, int> map = Map;

        Assert.Throws<FormatException>(() => map.GetOrAdd("Dune", _ => throw new FormatException()));

        Assert.False(map.Contains("Dune"));
    }

    [Fact]
    public void AddOrUpdate_adds_the_first_time_and_updates_after_that()
    {
        PersistentMap<string, int> map = Map;

        Assert.Equal(1, map.AddOrUpdate("Dune", 1, (_, copies) => copies + 1));
        Assert.Equal(2, map.AddOrUpdate("Dune", 1, (_, copies) => copies + 1));
        Assert.Equal(12, map.AddOrUpdate("Dune", static (_, _) => 0, static (_, copies, more) => copies + more, 10));

        Assert.Equal(12, map["Dune"]);
    }

    [Fact]
    public void AddOrUpdate_starts_over_when_the_value_was_changed_or_removed_meanwhile()
    {
        PersistentMap<string, int> map = Map;
        map["Dune"] = 1;
        int calls = 0;

        int stored = map.AddOrUpdate("Dune", 100, (_, copies) =>
        {
            switch (++calls)
            {
                case 1:
                    map["Dune"] = 50;
                    break;
                case 2:
                    map.Remove("Dune");
                    break;
                default:
                    break;
            }

            return copies + 1;
        });

        Assert.Equal(100, stored);
        Assert.Equal(2, calls);
        Assert.Equal(100, map["Dune"]);
    }

    [Fact]
    public async Task Updates_of_many_threads_are_all_counted()
    {
        PersistentMap<string, int> map = Map;

        await Task.WhenAll(Enumerable.Range(0, 4).Select(_ => Task.Run(() =>
        {
            for (int i = 0; i < 500; i++)
            {
                map.AddOrUpdate($"{i % 3}", 1, static (_, count) => count + 1);
            }
        })));

        Assert.Equal(2000, map.GetAllValues().Sum());
    }

    [Fact]
    public void Cleared_map_is_empty_and_can_be_used_again()
    {
        PersistentMap<string, int> map = Map;
        map["Dune"] = 1;
        map["Emma"] = 2;

        map.Clear();

        Assert.Equal(0, map.Count);
        Assert.Empty(map.GetAll());
        Assert.Empty(map);
        map["Dune"] = 3;
        Assert.Equal(3, map["Dune"]);
        Assert.Equal(1, map.Count);
    }

    [Fact]
    public void Maps_and_collections_of_one_store_are_apart()
    {
        PersistentMap<string, int> stock = Map;
        PersistentMap<string, int> orders = MapStore.Map("orders", Kept<string, int>());
        stock["Dune"] = 1;
        orders["Dune"] = 2;
        MapStore.DefaultCollection.Set("Dune", "title"u8);

        orders.Clear();

        Assert.Equal(1, stock["Dune"]);
        Assert.Equal("title", MapStore.DefaultCollection.GetString("Dune"));
        Assert.Equal(new Dictionary<string, int> { ["Dune"] = 1 }, stock.GetAll());
    }

    [Fact]
    public void Entry_with_an_expiration_of_its_own_is_gone_at_it()
    {
        PersistentMap<string, int> map = Map;
        map.Set("Dune", 1, TimeSpan.FromSeconds(60));
        map.Set("Emma", 2);

        Clock.Advance(TimeSpan.FromSeconds(59));
        Assert.True(map.Contains("Dune"));
        Assert.Equal(2, map.GetAll().Count);

        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.False(map.TryGet("Dune", out _));
        Assert.Equal(["Emma"], map.GetAllKeys());
        Assert.Equal(["Emma"], map.Select(entry => entry.Key));
    }

    [Fact]
    public void Entries_expire_as_the_map_says_unless_they_say_otherwise()
    {
        PersistentMap<int, int> map = MapStore.Map("numbers", Kept<int, int>() with { DefaultExpiration = TimeSpan.FromSeconds(60) });
        map.Set(1, 1);
        map.Set(1, 2);
        map[2] = 2;
        map.TryAdd(3, 3);
        map.AddOrUpdate(4, 4, static (_, value) => value);
        map.Set(5, 5, Expiration.None);

        Clock.Advance(TimeSpan.FromSeconds(60));

        Assert.Equal([5], map.GetAllKeys());
        Assert.Equal(0, map.Get(1));
    }

    [Fact]
    public void Number_that_is_put_again_without_an_expiration_has_none_any_more()
    {
        PersistentMap<int, int> map = MapStore.Map("numbers", Kept<int, int>());
        map.Set(1, 1, TimeSpan.FromSeconds(60));

        map.Set(1, 2);
        Clock.Advance(TimeSpan.FromSeconds(60));

        Assert.Equal(2, map[1]);
    }

    [Fact]
    public void Touched_entry_lives_on()
    {
        PersistentMap<string, int> map = Map;
        map.Set("Dune", 1, TimeSpan.FromSeconds(60));

        Assert.True(map.Touch("Dune", TimeSpan.FromSeconds(120)));
        Assert.False(map.Touch("Emma", TimeSpan.FromSeconds(120)));

        Clock.Advance(TimeSpan.FromSeconds(119));
        Assert.Equal(1, map["Dune"]);
        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.False(map.Contains("Dune"));
    }

    [Fact]
    public void Options_of_a_map_that_exists_stay_when_none_are_given()
    {
        PersistentMap<string, int> created = MapStore.Map("cached", Cached with { DefaultExpiration = TimeSpan.FromSeconds(60) });
        created["Dune"] = 1;

        PersistentMap<string, int> again = MapStore.Map<string, int>("cached");
        again["Dune"] = 2;
        Clock.Advance(TimeSpan.FromSeconds(60));

        Assert.False(created.Contains("Dune"));
    }

    [Fact]
    public void Region_of_a_map_cannot_change()
    {
        MapStore.Map("cached", Cached);

        var refused = Assert.Throws<StoreException>(() => MapStore.Map("cached", Kept<string, int>()));
        Assert.Contains("'cached'", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Full_map_throws_and_keeps_what_it_has()
    {
        PersistentMap<int, byte[]> map = MapStore.Map("blocks", Kept<int, byte[]>());
        int stored = 0;

        Assert.Throws<StoreFullException>(() =>
        {
            for (; stored < 10_000; stored++)
            {
                map[stored] = TestBytes.Of(4_000, seed: stored);
            }
        });

        Assert.InRange(stored, 1_000, 9_999);
        Assert.Equal(stored, map.Count);
        Assert.All(Enumerable.Range(0, stored), i => Assert.Equal(TestBytes.Of(4_000, seed: i), map[i]));
    }

    [Fact]
    public void Map_whose_budget_is_used_up_throws_and_continues_to_replace()
    {
        PersistentMap<int, int> map = MapStore.Map("numbers", Kept<int, int>() with { BudgetBytes = 4_000 });
        int stored = 0;

        Assert.Throws<StoreFullException>(() =>
        {
            for (; stored < 1_000; stored++)
            {
                map[stored] = stored;
            }
        });

        Assert.Equal(100, stored);
        for (int i = 0; i < stored; i++)
        {
            map[i] = i + 1;
        }

        Assert.Equal(Enumerable.Range(1, stored), map.GetAllValues().Order());
    }

    [Fact]
    public void Map_as_a_cache_evicts_instead_of_throwing()
    {
        PersistentMap<int, byte[]> map = MapStore.Map("blocks", new MapOptions<int, byte[]> { Region = StoreRegion.Evict });

        for (int i = 0; i < 5_000; i++)
        {
            map[i] = TestBytes.Of(4_000, seed: i);
        }

        Assert.InRange(map.Count, 500, 4_999);
        Assert.All(map.GetAll(), entry => Assert.Equal(TestBytes.Of(4_000, seed: entry.Key), entry.Value));
    }

    [Fact]
    public void Large_values_are_put_and_got_in_every_way()
    {
        PersistentMap<string, byte[]> map = MapStore.Map("files", Kept<string, byte[]>());
        byte[] large = TestBytes.Of(600_000);
        map["large"] = large;
        map["empty"] = [];

        Assert.Equal(large, map["large"]);
        Assert.Equal([], map["empty"]);
        Assert.Equal(large, map.GetAll()["large"]);
        Assert.Equal(large.Length, map.Sum(entry => entry.Value.Length));
        Assert.Throws<ArgumentOutOfRangeException>(() => map["larger"] = new byte[MapStore.MaxValueBytes + 1]);
    }

    [Fact]
    public void Changing_an_object_does_not_change_the_map()
    {
        PersistentMap<string, byte[]> map = MapStore.Map("files", Kept<string, byte[]>());
        byte[] put = [1, 2, 3];
        map["a"] = put;

        put[0] = 9;
        map["a"][1] = 9;

        Assert.Equal([1, 2, 3], map["a"]);
    }

    [Fact]
    public void Null_is_neither_a_key_nor_a_value()
    {
        PersistentMap<string, string> map = MapStore.Map("texts", Kept<string, string>());

        Assert.Throws<ArgumentNullException>(() => map[null!] = "");
        Assert.Throws<ArgumentNullException>(() => map[""] = null!);
        Assert.Throws<ArgumentNullException>(() => map.Get(null!));
        Assert.Empty(map.GetAll());
    }

    [Fact]
    public void Cleared_map_is_empty()
    {
        PersistentMap<string, int> map = Map;
        map.Set("Dune", 1);
        map.Set("Emma", 2);
        map.Remove("Emma");

        Assert.Equal(1, map.Get("Dune"));
        Assert.Equal(["Dune"], map.GetAllKeys());
        Assert.Equal([1], map.GetAllValues());
        map.Clear();
        Assert.Empty(map.GetAll());
    }

    internal static MapOptions<TKey, TValue> Kept<TKey, TValue>()
        where TKey : notnull
        where TValue : notnull =>
        new() { Durability = Durability.ProcessCrash };
}
