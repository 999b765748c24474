using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>The form in which the cache keeps values: copies, nulls, types, and sizes.</summary>
public sealed class ValueTests
{
    public static TheoryData<string> Sound => CachesUnderTest.Sound;

    public static TheoryData<string> Shared => CachesUnderTest.Shared;

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Caller_that_changes_a_value_does_not_change_the_cached_one(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var set = new Book { Title = "Dune" };

        await cache.SetAsync("set", set);
        Book made = await cache.GetOrCreateAsync("made", _ => new ValueTask<Book>(new Book { Title = "Dune" }));
        set.Title = "changed";
        made.Title = "changed";
        foreach (string key in new[] { "set", "made" })
        {
            (await cache.GetOrCreateAsync(key, _ => new ValueTask<Book>(new Book()))).Title = "changed";
            (await cache.GetAsync<Book>(key)).Value!.Title = "changed";

            Assert.Equal("Dune", (await cache.GetAsync<Book>(key)).Value!.Title);
        }
    }

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Callers_that_wait_together_have_a_copy_each(string level)
    {
        await using var caches = new CachesUnderTest(level);
        HybridCache cache = caches.AddHybrid();
        var factory = new HeldFactory<Book>();

        Task<Book>[] waiting = [.. Enumerable.Range(0, 3).Select(_ => cache.GetOrCreateAsync("key", token => factory.RunAsync(token)).AsTask())];
        await factory.StartedAsync();
        factory.Return(new Book { Title = "Dune" });
        Book[] books = await Task.WhenAll(waiting);

        Assert.All(books, book => Assert.Equal("Dune", book.Title));
        Assert.Equal(3, books.Distinct(ReferenceEqualityComparer.Instance).Count());
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Value_that_may_be_shared_is_the_same_object_for_all(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add(options => options.ShareLocalValues = true);
        var book = new Book { Title = "Dune" };

        await cache.SetAsync("key", book);

        Assert.Same(book, await cache.GetOrCreateAsync("key", _ => new ValueTask<Book>(new Book())));
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Null_is_cached_unless_the_options_say_otherwise(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var skip = new CairnEntryOptions { CacheNull = false };

        Assert.Null(await cache.GetOrCreateAsync("kept", _ => new ValueTask<string?>((string?)null)));
        Assert.Null(await cache.GetOrCreateAsync("kept", _ => new ValueTask<string?>("again")));
        Assert.True(cache.TryGet("kept", out string? _));
        Assert.Null(await cache.GetOrCreateAsync("skipped", _ => new ValueTask<string?>((string?)null), skip));
        Assert.Equal("again", await cache.GetOrCreateAsync("skipped", _ => new ValueTask<string?>("again"), skip));
        Assert.Null(await cache.GetOrCreateAsync("number", _ => new ValueTask<int?>((int?)null)));
        Assert.Null(await cache.GetOrCreateAsync("number", _ => new ValueTask<int?>(7)));
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Value_of_another_type_is_a_miss_and_is_replaced(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        await cache.SetAsync("text", "seven");
        await cache.SetAsync("null", (string?)null);
        await cache.SetAsync("object", new Book { Title = "Dune" });

        Assert.False(cache.TryGet("text", out int _));
        Assert.False((await cache.GetAsync<int>("text")).IsFound);
        Assert.False((await cache.GetManyAsync<int>(["text"])).Single().IsFound);
        Assert.Equal(7, await cache.GetOrCreateAsync("text", _ => new ValueTask<int>(7)));
        Assert.Equal(7, await cache.GetOrCreateAsync("text", _ => new ValueTask<int>(8)));
        Assert.Equal(7, await cache.GetOrCreateAsync("null", _ => new ValueTask<int>(7)));
        Assert.Equal("Leto", (await cache.GetOrCreateAsync("object", _ => new ValueTask<Author>(new Author { Name = "Leto" }))).Name);
        Assert.Equal("Leto", (await cache.GetOrCreateAsync("object", _ => new ValueTask<Author>(new Author()))).Name);
    }

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(Shared))]
    public async Task Value_of_another_type_is_replaced_for_all_nodes(string level)
    {
        await using var caches = new CachesUnderTest(level);
        HybridCache a = caches.AddHybrid();
        HybridCache b = caches.AddHybrid();
        await a.SetAsync("key", "seven");

        Assert.Equal(7, await b.GetOrCreateAsync("key", _ => new ValueTask<int>(7)));

        Assert.Equal(7, await a.GetOrCreateAsync("key", _ => new ValueTask<int>(8)));
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Value_without_a_serializer_is_handed_out_and_not_kept_unless_it_is_shared_in_one_process(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var shared = new CairnEntryOptions { ShareLocalValue = true };
        Action first = () => { };
        Action second = () => { };

        Assert.Same(first, await cache.GetOrCreateAsync("copied", _ => new ValueTask<Action>(first)));
        Assert.Same(second, await cache.GetOrCreateAsync("copied", _ => new ValueTask<Action>(second)));
        Assert.Equal(2, cache.GetStatistics().SerializationFaults);
        Assert.Same(first, await cache.GetOrCreateAsync("shared", _ => new ValueTask<Action>(first), shared));
        Assert.Same(first, await cache.GetOrCreateAsync("shared", _ => new ValueTask<Action>(second), shared));
        await Assert.ThrowsAnyAsync<Exception>(async () => await cache.SetAsync("set", first));
    }

    [Fact]
    public async Task Nothing_is_serialized_where_nothing_leaves_the_process_and_values_are_shared()
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.None);
        CairnHybridCache cache = caches.Add(options => options.ShareableTypes.Add(typeof(Action)));
        Action action = () => { };

        await cache.SetAsync("key", action);

        Assert.Same(action, await cache.GetOrCreateAsync("key", _ => new ValueTask<Action>(() => { })));
        Assert.Equal(0, cache.GetStatistics().SerializationFaults);
    }

