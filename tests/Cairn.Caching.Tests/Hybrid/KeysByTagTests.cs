using Cairn.Caching.Tests.Levels;
using Cairn.Caching.Tests.Telemetry;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>The list of the keys that carry a tag.</summary>
public sealed class KeysByTagTests
{
    public static TheoryData<string> Sound => CachesUnderTest.Sound;

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Keys_with_the_tag_are_listed_once_each(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        for (int i = 0; i < 200; i++)
        {
            await cache.SetAsync($"with {i}", i, tags: ["tag", $"{i}"]);
            await cache.SetAsync($"without {i}", i, tags: ["other"]);
        }

        await cache.SetAsync("untagged", 0);

        Assert.Equal(Enumerable.Range(0, 200).Select(i => $"with {i}").Order(), (await ListAsync(cache, "tag")).Order());
        Assert.Equal(["with 7"], await ListAsync(cache, "7"));
        Assert.Empty(await ListAsync(cache, "never"));
        Assert.Equal(401, (await ListAsync(cache, "*")).Count);
    }

    // With time that grows with the square of the number, this takes minutes.
    [Fact]
    public async Task Entry_can_have_a_hundred_thousand_tags()
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.None);
        CairnHybridCache cache = caches.Add();
        string[] tags = [.. Enumerable.Range(0, 200_000).Select(i => $"{i % 100_000}")];

        await cache.SetAsync("many", 1, tags: tags).AsTask().WaitAsync(TimeSpan.FromMinutes(1));
        await cache.SetAsync("few", 1, tags: ["other"]);

        Assert.Equal(["many"], await ListAsync(cache, "99999"));
        await cache.RemoveByTagAsync("99999");
        Assert.Empty(await ListAsync(cache, "0"));
    }

    [Fact]
    public async Task Keys_that_only_the_store_has_are_listed()
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.Store);
        CairnHybridCache there = caches.Add();
        await there.SetAsync("text", "value", tags: ["tag"]);
        await there.SetAsync("number", 1, tags: ["tag", "other"]);
        await there.SetAsync("nothing", (string?)null, tags: ["tag"]);
        await there.SetAsync("without", "value", tags: ["other"]);
        CairnHybridCache here = caches.Add();

        Assert.Equal(["nothing", "number", "text"], (await ListAsync(here, "tag")).Order());
        Assert.Equal(0, here.GetStatistics().LocalEntries);
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Keys_that_expired_or_were_removed_are_not_listed(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        await cache.SetAsync("expired", 1, new CairnEntryOptions { Expiration = TimeSpan.FromSeconds(10) }, ["tag"]);
        await cache.SetAsync("stale", 1, new CairnEntryOptions { Expiration = TimeSpan.FromSeconds(10), FailSafe = TimeSpan.FromHours(1) }, ["tag"]);
        await cache.SetAsync("removed", 1, tags: ["tag"]);
        await cache.SetAsync("by tag", 1, tags: ["tag", "gone"]);
        await cache.SetAsync("by tags", 1, tags: ["tag", "x", "y"]);
        await cache.SetAsync("stays", 1, tags: ["tag", "x"]);
        await cache.RemoveAsync("removed");
        await cache.RemoveByTagAsync("gone");
        await cache.RemoveByTagAsync(["x", "y"], TagMatch.All);
        caches.Clock.Advance(TimeSpan.FromSeconds(11));

        Assert.Equal(["stays"], await ListAsync(cache, "tag"));
        await cache.ClearAsync();
        Assert.Empty(await ListAsync(cache, "*"));
    }

    [Fact]
    public async Task Cache_that_lists_no_keys_gives_those_of_the_first_level()
    {
        var second = new FaultyDistributedCache();
        await using var here = CairnHybridCache.Create(new CairnHybridCacheOptions { DistributedCache = second });
        await using var there = CairnHybridCache.Create(new CairnHybridCacheOptions { DistributedCache = new FaultyDistributedCache { Content = second.Content } });
        await here.SetAsync("here", 1, tags: ["tag"]);
        await there.SetAsync("there", 1, tags: ["tag"]);

        Assert.Equal(["here"], await ListAsync(here, "tag"));
    }

    [Fact]
    public async Task Second_level_that_fails_ends_the_list_and_is_logged()
    {
        using var loggers = new RecordingLoggers();
        await using var cache = CairnHybridCache.Create(new CairnHybridCacheOptions { DistributedCache = new ThrowingKeys() }, loggers);
        await cache.SetAsync("key", 1, tags: ["tag"]);

        Assert.Equal(["key"], await ListAsync(cache, "tag"));
        Assert.Contains(loggers.Lines, line => line.Contains("could not be listed", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Empty_tag_and_a_closed_cache_are_refused_and_cancellation_ends_the_list()
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.Store);
        CairnHybridCache there = caches.Add();
        await there.SetAsync("key", 1, tags: ["tag"]);
        CairnHybridCache cache = caches.Add();
        Assert.Throws<ArgumentException>(() => cache.KeysByTagAsync(" "));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => ListAsync(cache, "tag", new CancellationToken(canceled: true)));

        await cache.DisposeAsync();

        await Assert.ThrowsAsync<ObjectDisposedException>(() => ListAsync(cache, "tag"));
    }

    private static async Task<List<string>> ListAsync(CairnHybridCache cache, string tag, CancellationToken cancellationToken = default)
    {
        var keys = new List<string>();
        await foreach (string key in cache.KeysByTagAsync(tag, cancellationToken))
        {
            keys.Add(key);
        }

        return keys;
    }

    private sealed class ThrowingKeys : FaultyDistributedCache, ICacheKeys
    {
        public async IAsyncEnumerable<string> ListKeysAsync([System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken)
        {
            await Task.Yield();
            foreach (string key in Content.Keys)
            {
                yield return key;
            }

            throw new IOException("The server is not reached.");
        }

        public IDisposable SubscribeToKeys(Action<string?> changed) => throw new NotSupportedException();
    }
}
