namespace Cairn.Tests.Maps;

/// <summary>Copying a whole map, and enumerating it while it changes.</summary>
public sealed class MapEnumerationTests : StoreTest
{
    private const int Entries = 5_000;

    [Fact]
    public void All_entries_are_copied_and_nothing_else()
    {
        PersistentMap<int, int> map = Fill();
        Store.Map("others", PersistentMapTests.Kept<int, int>())[-1] = -1;
        Cache.Set(BitConverter.GetBytes(-2), BitConverter.GetBytes(-2));

        IReadOnlyDictionary<int, int> all = map.GetAll();

        Assert.Equal(Entries, all.Count);
        Assert.Equal(Enumerable.Range(0, Entries), all.Keys.Order());
        Assert.All(all, entry => Assert.Equal(entry.Key * 2, entry.Value));
        Assert.Equal(84, all[42]);
        Assert.True(all.ContainsKey(42));
        Assert.False(all.TryGetValue(-1, out _));
        Assert.Throws<KeyNotFoundException>(() => all[-1]);
        Assert.Equal(Enumerable.Range(0, Entries), map.GetAllKeys().Order());
        Assert.Equal(Enumerable.Range(0, Entries).Select(i => i * 2), map.GetAllValues().Order());
        Assert.Equal(Enumerable.Range(0, Entries), map.Select(entry => entry.Key).Order());
    }

    [Fact]
    public void Copy_is_of_its_moment()
    {
        PersistentMap<int, int> map = Fill();
        IReadOnlyDictionary<int, int> all = map.GetAll();

        map.Clear();
        map[-1] = 1;

        Assert.Equal(Entries, all.Count);
        Assert.Equal(84, all[42]);
        Assert.False(all.ContainsKey(-1));
    }

    [Fact]
    public void Entries_that_are_there_throughout_are_met_once_whatever_else_changes()
    {
        PersistentMap<int, int> map = Fill();
        var met = new List<int>();

        foreach ((int key, int value) in map)
        {
            Assert.Equal(0, value % 2);
            met.Add(key);
            map[key] = value + 2;
            map[Entries + (key * 7 % Entries)] = 0;
            map.Remove(Entries + (key * 11 % Entries));
        }

        Assert.Equal(Enumerable.Range(0, Entries), met.Where(key => key < Entries).Order());
    }

    [Fact]
    public async Task Copies_made_while_others_write_have_each_key_once_and_no_torn_value()
    {
        PersistentMap<int, long> map = Store.Map("numbers", PersistentMapTests.Kept<int, long>());
        for (int i = 0; i < Entries; i++)
        {
            map[i] = i;
        }

        using var ending = new CancellationTokenSource();
        Task writer = Task.Run(() =>
        {
            for (int i = 0; !ending.IsCancellationRequested; i++)
            {
                int key = i * 31 % Entries;
                map[key] = key + ((long)i << 32);
                map.Remove(Entries + key);
                map[Entries + (i * 17 % Entries)] = Entries + (i * 17 % Entries);
            }
        });
        for (int pass = 0; pass < 20; pass++)
        {
            IReadOnlyDictionary<int, long> all = map.GetAll();
            Assert.Equal(all.Count, all.Keys.Distinct().Count());
            Assert.Equal(Entries, all.Keys.Count(key => key < Entries));
            Assert.All(all, entry => Assert.Equal(entry.Key, (int)entry.Value));
            IReadOnlyList<int> keys = map.GetAllKeys();
            Assert.Equal(keys.Count, keys.Distinct().Count());
        }

        await ending.CancelAsync();
        await writer;
    }

    [Fact]
    public void Numbers_with_and_without_expiration_are_copied_alike()
    {
        PersistentMap<int, int> map = Store.Map("numbers", PersistentMapTests.Kept<int, int>());
        for (int i = 0; i < 300; i++)
        {
            map.Set(i, i, i % 3 == 0 ? Expiration.None : i % 3 == 1 ? TimeSpan.FromMinutes(1) : Expiration.Sliding(TimeSpan.FromMinutes(2)));
        }

        Clock.Advance(TimeSpan.FromMinutes(1));

        Assert.Equal(Enumerable.Range(0, 300).Where(i => i % 3 != 1), map.GetAllKeys().Order());
    }

    [Fact]
    public void Enumerating_does_not_count_as_a_use()
    {
        PersistentMap<int, int> map = Store.Map("numbers", PersistentMapTests.Kept<int, int>());
        map.Set(1, 1, Expiration.Sliding(TimeSpan.FromMinutes(2)));
        Clock.Advance(TimeSpan.FromMinutes(1));

        Assert.Single(map);
        Assert.Single(map.GetAll());

        Clock.Advance(TimeSpan.FromMinutes(1));
        Assert.Empty(map);
    }

    [Fact]
    public void Text_and_objects_are_copied_too()
    {
        PersistentMap<string, string[]> map = Store.Map("tags", PersistentMapTests.Kept<string, string[]>());
        for (int i = 0; i < 500; i++)
        {
            map[$"book:{i}"] = [$"{i}", new string('x', i)];
        }

        Assert.Equal(500, map.GetAll().Count);
        Assert.All(map, entry => Assert.Equal($"book:{entry.Value[0]}", entry.Key));
        Assert.Equal(500, map.GetAllKeys().Distinct().Count());
        Assert.Equal(Enumerable.Range(0, 500), map.GetAllValues().Select(value => value[1].Length).Order());
    }

    private PersistentMap<int, int> Fill()
    {
        PersistentMap<int, int> map = Store.Map("numbers", PersistentMapTests.Kept<int, int>());
        for (int i = 0; i < Entries; i++)
        {
            map[i] = i * 2;
        }

        return map;
    }
}