    [Fact]
    public async Task Two_gigabytes_of_values_pass_through_a_first_level_of_64_megabytes()
    {
        const int Values = 2_048;
        const int Length = 1 << 20;
        await using var caches = new CachesUnderTest(CachesUnderTest.None);
        CairnHybridCache cache = caches.Add(options => options.ShareLocalValues = true);
        long most = 0;

        for (int i = 0; i < Values; i++)
        {
            byte[] value = await cache.GetOrCreateAsync($"key {i}", i, static (number, _) =>
            {
                byte[] made = GC.AllocateUninitializedArray<byte>(Length);
                made[0] = (byte)number;
                return new ValueTask<byte[]>(made);
            });
            Assert.Equal((byte)i, value[0]);
            most = Math.Max(most, cache.GetStatistics().LocalBytes);
        }

        CairnCacheStatistics statistics = cache.GetStatistics();
        Assert.InRange(most, 32L << 20, 64L << 20);
        Assert.Equal(Values, statistics.FactoryRuns);
        Assert.Equal(Values, statistics.LocalEntries + statistics.LocalEvictions);
        Assert.True(GC.GetTotalMemory(forceFullCollection: true) < 512L << 20);
    }

    [Theory]
    [InlineData(HybridCacheEntryFlags.DisableLocalCacheRead, true, true)]
    [InlineData(HybridCacheEntryFlags.DisableDistributedCacheRead, true, true)]
    [InlineData(HybridCacheEntryFlags.DisableLocalCacheWrite, false, true)]
    [InlineData(HybridCacheEntryFlags.DisableDistributedCacheWrite, true, false)]
    [InlineData(HybridCacheEntryFlags.DisableLocalCache, false, true)]
    [InlineData(HybridCacheEntryFlags.DisableDistributedCache, true, false)]
    [InlineData(HybridCacheEntryFlags.DisableUnderlyingData, false, false)]
    [InlineData(HybridCacheEntryFlags.DisableCompression, true, true)]
    public async Task Flag_says_what_a_call_writes(HybridCacheEntryFlags flags, bool isLocal, bool isShared)
    {
        foreach (string level in new[] { CachesUnderTest.Memory, CachesUnderTest.Store })
        {
            await using var caches = new CachesUnderTest(level);
            CairnHybridCache cache = caches.Add();
            CairnHybridCache other = caches.Add();

            string? value = await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("value"), new HybridCacheEntryOptions { Flags = flags });

            Assert.Equal(flags == HybridCacheEntryFlags.DisableUnderlyingData ? null : "value", value);
            Assert.Equal(isLocal, cache.TryGet("key", out string? _));
            Assert.Equal(isShared, (await other.GetAsync<string>("key")).IsFound);
        }
    }

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(Shared))]
    public async Task Flag_says_what_a_call_reads(string level)
    {
        await using var caches = new CachesUnderTest(level);
        HybridCache cache = caches.AddHybrid();
        HybridCache other = caches.AddHybrid();
        await cache.SetAsync("key", "shared");
        await cache.SetAsync("key", "local", new HybridCacheEntryOptions { Flags = HybridCacheEntryFlags.DisableDistributedCacheWrite });
        ValueTask<string> ReadAsync(HybridCache from, HybridCacheEntryFlags flags) =>
            from.GetOrCreateAsync("key", _ => new ValueTask<string>("made"), new HybridCacheEntryOptions { Flags = flags | HybridCacheEntryFlags.DisableLocalCacheWrite });

        Assert.Equal("local", await ReadAsync(cache, HybridCacheEntryFlags.None));
        Assert.Equal("shared", await ReadAsync(cache, HybridCacheEntryFlags.DisableLocalCacheRead));
        Assert.Equal("shared", await ReadAsync(other, HybridCacheEntryFlags.None));
        Assert.Equal("made", await ReadAsync(
            other, HybridCacheEntryFlags.DisableDistributedCacheRead | HybridCacheEntryFlags.DisableDistributedCacheWrite));
        Assert.Equal("made", await ReadAsync(cache, HybridCacheEntryFlags.DisableLocalCacheRead | HybridCacheEntryFlags.DisableDistributedCacheRead));
    }

    [Theory]
    [MemberData(nameof(Shared))]
    public async Task Call_that_reads_no_level_replaces_the_value_in_both(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        CairnHybridCache other = caches.Add();
        await cache.SetAsync("key", "old");

        await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), new HybridCacheEntryOptions
        {
            Flags = HybridCacheEntryFlags.DisableLocalCacheRead | HybridCacheEntryFlags.DisableDistributedCacheRead,
        });

        Assert.Equal("new", (await cache.GetAsync<string>("key")).Value);
        Assert.Equal("new", (await other.GetAsync<string>("key")).Value);
    }

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Set_that_leaves_out_the_first_level_leaves_no_older_value_there(string level)
    {
        await using var caches = new CachesUnderTest(level);
        HybridCache cache = caches.AddHybrid();
        await cache.SetAsync("key", "old");

        await cache.SetAsync("key", "new", new HybridCacheEntryOptions { Flags = HybridCacheEntryFlags.DisableLocalCacheWrite });

        Assert.Equal("new", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new")));
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Many_are_looked_for_in_order_with_repetitions_and_gaps(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        CairnHybridCache reader = level == CachesUnderTest.None ? cache : caches.Add();
        for (int i = 0; i < 100; i += 2)
        {
            await cache.SetAsync($"key {i}", i, tags: ["tag"]);
        }

        string[] keys = [.. Enumerable.Range(0, 100).Select(i => $"key {i}"), "key 2", "key 2", "", "bad\0key"];
        CacheResult<int>[] found = await reader.GetManyAsync<int>(keys);
        await cache.RemoveByTagAsync("tag");
        CacheResult<int>[] removed = await reader.GetManyAsync<int>(keys);

        Assert.Equal(keys.Length, found.Length);
        for (int i = 0; i < 100; i++)
        {
            Assert.Equal(i % 2 == 0 ? new CacheResult<int>(IsFound: true, i, IsStale: false) : default, found[i]);
        }

        Assert.Equal([2, 2, 0, 0], found[100..].Select(result => result.Value));
        Assert.DoesNotContain(removed, result => result.IsFound);
    }

    [Theory]
    [InlineData("")]
    [InlineData("surrogate")]
    [InlineData("a\nb")]
    [InlineData("long")]
    public async Task Key_that_cannot_be_cached_has_the_factory_run_each_time(string key)
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.Store);
        CairnHybridCache cache = caches.Add();
        key = key switch
        {
            "long" => new string('k', 1_025),
            "surrogate" => "\ud800",
            _ => key,
        };
        int runs = 0;

        await cache.SetAsync(key, "set");
        string first = await cache.GetOrCreateAsync(key, _ => new ValueTask<string>($"run {++runs}"));
        string second = await cache.GetOrCreateAsync(key, _ => new ValueTask<string>($"run {++runs}"));
        await cache.RemoveAsync(key);

        Assert.Equal(["run 1", "run 2"], new[] { first, second });
        Assert.False(cache.TryGet(key, out string? _));
        Assert.Equal("kept", await cache.GetOrCreateAsync(new string('k', 1_024), _ => new ValueTask<string>("kept")));
        Assert.True(cache.TryGet(new string('k', 1_024), out string? _));
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Clear_and_the_tag_that_means_everything_remove_everything(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        CairnHybridCache other = level == CachesUnderTest.None ? cache : caches.Add();
        foreach (Func<Task> clear in new Func<Task>[] { () => cache.ClearAsync().AsTask(), () => cache.RemoveByTagAsync("*").AsTask() })
        {
            await cache.SetAsync("tagged", "old", tags: ["tag"]);
            await cache.SetAsync("plain", "old");
            await other.GetAsync<string>("plain");
            var factory = new HeldFactory<string>();
            Task<string> running = other.GetOrCreateAsync("running", token => factory.RunAsync(token)).AsTask();
            await factory.StartedAsync();

            await clear();
            factory.Return("old");

            Assert.Equal("old", await running);
            foreach (string key in new[] { "tagged", "plain", "running" })
            {
                Assert.False((await other.GetAsync<string>(key)).IsFound, key);
                Assert.False((await cache.GetAsync<string>(key)).IsFound, key);
            }
        }

        await Assert.ThrowsAsync<ArgumentException>(async () => await cache.SetAsync("key", "value", tags: ["*"]));
    }

    [Fact]
    public async Task Value_set_in_one_process_without_a_second_level_wins_over_a_factory_that_began_while_it_was_being_set()
    {
        var serializer = new HeldSerializer();
        var services = new ServiceCollection();
        services.AddCairnHybridCache().AddSerializer(serializer);
        await using ServiceProvider provider = services.BuildServiceProvider();
        CairnHybridCache cache = provider.GetRequiredService<CairnHybridCache>();
        var factory = new HeldFactory<Book>();

        Task set = OwnThread.Run(() => cache.SetAsync("key", new Book { Title = "set" }).AsTask()).Unwrap();
        await serializer.HeldAsync();
        Task<Book> made = cache.GetOrCreateAsync("key", token => factory.RunAsync(token)).AsTask();
        await factory.StartedAsync();
        serializer.LetGo();
        await set;
        factory.Return(new Book { Title = "made" });

        Assert.Equal("made", (await made).Title);
        Assert.Equal("set", (await cache.GetAsync<Book>("key")).Value!.Title);
    }

    public sealed class Book
    {
        public string Title { get; set; } = "";
    }

    public sealed class Author
    {
        public string Name { get; set; } = "";
    }
}
