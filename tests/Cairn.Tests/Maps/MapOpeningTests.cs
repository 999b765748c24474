namespace Cairn.Tests.Maps;

/// <summary>Maps that are only created, only opened, or only in memory, and factories that run once.</summary>
public sealed class MapOpeningTests : StoreTest
{
    [Fact]
    public void Map_is_what_it_was_when_its_store_is_opened_again()
    {
        Store.Map("stock", PersistentMapTests.Kept<string, int>())["Dune"] = 3;
        Store.Dispose();

        PersistentMap<string, int> again = OpenAgain().Map("stock", PersistentMapTests.Kept<string, int>());

        Assert.Equal(3, again["Dune"]);
        Assert.Equal(1, again.Count);
    }

    [Fact]
    public void Map_of_its_own_file_is_opened_in_one_line()
    {
        using (var map = PersistentMap.Open<string, int>(Options, PersistentMapTests.Kept<string, int>()))
        {
            map["Dune"] = 3;
        }

        using var again = PersistentMap.Open<string, int>(FilePath, PersistentMapTests.Kept<string, int>());
        Assert.Equal(3, again["Dune"]);
        Assert.Equal(FilePath, again.Store.Path);
    }

    [Fact]
    public void Disposing_of_a_map_closes_its_own_store_and_no_other()
    {
        PersistentMap<string, int> inStore = Store.Map("stock", PersistentMapTests.Kept<string, int>());
        var owner = PersistentMap.Open(Options with { Path = PathOf("own.cairn") }, PersistentMapTests.Kept<string, int>());

        inStore.Dispose();
        owner.Dispose();

        inStore["Dune"] = 1;
        Assert.Equal(1, inStore["Dune"]);
        Assert.Throws<ObjectDisposedException>(() => owner["Dune"] = 1);
        Assert.Throws<ObjectDisposedException>(() => owner.Get("Dune"));
        Assert.Throws<ObjectDisposedException>(() => owner.Count);
        Assert.Throws<ObjectDisposedException>(owner.GetAll);
        Assert.Throws<ObjectDisposedException>(() => owner.GetEnumerator());
    }

    [Fact]
    public void Expiration_that_another_opening_gave_to_a_map_applies_to_earlier_openings()
    {
        PersistentMap<int, int> map = Store.Map("numbers", PersistentMapTests.Kept<int, int>());
        map[1] = 1;

        OpenAgain().Map("numbers", PersistentMapTests.Kept<int, int>() with { DefaultExpiration = TimeSpan.FromSeconds(60) });
        map[1] = 2;
        Clock.Advance(TimeSpan.FromSeconds(60));

        Assert.False(map.Contains(1));
    }

    [Fact]
    public void Map_that_must_be_new_is_refused_if_it_exists()
    {
        var options = new MapOptions<string, int> { OpenMode = StoreOpenMode.CreateNew };
        Store.Map("stock", options)["Dune"] = 1;

        var refused = Assert.Throws<StoreException>(() => Store.Map("stock", options));

        Assert.Contains("'stock' exists", refused.Message, StringComparison.Ordinal);
        Assert.Equal(1, Store.Map<string, int>("stock")["Dune"]);
    }

    [Fact]
    public void Map_that_must_exist_is_refused_and_not_created_if_it_does_not()
    {
        var refused = Assert.Throws<StoreException>(
            () => Store.Map("stock", new MapOptions<string, int> { OpenMode = StoreOpenMode.OpenExisting }));

        Assert.Contains("has no map 'stock'", refused.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("stock", Store.CollectionNames);
    }

    [Fact]
    public void File_of_a_map_follows_the_same_modes()
    {
        string path = PathOf("map.cairn");
        Assert.Throws<FileNotFoundException>(
            () => PersistentMap.Open(path, new MapOptions<string, int> { OpenMode = StoreOpenMode.OpenExisting }));
        PersistentMap.Open(path, new MapOptions<string, int> { OpenMode = StoreOpenMode.CreateNew }).Dispose();

        Assert.Throws<StoreException>(() => PersistentMap.Open(path, new MapOptions<string, int> { OpenMode = StoreOpenMode.CreateNew }));
        PersistentMap.Open(path, new MapOptions<string, int> { OpenMode = StoreOpenMode.OpenExisting }).Dispose();
    }

    [Fact]
    public void Map_in_memory_leaves_no_file_and_expires_by_the_given_clock()
    {
        PersistentMap<string, int> map = PersistentMap.OpenInMemory<string, int>(timeProvider: Clock);
        string path = map.Store.Path;
        map.Set("Dune", 1, Expiration.After(TimeSpan.FromSeconds(10)));

        Assert.Equal(1, map["Dune"]);
        Clock.Advance(TimeSpan.FromSeconds(10));
        Assert.False(map.Contains("Dune"));
        Assert.False(File.Exists(path));
        map.Dispose();
        Assert.Empty(Directory.GetFiles(Path.GetDirectoryName(path)!, Path.GetFileName(path) + "*"));
    }

    [Fact]
    public async Task Factory_of_GetOrAdd_runs_once_for_all_that_wait_in_all_openings()
    {
        using CairnStore second = OpenAgain();
        PersistentMap<string, int>[] maps = [Store.Map<string, int>("stock"), second.Map<string, int>("stock")];
        using var begun = new ManualResetEventSlim();
        using var mayEnd = new ManualResetEventSlim();
        int runs = 0;

        Task<int>[] callers = [.. Enumerable.Range(0, 6).Select(i => OwnThread.Run(() => maps[i % 2].GetOrAdd("Dune", _ =>
        {
            begun.Set();
            mayEnd.Wait();
            return Interlocked.Increment(ref runs);
        })))];
        begun.Wait();
        mayEnd.Set();

        Assert.All(await Task.WhenAll(callers), value => Assert.Equal(1, value));
        Assert.Equal(1, runs);
    }

    [Fact]
    public void Factory_that_needs_its_own_key_does_not_wait_for_itself()
    {
        PersistentMap<string, int> map = Store.Map<string, int>("stock");

        Assert.Equal(1, map.GetOrAdd("Dune", key => map.GetOrAdd(key, _ => 1) + 1));
    }

    [Fact]
    public void Failed_factory_leaves_the_next_caller_to_run()
    {
        PersistentMap<string, int> map = Store.Map<string, int>("stock");
        Assert.Throws<FormatException>(() => map.GetOrAdd("Dune", _ => throw new FormatException()));

        Assert.Equal(2, map.GetOrAdd("Dune", _ => 2));
    }
}
