using Cairn.Caching.Tests.Levels;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>Removals of the entries that carry all of some tags.</summary>
public sealed class AllTagsTests
{
    private const int MostConditions = 32;

    public static TheoryData<string> All => CachesUnderTest.All;

    public static TheoryData<string> Sound => CachesUnderTest.Sound;

    public static TheoryData<string> Shared => CachesUnderTest.Shared;

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Entries_with_all_tags_are_removed_and_entries_with_some_stay(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        await SetAsync(cache, "both", "a", "b");
        await SetAsync(cache, "more", "c", "b", "a");
        await SetAsync(cache, "first", "a");
        await SetAsync(cache, "second", "b", "c");

        await cache.RemoveByTagAsync(["a", "b"], TagMatch.All);

        Assert.Equal(["made", "made", "set", "set"], await GetAsync(cache, "both", "more", "first", "second"));
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Entries_that_stay_are_still_in_the_first_level(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        await SetAsync(cache, "first", "a");
        await SetAsync(cache, "second", "b");

        await cache.RemoveByTagAsync(["a", "b"], TagMatch.All);

        Assert.True(cache.TryGet("first", out string? _));
        Assert.True(cache.TryGet("second", out string? _));
    }

    [Theory]
    [MemberData(nameof(Shared))]
    public async Task Removal_on_one_node_reaches_the_other_and_one_that_starts_later(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache here = caches.Add();
        CairnHybridCache there = caches.Add();
        await SetAsync(here, "both", "a", "b");
        await SetAsync(here, "first", "a");
        await SetAsync(here, "second", "b");
        Assert.Equal(["set", "set", "set"], await GetAsync(there, "both", "first", "second"));

        await here.RemoveByTagAsync(["a", "b"], TagMatch.All);
        CairnHybridCache cold = caches.Add();

        Assert.Equal(["set", "set"], await GetAsync(cold, "first", "second"));
        Assert.Equal(["made", "set", "set"], await GetAsync(there, "both", "first", "second"));
        Assert.Equal("made", (await GetAsync(here, "both"))[0]);
    }

    [Theory]
    [MemberData(nameof(All))]
    public async Task Removal_while_the_factory_runs_has_the_value_made_again(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var factory = new HeldFactory<string>();

        Task<string> first = cache.GetOrCreateAsync("key", token => factory.RunAsync(token), tags: ["a", "b"]).AsTask();
        await factory.StartedAsync();
        await cache.RemoveByTagAsync(["a", "b"], TagMatch.All);
        factory.Return("old");

        Assert.Equal("old", await first);
        Assert.Equal("new", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), tags: ["a", "b"]));
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Value_with_the_tags_is_kept_after_the_removal_and_removed_by_the_next(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        await SetAsync(cache, "stays", "a");
        for (int i = 0; i < 3 * MostConditions; i++)
        {
            await cache.RemoveByTagAsync(["b", "a"], TagMatch.All);
            Assert.Equal("made", (await GetAsync(cache, "key", "stays"))[0]);
            await SetAsync(cache, "key", "a", "b");
            Assert.Equal("set", (await GetAsync(cache, "key"))[0]);
        }

        Assert.Equal("set", (await GetAsync(cache, "stays"))[0]);
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task More_conditions_than_a_tag_keeps_remove_more_and_never_less(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        await SetAsync(cache, "old", "a");
        string[] keys = [.. Enumerable.Range(0, 3 * MostConditions).Select(i => $"key {i}")];
        foreach (string key in keys)
        {
            // The tag of its own has a condition already, so that the common tag gets the next one.
            await cache.RemoveByTagAsync([key, "other"], TagMatch.All);
            await cache.RemoveByTagAsync([key, "another"], TagMatch.All);
            await SetAsync(cache, key, "a", key);
        }

        foreach (string key in keys)
        {
            await cache.RemoveByTagAsync(["a", key], TagMatch.All);
        }

        Assert.All(await GetAsync(cache, keys), value => Assert.Equal("made", value));
        await SetAsync(cache, "new", "a");
        await cache.RemoveByTagAsync(["a", "unused"], TagMatch.All);
        Assert.Equal("set", (await GetAsync(cache, "new"))[0]);
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Removal_by_one_tag_and_by_all_tags_follow_each_other(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        await SetAsync(cache, "first", "a");
        await cache.RemoveByTagAsync(["a", "b"], TagMatch.All);
        await cache.RemoveByTagAsync("a");
        await SetAsync(cache, "later", "a");
        await cache.RemoveByTagAsync(["a", "b"], TagMatch.All);

        Assert.Equal(["made", "set"], await GetAsync(cache, "first", "later"));
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Tags_that_name_one_or_every_or_no_entry_mean_what_they_mean_alone(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        await SetAsync(cache, "key", "a");
        await SetAsync(cache, "other", "b");

        await cache.RemoveByTagAsync([], TagMatch.All);
        await cache.RemoveByTagAsync(["a", ""], TagMatch.All);
        Assert.Equal(["set", "set"], await GetAsync(cache, "key", "other"));
        await cache.RemoveByTagAsync(["a", "*", "a"], TagMatch.All);
        Assert.Equal(["made", "set"], await GetAsync(cache, "key", "other"));
        await cache.RemoveByTagAsync(["*"], TagMatch.All);
        Assert.Equal("made", (await GetAsync(cache, "other"))[0]);
    }

    [Fact]
    public async Task Any_of_the_tags_removes_as_the_call_without_a_match()
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.Store);
        CairnHybridCache cache = caches.Add();
        await SetAsync(cache, "first", "a");
        await SetAsync(cache, "second", "b");
        await SetAsync(cache, "third", "c");

        await cache.RemoveByTagAsync(["a", "b"], TagMatch.Any);

        Assert.Equal(["made", "made", "set"], await GetAsync(cache, "first", "second", "third"));
    }

    [Fact]
    public async Task Too_many_tags_and_a_match_that_is_not_defined_are_refused()
    {
        await using var cache = CairnHybridCache.Create();

        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(
            () => cache.RemoveByTagAsync(Enumerable.Range(0, 33).Select(i => $"{i}"), TagMatch.All).AsTask());
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => cache.RemoveByTagAsync(["a"], (TagMatch)2).AsTask());
    }

    [Fact]
    public async Task Cache_without_leases_that_machines_share_removes_all_entries_with_the_first_tag()
    {
        var clock = new ManualClock(hasTimers: true);
        var second = new FaultyDistributedCache();
        await using CairnHybridCache here = Create(second, clock);
        await using CairnHybridCache there = Create(new FaultyDistributedCache { Content = second.Content }, clock);
        await SetAsync(here, "both", "a", "b");
        await SetAsync(here, "first", "a");
        await SetAsync(here, "second", "b");
        Assert.Equal(["set", "set", "set"], await GetAsync(there, "both", "first", "second"));

        await here.RemoveByTagAsync(["a", "b"], TagMatch.All);
        clock.Advance(TimeSpan.FromSeconds(10)); // DistributedTagLifetime

        Assert.Equal(["made", "made", "set"], await GetAsync(there, "both", "first", "second"));
    }

    [Fact]
    public async Task Removals_by_two_machines_at_once_are_both_in_effect()
    {
        var server = new FakeServer { ReportsChanges = true };
        await using CairnHybridCache here = Create(server.Connect());
        await using CairnHybridCache there = Create(server.Connect());
        for (int i = 0; i < 20; i++)
        {
            await SetAsync(here, $"here {i}", "a", $"here {i}");
            await SetAsync(here, $"there {i}", "a", $"there {i}");
        }

        await SetAsync(here, "stays", "a");
        await Task.WhenAll(RemoveAsync(here, "here"), RemoveAsync(there, "there"));

        await using CairnHybridCache cold = Create(server.Connect());
        for (int i = 0; i < 20; i++)
        {
            Assert.Equal(["made", "made"], await GetAsync(cold, $"here {i}", $"there {i}"));
        }

        static Task RemoveAsync(CairnHybridCache cache, string name) => Task.Run(async () =>
        {
            for (int i = 0; i < 20; i++)
            {
                await cache.RemoveByTagAsync(["a", $"{name} {i}"], TagMatch.All);
            }
        });
    }

    [Fact]
    public async Task Removal_by_one_tag_between_the_read_and_the_write_of_another_machine_is_not_undone()
    {
        var server = new FakeServer { ReportsChanges = true };
        FakeMachine machine = server.Connect();
        await using CairnHybridCache here = Create(machine);
        await using CairnHybridCache there = Create(server.Connect());
        await SetAsync(here, "first", "a");
        await SetAsync(here, "second", "b");
        bool isRemoved = false;
        machine.BeforeSet = key =>
        {
            machine.BeforeSet = null;
#pragma warning disable VSTHRD002 // The write must wait until the removal is done. It has a thread of its own.
            there.RemoveByTagAsync(key[(key.LastIndexOf(':') + 1)..]).AsTask().GetAwaiter().GetResult();
#pragma warning restore VSTHRD002
            isRemoved = true;
        };

        await here.RemoveByTagAsync(["a", "b"], TagMatch.All);
        Assert.True(isRemoved);

        await using CairnHybridCache cold = Create(server.Connect());
        Assert.Equal("made", (await GetAsync(cold, "first"))[0]);
        Assert.Equal("made", (await GetAsync(here, "first"))[0]);
    }

    private static CairnHybridCache Create(IDistributedCache second, ManualClock? clock = null) => CairnHybridCache.Create(new CairnHybridCacheOptions
    {
        DistributedCache = second,
        TimeProvider = clock ?? TimeProvider.System,
    });

    private static ValueTask SetAsync(CairnHybridCache cache, string key, params string[] tags) => cache.SetAsync(key, "set", tags: tags);

    // A value that is missing is made, and not kept.
    private static async Task<string[]> GetAsync(CairnHybridCache cache, params string[] keys)
    {
        string[] values = new string[keys.Length];
        for (int i = 0; i < keys.Length; i++)
        {
            values[i] = (await cache.GetAsync<string>(keys[i])).Value ?? "made";
        }

        return values;
    }
}
